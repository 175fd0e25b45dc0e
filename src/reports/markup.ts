/** HTML from this program, with escaped texts. */
export class Markup {
  readonly html: string

  constructor(html: string) {
    this.html = html
  }
}

export type MarkupContent = Markup | string | number | undefined | readonly MarkupContent[]

/** A tag for template literals that makes HTML. Texts are escaped; only values of `Markup` are inserted unchanged. */
export function html(strings: TemplateStringsArray, ...values: readonly MarkupContent[]): Markup {
  return new Markup(strings.map((string, index) => string + render(values[index])).join(''))
}

function render(content: MarkupContent): string {
  if (content === undefined) return ''
  if (content instanceof Markup) return content.html
  if (typeof content === 'object') return content.map(render).join('')
  return escapeHtml(String(content))
}

/** Escapes a text for an element or a quoted attribute. Invisible characters are made visible. */
function escapeHtml(text: string): string {
  return text
    .replaceAll(INVISIBLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** Control characters except line breaks and tabs, characters that change the text direction, and lone surrogates. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not pass
const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]/gu
