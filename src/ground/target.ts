/** The parts of a request target (RFC 9112 §3.2). Scheme and authority of the absolute form are left out. */
export interface RequestTarget {
  path: string
  /** The first value of each parameter. */
  query: Record<string, string>
}

/** The parameters of a query in their order, decoded. A name can occur several times. */
export type Parameters = readonly (readonly [name: string, value: string])[]

/** Parameter values by name. */
export type Query = Readonly<Record<string, string>>

export function readTarget(target: string): RequestTarget {
  const { path, query } = splitTarget(target)
  return { path, query: readQuery(query) }
}

/** The path and the query as they were sent. The query is `undefined` if there is no question mark. */
export function splitTarget(target: string): { path: string; query: string | undefined } {
  const local = target.startsWith('/') ? target : target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '')
  const mark = local.indexOf('?')
  return mark < 0 ? { path: local, query: undefined } : { path: local.slice(0, mark), query: local.slice(mark + 1) }
}

/** The query of a target as it was sent, without its question mark; empty if there is none. */
export function queryOf(target: string): string {
  const mark = target.indexOf('?')
  return mark < 0 ? '' : target.slice(mark + 1)
}

/** The first value of each parameter of a query, as `splitTarget` returns it. */
export function readQuery(text: string | undefined): Record<string, string> {
  return text === undefined ? {} : firstValues(readParameters(text))
}

/** The first value of each parameter. The object has no prototype, so a parameter can have any name. */
export function firstValues(parameters: Parameters): Record<string, string> {
  const query: Record<string, string> = Object.create(null)
  for (const [name, value] of parameters) query[name] ??= value
  return query
}

/** A query of one plain parameter, as most are. The URL parser would take ten times as long for it. */
const PLAIN = /^[\w-]+=[\w.-]+$/

export function readParameters(query: string): Parameters {
  if (!PLAIN.test(query)) return [...new URLSearchParams(query)]
  const equals = query.indexOf('=')
  return [[query.slice(0, equals), query.slice(equals + 1)]]
}

/** A percent-encoded part of a target as plain text; `undefined` if it is malformed. */
export function decodePart(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

/** The parameters as the end of a target: with the question mark, or empty if there are none. */
export function writeQuery(parameters: Parameters): string {
  const query = new URLSearchParams(parameters.map(([name, value]): [string, string] => [name, value])).toString()
  return query === '' ? '' : `?${query}`
}
