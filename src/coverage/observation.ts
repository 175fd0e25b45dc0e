import type { Operation } from '../contract/api.ts'
import type { DomainGroup } from '../domain/account.ts'
import type { Allowance } from '../domain/quotas.ts'
import type { Query } from '../http/target.ts'
import type { KeyEvidence } from '../journal/entry.ts'

/** What is known of one request once it is answered. */
export interface Observation {
  /** `undefined` for an unknown path and for a wrong method. */
  operation: Operation | undefined
  status: number
  /** Of a refusal. */
  code: string | undefined
  reason: string | undefined
  /** Whether a fault or a simulation answered, which says nothing about the service. */
  injected: boolean
  query: Query
  /** The JSON value; `undefined` if no body was read, or if it was not JSON. */
  body: unknown
  bodyBytes: number
  allowance: Allowance | undefined
  /** Milliseconds since the Unix epoch, on the account's clock. */
  now: number
  key: KeyEvidence
  /** The group that the query names, as it was before the request. */
  group: DomainGroup | undefined
}
