import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Operation } from '../contract/api.ts'
import type { DomainGroup } from '../domain/account.ts'
import type { Problem } from '../domain/errors.ts'
import type { Allowance } from '../domain/quotas.ts'
import type { Injection } from '../journal/entry.ts'
import type { Caller } from './gate.ts'

/** One request on its way through the service, and what is known of it so far. */
export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  /** Of `elapsed`. */
  started: number
  path: string
  query: Record<string, string>
  requestId?: string
  operation?: Operation
  caller?: Caller
  /** Whose disabled key it carries. */
  holder?: Caller
  /** The group that the query names, as it was before. */
  group?: DomainGroup | undefined
  allowance?: Allowance
  /** The methods of the path, when the request's is none of them. */
  allow?: string
  /** As received. */
  body?: Buffer
  /** The body, where it is JSON. */
  value?: unknown
  problems: readonly Problem<string>[]
  injection?: Injection | undefined
  /** What failed inside. */
  failure?: unknown
}
