/** What a request prefers to be answered with, and after how many milliseconds. */
export interface Preference {
  /** A status or an error code. */
  code?: string
  delay?: number
}

/** In milliseconds. */
const LONGEST_DELAY = 600_000

/**
 * The preferences `code` and `delay` of a Prefer header (RFC 7240 §2). Others, and those with a value that cannot be,
 * are ignored, as the RFC demands.
 */
export function readPreference(header: string): Preference {
  const preference: Preference = {}
  for (const part of header.split(/[,;]/)) {
    const [, name, value = ''] = /^\s*([\w-]+)\s*=\s*"?([\w-]*)"?\s*$/.exec(part) ?? []
    // Of several with the same name, the first counts.
    if (name?.toLowerCase() === 'code') preference.code ??= value.toLowerCase()
    if (name?.toLowerCase() === 'delay' && /^\d{1,6}$/.test(value)) {
      const delay = Number(value)
      if (delay <= LONGEST_DELAY) preference.delay ??= delay
    }
  }
  return preference
}
