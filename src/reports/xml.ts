/**
 * An XML element; children are markup that this module wrote. The few elements that a report needs are not worth the
 * 4.7 MB of a library, and the characters that XML forbids would still have to be looked after.
 */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | number | undefined>>,
  ...children: readonly string[]
): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${escapeXml(String(value))}"`)
    .join('')
  const content = children.filter((child) => child !== '').join('')
  return content === '' ? `<${name}${written}/>` : `<${name}${written}>${content}</${name}>`
}

/**
 * A text as content or as the value of an attribute. Characters that XML 1.0 forbids even as references, such as most
 * control characters, appear as `\u0007`.
 */
export function escapeXml(text: string): string {
  return text.replaceAll(SPECIAL, (character) => {
    const entity = ENTITIES.get(character)
    return entity ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** Line breaks and tabs too, because a reader turns those in an attribute into spaces, and a CR into an LF anywhere. */
const ENTITIES = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&apos;'],
  ['\n', '&#10;'],
  ['\r', '&#13;'],
  ['\t', '&#9;'],
])

/** With `u`, a surrogate matches only where it stands alone. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not pass
const SPECIAL = /[&<>"'\u0000-\u001f\ud800-\udfff\ufffe\uffff]/gu
