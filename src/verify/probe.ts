import type { DomainGroup } from '../domain/account.ts'

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
  /** The key of the request; the user's by default. `bare` is the user's key without a scheme. */
  key?: 'none' | 'wrong' | 'bare'
  /** Replaces `Bearer`. */
  scheme?: string
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
      Authorization: key === 'bare' ? apiKey : `${scheme} ${key === 'wrong' ? WRONG_KEY : apiKey}`,
    }),
    ...(body !== undefined && !isTyped && { 'Content-Type': 'application/json' }),
    ...headers,
  }
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
