import type { DomainGroup } from '../../domain/account.ts'

/** A request of a probe, below the base URL of the service. */
export interface ProbeRequest {
  method: string
  /** Below the base path, with the query. */
  path: string
  headers?: Readonly<Record<string, string>>
  /** A text and bytes are sent as they are, anything else as JSON. */
  body?: unknown
  /** Spaces follow the body until it has so many bytes. */
  padTo?: number
  /** Which key it carries; the user's unless it says otherwise. With `bare`, that has no scheme before it. */
  key?: 'none' | 'wrong' | 'bare'
  /** In place of `Bearer`. */
  scheme?: string
}

/** What there is for the requests of one probe: things of the run, which nobody else uses. */
export interface Scene {
  /** In all names of the run, and in no other name. */
  mark: string
  /** Domains of the run that are monitored and in no group, as many as the probe needs. */
  domains: readonly string[]
  /** Groups of the run with as many members as the probe needs. */
  groups: readonly DomainGroup[]
  /** A domain that nobody monitors. Each call makes another one. */
  freshDomain(): string
  /** A name that no group has. Each call makes another one. */
  freshName(): string
  /** An id that no group has. */
  unknownId: string
}

/** Requests that together answer a question about a service. */
export interface Probe {
  id: string
  /** How many monitored domains in no group it needs. */
  domains?: number
  /** For each group that it needs, how many members it must have at least. */
  groups?: readonly number[]
  /**
   * What the account must have none of but the run's own, because a wrong service that accepts such a request might change
   * all of them.
   */
  endangers?: 'groups' | 'domains'
  /** Whether it takes what is left of a quota, and one request more. */
  exhausts?: boolean
  requests(scene: Scene): readonly ProbeRequest[]
}

/** Methods that change nothing (RFC 9110 §9.2.1) and that every host may be sent. */
export function isRead({ method }: Pick<ProbeRequest, 'method'>): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** The bytes of the body as they are sent; `undefined` where there is none. */
export function bytesOfBody({ body, padTo }: Pick<ProbeRequest, 'body' | 'padTo'>): Buffer | undefined {
  if (body === undefined) return undefined
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  if (padTo === undefined || padTo <= bytes.length) return bytes
  return Buffer.concat([bytes, Buffer.alloc(padTo - bytes.length, ' ')])
}

/** The path of the quota that a request may be charged to: the first step of its path. */
export function quotaPathOf({ path }: Pick<ProbeRequest, 'path'>): string {
  return /^\/[^/?]*/.exec(path)?.[0].toLowerCase() ?? path
}
