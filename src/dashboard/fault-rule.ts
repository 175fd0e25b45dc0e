import { FACTS } from './facts.ts'
import { formatCount, formatNumber, parseJson } from './formatting.ts'
import { isObject } from './refusals.ts'
import type { Schemas } from './responses.ts'

type FaultRule = Schemas['FaultRule']
export type FaultKind = Schemas['About']['faults']['kinds'][number]

/** The texts in the form of a rule, by the names of its fields. Those of a rule without a field are JSON in `rest`. */
export interface Draft {
  kind?: string
  operation?: string
  times?: number
  phase?: string
  error?: string
  'respond.status'?: number
  'respond.body'?: string
  delay_ms?: number
  rest?: string
}

export function kindNamed(name: string | undefined): FaultKind | undefined {
  return FACTS.faults.kinds.find((kind) => kind.name === name)
}

/** The kind of fault that a rule asks for. */
export function kindOf({ respond, connection, corrupt, event }: FaultRule): FaultKind | undefined {
  const response = respond && ('error' in respond ? 'error' : 'status')
  return kindNamed(response ?? connection ?? corrupt ?? event ?? 'delay')
}

/**
 * The rule in the form. Empty fields are left out, so the control plane applies its defaults.
 *
 * @throws Error if the rest is no JSON object
 */
export function readRule({
  kind = '',
  operation,
  error,
  phase,
  times,
  delay_ms,
  rest = '{}',
  ...draft
}: Draft): FaultRule {
  const more = parseJson(rest)
  if (!isObject(more)) throw new Error('“The rest of the rule” must be a JSON object, such as {"skip": 2}.')
  const { match, respond, ...fields } = more
  const { field, phase: allowed } = kindNamed(kind) ?? {}
  const response = kind === 'error' ? { error } : { status: draft['respond.status'], body: draft['respond.body'] }
  // JSON leaves out what is undefined.
  return JSON.parse(
    JSON.stringify({
      ...((operation || isObject(match)) && { match: { operation, ...(isObject(match) && match) } }),
      times,
      ...(allowed === 'either' && phase === 'after' && { phase }),
      ...(field === 'respond' && { respond: { ...response, ...(isObject(respond) && respond) } }),
      ...(field !== undefined && field !== 'respond' && field !== 'delay_ms' && { [field]: kind }),
      ...(delay_ms === undefined && kind === 'delay' ? { delay_ms: '' } : { delay_ms }),
      ...fields,
    }),
  )
}

/** A rule as a sentence, such as "The next POST /domains: connection reset, after the change was made". */
export function describeRule(rule: FaultRule): string {
  const { skip = 0, probability, expires_after: life, phase } = rule
  const conditions = [
    kindOf(rule)?.phase === 'either' && (phase === 'after' ? 'after the change was made' : 'before anything changes'),
    skip > 0 && `after ${formatCount(skip, 'other')}`,
    probability !== undefined && `with the probability ${probability}`,
    life !== undefined && `for ${life}`,
  ]
  return [`${requestsOf(rule)}: ${effectOf(rule)}`, ...conditions.filter(Boolean)].join(', ')
}

function requestsOf({ match = {}, times }: FaultRule): string {
  const { operation, method, path, key } = match
  const known = FACTS.operations.find(({ id }) => id === operation)
  const named = known === undefined ? [method, path ?? operation] : [known.method, known.path]
  const plain = named.filter(Boolean).join(' ') || (times === undefined || times === 1 ? 'request' : 'requests')
  const which = times === undefined ? 'Each' : times === 1 ? 'The next' : `The next ${formatNumber(times)}`
  return `${which} ${plain}${key === undefined ? '' : ` of the key ${key}`}`
}

function effectOf({
  respond,
  connection,
  corrupt,
  event,
  delay_ms: delay = 0,
  jitter_ms: jitter = 0,
}: FaultRule): string {
  const effects = [
    respond && ('error' in respond ? `error ${respond.error}` : `status ${respond.status}`),
    connection && `connection ${connection}`,
    corrupt && `response ${corrupt}`,
    event && `event ${event}`,
    delay + jitter > 0 && `delay of ${formatNumber(delay)}${jitter > 0 ? `–${formatNumber(delay + jitter)}` : ''} ms`,
  ]
  return effects.filter(Boolean).join(' and ') || 'nothing'
}
