/**
 * The beginning of all keys of a prefix, to which functions add the rest. The part in braces is what a cluster would
 * choose a node by.
 */
export function baseOf(prefix: string): string {
  return `${prefix}:{`
}

/** A key of the data about all accounts. */
export function commonKey(prefix: string, name: string): string {
  return `${baseOf(prefix)}all}:${name}`
}

/** A key of one account. */
export function accountKey(prefix: string, incarnation: string, name: string): string {
  return `${baseOf(prefix)}${incarnation}}:${name}`
}

/** An id as text. An id may contain lone surrogates, which UTF-8 cannot distinguish. */
export function encodeId(id: string): string {
  return JSON.stringify(id).slice(1, -1)
}

export function decodeId(text: string): string {
  return JSON.parse(`"${text}"`) as string
}
