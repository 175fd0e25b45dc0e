import type { OperationId } from '../behaviour/operations/operations.ts'
import type { Ending } from '../domain/endings.ts'
import type { ErrorCode } from '../domain/errors.ts'
import type { FaultMatch, FaultPhase, FaultRule, InjectedResponse } from '../domain/faults.ts'
import type { CorruptionKind } from './corruption/corruption-kind.ts'
import { type Cut, closeConnection, leaveOpen, resetConnection, type Send, sendHalf, sendSlowly } from './delivery.ts'

/** One kind of fault. */
export interface FaultKind {
  /** The field of a fault rule that asks for it. `connection`, `corrupt` and `event` hold the name of the kind. */
  field: 'delay_ms' | 'respond' | 'connection' | 'corrupt' | 'event'
  /**
   * When it acts: `before` the body of the request is read; `after` the service's own response exists, which it needs; or
   * `either`, as the `phase` of the rule says.
   */
  phase: 'before' | 'after' | 'either'
  /** Whether it acts on the body of the service's own response. A response to HEAD has none, so it stays as it is. */
  needsBody: boolean
  action: Action
  /** What became of the response, for the journal; the other actions word that themselves. */
  effect?: (milliseconds: number) => string
  /** The same where there is no body to act on. */
  withoutBody?: string
}

type Action =
  /** Does nothing but the delay that any rule may have. */
  | { type: 'delay' }
  /** Responds in place of the service, as the rule says. */
  | { type: 'respond' }
  /** Ends the connection in place of a response. */
  | { type: 'cut'; cut: Cut }
  /**
   * Sends the service's own response in another way; if not `complete`, the connection ends with it. `milliseconds` is
   * how long that takes if the rule does not say; the delay of the rule then comes not before it but says how long.
   */
  | { type: 'send'; send: Send; complete: boolean; milliseconds?: number }
  /** Changes the body of the service's own response. The code for it is loaded when it is first used. */
  | { type: 'corrupt'; load: () => Promise<CorruptionKind> }
  /** Uses up the quota of the path, so that this request and the next ones are refused until the window ends. */
  | { type: 'use-up' }
  /** Moves the account's clock on, so that the next request comes just after the ending. The response stays as it is. */
  | { type: 'pass'; ending: Ending }

/**
 * Everything that can go wrong on purpose. To add a kind, add its row here, its name to the schema `FaultRule` in the
 * document of the control plane, and its tests.
 */
export const FAULT_KINDS = {
  delay: { field: 'delay_ms', phase: 'either', needsBody: false, action: { type: 'delay' } },
  respond: { field: 'respond', phase: 'either', needsBody: false, action: { type: 'respond' } },
  reset: {
    field: 'connection',
    phase: 'either',
    needsBody: false,
    action: { type: 'cut', cut: resetConnection },
    effect: () => 'The connection was reset in place of an answer.',
  },
  hang: {
    field: 'connection',
    phase: 'either',
    needsBody: false,
    action: { type: 'cut', cut: leaveOpen },
    effect: () => 'No answer was sent; the connection was left open.',
  },
  empty: {
    field: 'connection',
    phase: 'either',
    needsBody: false,
    action: { type: 'cut', cut: closeConnection },
    effect: () => 'The connection was closed in place of an answer.',
  },
  truncate: {
    field: 'connection',
    phase: 'after',
    needsBody: true,
    action: { type: 'send', send: sendHalf, complete: false },
    effect: () => 'Half of the body was sent, and the connection was closed.',
    withoutBody: 'There was no body to truncate.',
  },
  drip: {
    field: 'connection',
    phase: 'after',
    needsBody: true,
    action: { type: 'send', send: sendSlowly, complete: true, milliseconds: 2_000 },
    effect: (milliseconds: number) => `The body was sent in small pieces, over ${milliseconds} ms.`,
  },
  'malformed-json': corruption(async () => (await import('./corruption/malformed-json.ts')).malformedJson),
  'missing-field': corruption(async () => (await import('./corruption/missing-field.ts')).missingField),
  'wrong-type': corruption(async () => (await import('./corruption/wrong-type.ts')).wrongType),
  'extra-field': corruption(async () => (await import('./corruption/extra-field.ts')).extraField),
  'unknown-enum': corruption(async () => (await import('./corruption/unknown-enum.ts')).unknownEnum),
  'bad-envelope': corruption(async () => (await import('./corruption/bad-envelope.ts')).badEnvelope),
  compatible: corruption(async () => (await import('./corruption/compatible.ts')).compatible),
  'quota-used-up': { field: 'event', phase: 'before', needsBody: false, action: { type: 'use-up' } },
  'window-end': passing('window-end'),
  refresh: passing('refresh'),
  'grace-end': passing('grace-end'),
} as const satisfies Readonly<Record<string, FaultKind>>

function corruption(load: () => Promise<CorruptionKind>) {
  const action = { type: 'corrupt', load } as const
  return {
    field: 'corrupt',
    phase: 'after',
    needsBody: true,
    action,
    withoutBody: 'There was no body to change.',
  } as const
}

function passing(ending: Ending) {
  return { field: 'event', phase: 'after', needsBody: false, action: { type: 'pass', ending } } as const
}

type KindName = keyof typeof FAULT_KINDS
type NameIn<Field extends FaultKind['field']> = {
  [Name in KindName]: (typeof FAULT_KINDS)[Name]['field'] extends Field ? Name : never
}[KindName]

/** The values of the field `connection` of a rule. */
export type ConnectionFault = NameIn<'connection'>
/** The values of the field `corrupt` of a rule. With `compatible` a response still obeys the contract. */
export type Corruption = NameIn<'corrupt'>
/** The values of the field `event` of a rule. */
export type AccountEvent = NameIn<'event'>

/** A fault rule whose kinds are those of the table. A rule with any other does not pass its schema. */
export interface KnownFaultRule extends Omit<FaultRule, 'match' | 'respond' | 'connection' | 'corrupt' | 'event'> {
  match?: FaultMatch & { operation?: OperationId }
  respond?: Exclude<InjectedResponse, { error: string }> | { error: ErrorCode; status?: number }
  /** How the connection fails. */
  connection?: ConnectionFault
  /** How the response is changed. */
  corrupt?: Corruption
  /** What happens to the account. */
  event?: AccountEvent
}

export const CONNECTION_FAULTS = namesIn('connection')
export const CORRUPTIONS = namesIn('corrupt')
export const ACCOUNT_EVENTS = namesIn('event')

function namesIn<Field extends FaultKind['field']>(field: Field): readonly NameIn<Field>[] {
  const names = Object.keys(FAULT_KINDS) as KindName[]
  return names.filter((name): name is NameIn<Field> => FAULT_KINDS[name].field === field)
}

/** The name of what a rule asks for. */
export function kindNameOf({ connection, corrupt, event, respond }: FaultRule): KindName {
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
