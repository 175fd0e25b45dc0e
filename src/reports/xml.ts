/**
 * An XML element. Its children are markup from this module. A library would add 4.7 MB for a few elements. This module
 * would still have to handle the characters that XML forbids.
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
 * Escapes a text for an element or an attribute. XML 1.0 forbids some characters even as references, such as most
 * control characters. They are written like `\u0007`.
 */
export function escapeXml(text: string): string {
  return text.replaceAll(SPECIAL, (character) => {
    const entity = ENTITIES.get(character)
    return entity ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** Includes line breaks and tabs: a reader turns them into spaces in attributes, and a CR into an LF everywhere. */
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

/** With the flag `u`, a surrogate matches only if it is alone. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not pass
const SPECIAL = /[&<>"'\u0000-\u001f\ud800-\udfff\ufffe\uffff]/gu
