import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Operation } from '../contract/api.ts'
import type { DomainGroup } from '../domain/account.ts'
import type { Problem, Refusal } from '../domain/errors.ts'
import type { Allowance } from '../domain/quotas.ts'
import type { Content } from '../http/content.ts'
import { readTarget } from '../http/target.ts'
import type { Decided, Injection } from '../journal/entry.ts'
import type { Caller } from './gate.ts'

/** One request on its way through the service, and what is known of it so far. */
export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  /** Of `elapsed`. */
  started: number
  path: string
  query: Record<string, string>
  requestId: string | undefined
  operation: Operation | undefined
  caller: Caller | undefined
  /** Whose disabled key it carries. */
  holder: Caller | undefined
  /** The group that the query names, as it was before. */
  group: DomainGroup | undefined
  allowance: Allowance | undefined
  /** Why it has no operation, where that is told only to those with a key. */
  misrouted: Refusal<string> | undefined
  /** The methods of the path, when the request's is none of them. */
  allow: string | undefined
  problems: readonly Problem<string>[]
  /** Whether it is refused for what the contract itself says, whatever the state is. */
  unlawful: boolean
  /** What the service decided, where something else, or nothing, is sent. */
  decided: Decided | undefined
  injection: Injection | undefined
  /** What failed inside. */
  failure: unknown
  /** As received. */
  body: Content | undefined
  /** The body, where it is JSON. */
  value: unknown
}

const NO_PROBLEMS: readonly Problem<string>[] = []

/** All of its fields are there from the beginning: an object that grows at every step is made anew at every step. */
export function openExchange(request: IncomingMessage, response: ServerResponse, started: number): Exchange {
  const { path, query } = readTarget(request.url ?? '')
  return {
    request,
    response,
    started,
    path,
    query,
    requestId: undefined,
    operation: undefined,
    caller: undefined,
    holder: undefined,
    group: undefined,
    allowance: undefined,
    misrouted: undefined,
    allow: undefined,
    problems: NO_PROBLEMS,
    unlawful: false,
    decided: undefined,
    injection: undefined,
    failure: undefined,
    body: undefined,
    value: undefined,
  }
}
