/** HTML that this program wrote: its texts are escaped. */
export class Markup {
  readonly html: string

  constructor(html: string) {
    this.html = html
  }
}

export type Content = Markup | string | number | undefined | readonly Content[]

/** HTML with values in it. A text is escaped; only markup that was made in the same way is taken as it is. */
export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Markup {
  return new Markup(strings.map((string, index) => string + render(values[index])).join(''))
}

function render(content: Content): string {
  if (content === undefined) return ''
  if (content instanceof Markup) return content.html
  if (typeof content === 'object') return content.map(render).join('')
  return escapeHtml(String(content))
}

/** A text as content or as the value of a quoted attribute. Characters that no reader could see are made visible. */
function escapeHtml(text: string): string {
  return text
    .replaceAll(INVISIBLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** Control characters but for line breaks and tabs, characters that turn the direction of a text, and lone surrogates. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not pass
const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]/gu
