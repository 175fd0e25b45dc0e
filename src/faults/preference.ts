/** What a request prefers to be answered with, and after how many milliseconds. */
export interface Preference {
  /** A status or an error code. */
  code?: string
  delay?: number
}

/** In milliseconds. */
const LONGEST_DELAY = 600_000

/** One preference or parameter: a token and perhaps a value, which is a token or a quoted text (RFC 7240 §2). */
const PART = /\s*([\w!#$%&'*+.^`|~-]+)\s*(?:=\s*("(?:[^"\\]|\\.)*"|[^\s,;"]*))?\s*(?:[,;]|$)/y
/** What is none of the kind, up to the next that may be. */
const OTHER = /[^,;]*(?:[,;]|$)/y

/**
 * The preferences `code` and `delay` of a Prefer header (RFC 7240 §2). Others, and those with a value that cannot be,
 * are ignored, as the RFC demands. Those that stand behind a semicolon count as well.
 */
export function readPreference(header: string): Preference {
  const given = new Map<string, string>()
  for (let at = 0; at < header.length; ) {
    PART.lastIndex = at
    OTHER.lastIndex = at
    const part = PART.exec(header)
    const [, name, value = ''] = part ?? []
    // RFC 7240 §2: of several with the same name, the first counts.
    if (name !== undefined && !given.has(name.toLowerCase())) given.set(name.toLowerCase(), unquoted(value))
    if (part === null) OTHER.exec(header)
    at = part === null ? OTHER.lastIndex : PART.lastIndex
  }
  const code = given.get('code')
  const delay = given.get('delay') ?? ''
  const lawful = /^\d{1,6}$/.test(delay) && Number(delay) <= LONGEST_DELAY
  return { ...(code && { code: code.toLowerCase() }), ...(lawful && { delay: Number(delay) }) }
}

function unquoted(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(.)/g, '$1') : value
}
