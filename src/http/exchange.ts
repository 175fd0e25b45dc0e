import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Operation } from '../contract/api.ts'
import type { DomainGroup } from '../domain/account.ts'
import type { Problem, Refusal } from '../domain/errors.ts'
import type { Allowance } from '../domain/quotas.ts'
import type { Decided, Injection } from '../journal/entry.ts'
import type { ReceivedBody } from '../wire/conform.ts'
import type { Caller } from './gate.ts'

/** One request on its way through the service, and what is known of it so far. */
export interface Exchange extends ReceivedBody {
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
  /** Why it has no operation, where that is told only to those with a key. */
  misrouted?: Refusal<string>
  /** The methods of the path, when the request's is none of them. */
  allow?: string
  problems: readonly Problem<string>[]
  /** Whether it is refused for what the contract itself says, whatever the state is. */
  unlawful?: boolean
  /** What the service decided, where something else, or nothing, is sent. */
  decided?: Decided
  injection?: Injection | undefined
  /** What failed inside. */
  failure?: unknown
}
