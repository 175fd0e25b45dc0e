import type { Domain, Group, Nature, Pin } from './account.ts'

/** What the service must answer. */
export interface Expected {
  status: number
  /** Of a refusal. */
  code?: string
  /** Of a success, unless it is one of the two below. */
  data?: unknown
  /** The group that was created; its id is the service's to choose. */
  created?: Group
  /** One for each record, whose figures are the service's to choose. */
  records?: readonly ExpectedRecord[]
  /** The methods of the path, when the request's is none of them. */
  allow?: readonly string[]
  /** Absent where nothing was charged. */
  quota?: Quota
  /** Which request of the account it answers, since the account began; absent where no key was accepted. */
  ordinal?: number
  /** Whether a fault rule answers. */
  injected?: boolean
  /** The group that was created although the answer does not say so. */
  hidden?: Group
  /** What is remarkable about it, for the statistics. */
  turn?: string
}

export interface Quota {
  limit: number
  remaining: number
  /** Unix seconds. */
  reset: number
}

export interface ExpectedRecord {
  domain: string
  addedAt: number
  /** Of the account. */
  seed: number
  pin: Pin | undefined
  nature: Nature | undefined
  /** The monitored domains above it. */
  above: readonly (readonly [name: string, domain: Domain])[]
  /** Whether there are figures for it. */
  reported: boolean
  /** Whether it was processed at the very moment of the last refresh. */
  justInTime: boolean
}

const STATUSES: Readonly<Record<string, number>> = {
  unauthorized: 401,
  rate_limited: 429,
  internal_error: 500,
  not_found: 404,
  request_too_large: 413,
  duplicate_name: 409,
  domain_delete_failed: 409,
}

export function success(data: unknown): Expected {
  return { status: 200, data }
}

export function refusal(code: string): Expected {
  return { status: STATUSES[code] ?? 400, code }
}
