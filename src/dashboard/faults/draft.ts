import { signal } from '@preact/signals'
import { FACTS } from '../facts.ts'
import { parseJson } from '../formatting.ts'
import { go } from '../place.tsx'
import { isObject } from '../refusals.ts'
import type { FaultRule, KindFacts } from '../responses.ts'

/** The texts of the form. The fields of a rule that it has no field for are JSON in `rest`. */
export interface Draft {
  /** The name of a kind of fault. */
  kind: string
  operation: string
  /** Empty for always. */
  times: string
  phase: string
  error: string
  status: string
  body: string
  delay_ms: string
  rest: string
}

const EMPTY: Draft = {
  ...{ kind: 'error', operation: '', times: '1', phase: 'before' },
  ...{ error: 'rate_limited', status: '503', body: '', delay_ms: '', rest: '' },
}

export const draft = signal<Draft>(EMPTY)

/** Opens the form for the next request of an operation of an account. */
export function proposeRule(operation: string, account: string): void {
  draft.value = { ...EMPTY, operation }
  go({ account, view: 'faults' })
}

export function kindNamed(name: string): KindFacts | undefined {
  return FACTS.faults.kinds.find((kind) => kind.name === name)
}

/** The name of the kind of fault that a rule asks for. */
export function kindOf({ respond, connection, corrupt, event }: FaultRule): string {
  if (respond !== undefined) return 'error' in respond ? 'error' : 'status'
  return connection ?? corrupt ?? event ?? 'delay'
}

/** The error codes of the operation, or of all operations if none is named. */
export function codesOf(operation: string): string[] {
  const chosen = FACTS.operations.filter(({ id }) => operation === '' || id === operation)
  return [...new Set(chosen.flatMap(({ codes }) => codes))].sort()
}

/**
 * The rule in the form. Empty fields are left out, so the control plane applies its defaults.
 *
 * @throws Error if the rest is no JSON object
 */
export function readRule(given: Draft): FaultRule {
  const { kind, operation, times, phase, delay_ms, rest } = given
  const more = rest.trim() === '' ? {} : parseJson(rest)
  if (!isObject(more) || Array.isArray(more))
    throw new Error('“The rest of the rule” must be a JSON object, such as {"skip": 2}.')
  const { match: others, respond: response, ...fields } = more
  const match = { ...(operation !== '' && { operation }), ...(isObject(others) && others) }
  return {
    ...(Object.keys(match).length > 0 && { match }),
    ...(times !== '' && { times: readNumber(times) }),
    ...(kindNamed(kind)?.phase === 'either' && phase === 'after' && { phase: 'after' }),
    ...readEffect(given, isObject(response) ? response : {}),
    ...((delay_ms !== '' || kind === 'delay') && { delay_ms: readNumber(delay_ms) }),
    ...fields,
  } as FaultRule
}

function readEffect({ kind, error, status, body }: Draft, response: object): object {
  if (kind === 'error') return { respond: { error, ...response } }
  if (kind === 'status') return { respond: { status: readNumber(status), ...(body !== '' && { body }), ...response } }
  const field = kindNamed(kind)?.field
  return field === undefined || field === 'delay_ms' ? {} : { [field]: kind }
}

/** A number, or what was typed in its place: the control plane explains what is wrong with it. */
function readNumber(text: string): number {
  return text === '' || Number.isNaN(Number(text)) ? (text as never) : Number(text)
}
