/**
 * Every error code. The catalogue in openapi.yaml has the status, message and rank of each. A test compares both lists.
 */
export const ERROR_CODES = [
  'unauthorized',
  'rate_limited',
  'missing_id',
  'invalid_request_body',
  'invalid_json',
  'unknown_field',
  'missing_field',
  'no_fields_to_update',
  'invalid_field_type',
  'conflicting_fields',
  'request_too_large',
  'invalid_name',
  'invalid_domain',
  'not_found',
  'domain_delete_failed',
  'not_monitored',
  'duplicate_name',
  'internal_error',
] as const

/** A code that the service can answer with. The catalogue of openapi.yaml has the status and message of each. */
export type ErrorCode = (typeof ERROR_CODES)[number]

/** One error in a request. */
export interface Problem<Code extends string = ErrorCode> {
  code: Code
  /** The reason for the code, if there are several reasons. The catalogue may have a message for the reason. */
  reason?: string
  /** JSON pointer into the body, or the name of a query parameter. */
  field?: string
  value?: unknown
  /** Further values for the message template. */
  about?: Readonly<Record<string, string | number>>
}

export type Problems<Code extends string = ErrorCode> = readonly [Problem<Code>, ...Problem<Code>[]]

/**
 * A refusal carries no state, so it changes nothing. It has every problem. The catalogue decides which one is answered.
 */
export interface Refusal<Code extends string = ErrorCode> {
  ok: false
  problems: Problems<Code>
}

export interface Acceptance<State, Value> {
  ok: true
  state: State
  value: Value
}

export type Decision<State, Value, Code extends string = ErrorCode> = Acceptance<State, Value> | Refusal<Code>

export function accept<State, Value>(state: State, value: Value): Acceptance<State, Value> {
  return { ok: true, state, value }
}

/** The refusal for the problems; `undefined` if there are none. */
export function refusalOf<Code extends string>(problems: readonly Problem<Code>[]): Refusal<Code> | undefined {
  return problems.length === 0 ? undefined : { ok: false, problems: problems as Problems<Code> }
}

export function refuse<Code extends string>(problem: Problem<Code>): Refusal<Code> {
  return { ok: false, problems: [problem] }
}
