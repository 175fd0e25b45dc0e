import type { OperationId } from '../behaviour/operations/operations.ts'
import type { Ending } from '../domain/endings.ts'
import type { ErrorCode } from '../domain/errors.ts'
import type { FaultMatch, FaultPhase, FaultRule, InjectedResponse } from '../domain/faults.ts'
import type { Loss, Transmission } from '../ground/message.ts'
import type { Corruption } from './corruption.ts'
import type { ForeignChange } from './foreign-change.ts'

/** One kind of fault. */
export interface FaultKind {
  /** The field of a fault rule that asks for it. `connection`, `corrupt` and `event` hold the name of the kind. */
  field: 'delay_ms' | 'respond' | 'connection' | 'corrupt' | 'event'
  /**
   * When it acts: `before` the body of the request is read; `after` the service's own response exists, which it needs;
   * or `either`, as the `phase` of the rule says.
   */
  phase: 'before' | 'after' | 'either'
  action: FaultAction
}

type FaultAction =
  /** Only delays; any rule may have a delay. */
  | { type: 'delay' }
  /** Responds instead of the service, as the rule says. */
  | { type: 'respond' }
  /** Ends the connection instead of a response. `effect` tells the journal so. */
  | { type: 'cut'; lost: Loss['lost']; effect: string }
  /**
   * Sends the body of the service's own response in another way. `milliseconds` is the default duration of the
   * transmission. The delay of the rule then sets this duration, instead of a wait before it.
   */
  | { type: 'send'; way: Transmission['way']; milliseconds?: number }
  /** Changes the body of the service's own response. Its code is loaded at the first use. */
  | { type: 'corrupt'; kind: Corruption }
  /** Uses up the quota of the path, so that this request and the next ones are refused until the window ends. */
  | { type: 'use-up' }
  /** Moves the clock of the account on after the response, to the next ending of this kind. */
  | { type: 'pass'; ending: Ending }
  /** Another client changes the account after the body of the request is read, and just before it is decided. */
  | { type: 'foreign'; change: ForeignChange }

/**
 * Everything that can be made to fail on purpose. To add a kind, add its row here, its name to the schema `FaultRule`
 * in the document of the control plane, and its tests.
 */
export const FAULT_KINDS = {
  delay: { field: 'delay_ms', phase: 'either', action: { type: 'delay' } },
  respond: { field: 'respond', phase: 'either', action: { type: 'respond' } },
  reset: cut('reset', 'The connection was reset in place of an answer.'),
  hang: cut('hang', 'No answer was sent; the connection was left open.'),
  empty: cut('close', 'The connection was closed in place of an answer.'),
  truncate: { field: 'connection', phase: 'after', action: { type: 'send', way: 'half' } },
  drip: { field: 'connection', phase: 'after', action: { type: 'send', way: 'slowly', milliseconds: 2_000 } },
  'malformed-json': corruption('malformed-json'),
  'missing-field': corruption('missing-field'),
  'wrong-type': corruption('wrong-type'),
  'extra-field': corruption('extra-field'),
  'unknown-enum': corruption('unknown-enum'),
  'bad-envelope': corruption('bad-envelope'),
  compatible: corruption('compatible'),
  'quota-used-up': { field: 'event', phase: 'before', action: { type: 'use-up' } },
  'window-end': pass('window-end'),
  refresh: pass('refresh'),
  'grace-end': pass('grace-end'),
  'group-deleted': foreign('group-deleted'),
  'domains-deleted': foreign('domains-deleted'),
  'member-added': foreign('member-added'),
  'name-taken': foreign('name-taken'),
  'group-added': foreign('group-added'),
} as const satisfies Readonly<Record<string, FaultKind>>

function cut(lost: Loss['lost'], effect: string) {
  return { field: 'connection', phase: 'either', action: { type: 'cut', lost, effect } } as const
}

function corruption(kind: Corruption) {
  return { field: 'corrupt', phase: 'after', action: { type: 'corrupt', kind } } as const
}

function pass(ending: Ending) {
  return { field: 'event', phase: 'after', action: { type: 'pass', ending } } as const
}

function foreign(change: ForeignChange) {
  return { field: 'event', phase: 'before', action: { type: 'foreign', change } } as const
}

type KindName = keyof typeof FAULT_KINDS
type KindNameIn<Field extends FaultKind['field']> = {
  [Name in KindName]: (typeof FAULT_KINDS)[Name]['field'] extends Field ? Name : never
}[KindName]

/** The values of the field `connection` of a rule. */
export type ConnectionFault = KindNameIn<'connection'>
/** The values of the field `event` of a rule. */
export type AccountEvent = KindNameIn<'event'>

/** A fault rule whose kinds are in the table. A rule with another kind does not pass its schema. */
export interface KnownFaultRule extends Omit<FaultRule, 'match' | 'respond' | 'connection' | 'corrupt' | 'event'> {
  match?: FaultMatch & { operation?: OperationId }
  respond?: Exclude<InjectedResponse, { error: string }> | { error: ErrorCode; status?: number }
  /** How the connection fails. */
  connection?: ConnectionFault
  /** How the response is changed. */
  corrupt?: Corruption
  /** The event of the account. */
  event?: AccountEvent
}

/** The name of the kind that a rule asks for. */
function kindNameOf({ connection, corrupt, event, respond }: FaultRule): KindName {
  const name = connection ?? corrupt ?? event ?? (respond === undefined ? 'delay' : 'respond')
  if (!Object.hasOwn(FAULT_KINDS, name)) throw new Error(`There is no kind of fault ${name}.`)
  return name as KindName
}

export function kindOf(rule: FaultRule): FaultKind {
  return FAULT_KINDS[kindNameOf(rule)]
}

/** When a rule acts. */
export function phaseOf(rule: FaultRule): FaultPhase {
  const { phase } = kindOf(rule)
  return phase === 'either' ? (rule.phase ?? 'before') : phase
}

/** Whether a rule acts on the body of the service's own response. A response to HEAD has none and stays the same. */
export function actsOnBody(rule: FaultRule): boolean {
  return ['send', 'corrupt'].includes(kindOf(rule).action.type)
}
