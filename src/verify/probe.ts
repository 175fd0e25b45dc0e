import type { DomainGroup } from '../domain/account.ts'
import type { SeenResponse } from '../exchanges/exchange.ts'
import { shorten } from '../ground/show.ts'

/** A request of a probe, below the base URL of the service. */
export interface ProbeRequest {
  method: string
  /** Below the base path, with the query. */
  path: string
  headers?: Readonly<Record<string, string>>
  /** Strings and bytes are sent as they are, anything else as JSON. */
  body?: unknown
  /** The body is padded with spaces to this many bytes. */
  padTo?: number
  /** The key of the request; the user's by default. `longer` has more behind it, `bare` has no scheme. */
  key?: 'none' | 'wrong' | 'longer' | 'bare'
  /** Replaces `Bearer`. */
  scheme?: string
}

/** What came of a request. */
export interface ProbeAnswer {
  /** Empty, with the status 0, if the answer was lost: nobody knows whether the service did what was asked. */
  response: SeenResponse
  /** The code of a refusal in the envelope of the service. */
  code: string | undefined
  /** The `data` of a success in the envelope of the service. */
  data: unknown
  isLost: boolean
}

/** Whether the quota is used up, as the service or a gateway before it says. */
export function isOverQuota({ code, response }: Pick<ProbeAnswer, 'code' | 'response'>): boolean {
  return code === 'rate_limited' || response.status === 429
}

/** The items that the requests of one probe can use. They belong to the run; no other client uses them. */
export interface ProbeScene {
  /** A text that all names of the run contain, and no other name. */
  mark: string
  /** Monitored domains of the run that are in no group, as many as the probe needs. */
  domains: readonly string[]
  /** Groups of the run, with as many members as the probe needs. */
  groups: readonly DomainGroup[]
  /** Returns a domain that is not monitored, a new one with each call. */
  freshDomain(): string
  /** Returns a name that no group has, a new one with each call. */
  freshName(): string
  /** An id that no group has. */
  unknownId: string
  /** The id of a group that the account has, also of others, to be read only; `unknownId` if there is none. */
  readableId: string
}

/** Requests that together answer one question about a service. */
export interface Probe {
  id: string
  /** How many monitored domains in no group it needs. */
  domains?: number
  /** The least number of members of each group that it needs. */
  groups?: readonly number[]
  /**
   * The account must have none of these but the run's own: a faulty service that accepts the request might change all
   * of them.
   */
  endangers?: 'groups' | 'domains'
  /** Whether it uses up a quota and then sends one more request. */
  exhausts?: boolean
  requests(scene: ProbeScene): readonly ProbeRequest[]
}

/** What must have come of the last request of a probe; `accepted`, of each. */
export type RuleSide = 'accepted' | 'refused' | 'answered'

/**
 * How many domains a request may add by the specification. Under an overlay with another limit, the same requests are
 * sent.
 */
export const MOST_DOMAINS = 50

/** The ways to have no valid key, and how they are called in the ids of probes. */
export const KEYLESS = [
  { key: 'none', how: 'without-key' },
  { key: 'wrong', how: 'with-wrong-key' },
] as const

const WRONG_KEY = 'verify-no-such-key'

/** The header fields of the request, except for those about the target and the length. */
export function headersOf(
  { headers = {}, body, key, scheme = 'Bearer' }: ProbeRequest,
  apiKey: string,
): Record<string, string> {
  const isTyped = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
  return {
    Accept: 'application/json',
    ...(key !== 'none' && {
      Authorization: key === 'bare' ? apiKey : `${scheme} ${keyOf(key, apiKey)}`,
    }),
    ...(body !== undefined && !isTyped && { 'Content-Type': 'application/json' }),
    ...headers,
  }
}

function keyOf(key: 'wrong' | 'longer' | undefined, apiKey: string): string {
  if (key === undefined) return apiKey
  return key === 'wrong' ? WRONG_KEY : `${apiKey}-longer`
}

/** Methods that change nothing (RFC 9110 §9.2.1) and that can be sent to any host. */
export function isRead({ method }: Pick<ProbeRequest, 'method'>): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** The bytes of the body as they are sent; `undefined` if there is none. */
export function bytesOfBody({ body, padTo }: Pick<ProbeRequest, 'body' | 'padTo'>): Buffer | undefined {
  if (body === undefined) return undefined
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  if (padTo === undefined || padTo <= bytes.length) return bytes
  return Buffer.concat([bytes, Buffer.alloc(padTo - bytes.length, ' ')])
}

/** The path whose quota a request may use: the first segment of its path. */
export function quotaPathOf({ path }: Pick<ProbeRequest, 'path'>): string {
  return /^\/[^/?]*/.exec(path)?.[0].toLowerCase() ?? path
}

const KEYS = {
  none: 'without a key',
  wrong: 'with a wrong key',
  longer: 'with more behind the key',
  bare: 'with a key alone',
} as const

/** The request in words for the user, such as `GET /domains; without a key`. */
export function describeRequest(request: ProbeRequest): string {
  const { method, path, key, scheme, headers = {} } = request
  const bytes = bytesOfBody(request)
  const how = [
    ...(key === undefined ? [] : [KEYS[key]]),
    ...(scheme === undefined ? [] : [`with the scheme ${scheme}`]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(bytes === undefined ? [] : [`body ${describeBody(bytes)}`]),
  ]
  return [`${method} ${path}`, ...how].join('; ')
}

/** Long bodies are lists of domains, or padding. */
function describeBody(bytes: Buffer): string {
  return bytes.length > 120
    ? `of ${bytes.length} bytes, ${shorten(bytes.toString().trimEnd(), 60)}`
    : JSON.stringify(bytes.toString())
}
