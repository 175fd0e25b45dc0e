import type { DomainGroup } from '../domain/account.ts'
import { shorten } from '../ground/show.ts'

/** A request of a probe, below the base URL of the service. */
export interface ProbeRequest {
  method: string
  /** Below the base path, with the query. */
  path: string
  /** By lower-case name. */
  headers?: Readonly<Record<string, string>>
  /** Strings are sent as they are, anything else as JSON. */
  body?: unknown
  /** The body is padded with spaces to this many bytes. */
  padTo?: number
  /** The key of the request; the user's by default. `longer` has more behind it, `bare` has no scheme. */
  key?: 'none' | 'wrong' | 'longer' | 'bare'
  /** Replaces `Bearer`. */
  scheme?: string
}

/** The items that the requests of a probe can use. They belong to the run; no other client uses them. */
export interface ProbeScene {
  /** A text that all names of the run contain, and no other name. As an id, no group has it. */
  mark: string
  /** The next monitored domain that is in no group. */
  own(): string
  /** The next group, with at least so many members. */
  group(members?: number): DomainGroup
  /** A domain that is not monitored, a new one with each call. */
  fresh(): string
  /** A name that no group has, a new one with each call. */
  name(): string
  /** The id of a group that the account has, also of others, to be read only; the mark if there is none. */
  readableId: string
}

/** Requests that together answer one question about a service. What they take from the scene is set up before. */
export interface Probe {
  id: string
  send(scene: ProbeScene): ProbeRequest | readonly ProbeRequest[]
  /** The account must have none of these but the run's: a faulty service might apply the request to all of them. */
  alone?: 'groups' | 'domains'
  /**
   * What the specification says of the last request, if it says something: whatever a service chooses where the
   * specification is silent, it must do this. The requests before it are accepted in any case.
   */
  expect?: 'accepted' | 'refused'
  /** The ids of the rules of which this is a side. A rule is kept if all its probes were answered as expected. */
  rule?: readonly string[]
  /** The ids of the assumptions about which the answers say something. */
  decides?: readonly string[]
  /** Whether its request is repeated until it is refused for the quota. */
  exhausts?: true
}

/** Methods that change nothing (RFC 9110 §9.2.1) and that can be sent to any host. */
export function isRead({ method }: Pick<ProbeRequest, 'method'>): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** The Authorization field of the request; `undefined` if it has none. */
export function authorizationOf({ key, scheme = 'Bearer' }: ProbeRequest, apiKey: string): string | undefined {
  if (key === 'none') return undefined
  if (key === 'bare') return apiKey
  const secret = key === 'wrong' ? 'verify-no-such-key' : key === 'longer' ? `${apiKey}-longer` : apiKey
  return `${scheme} ${secret}`
}

/** The other header fields by lower-case name, except for those about the target and the length. */
export function headersOf({ headers, body }: ProbeRequest): Record<string, string> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  return { accept: 'application/json', ...type, ...headers }
}

/** The bytes of the body as they are sent; `undefined` if there is none. */
export function bytesOfBody({ body, padTo = 0 }: Pick<ProbeRequest, 'body' | 'padTo'>): Buffer | undefined {
  if (body === undefined) return undefined
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  return Buffer.concat([bytes, Buffer.alloc(Math.max(0, padTo - bytes.length), ' ')])
}

/** Whether the request has the user's key, perhaps with more behind it, so that it may use up a quota. */
export function hasKey({ key }: Pick<ProbeRequest, 'key'>): boolean {
  return key !== 'none' && key !== 'wrong'
}

/** The path whose quota a request may use: the first segment of its path. */
export function quotaPathOf({ path }: Pick<ProbeRequest, 'path'>): string {
  return /^\/[^/?]*/.exec(path)?.[0].toLowerCase() ?? path
}

/** The request in words for the user, such as `GET /domains; key "none"`. */
export function describeRequest({ method, path, ...more }: ProbeRequest): string {
  const shown = Object.entries(more).map(([name, value]) => `${name} ${shorten(JSON.stringify(value), 120)}`)
  return [`${method} ${path}`, ...shown].join('; ')
}

/** How many requests there are of each path. What has no valid key uses up no quota. */
export function countByPath(requests: readonly ProbeRequest[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const path of requests.filter(hasKey).map(quotaPathOf)) counts.set(path, (counts.get(path) ?? 0) + 1)
  return counts
}
