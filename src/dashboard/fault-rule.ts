import { FACTS } from './facts.ts'
import { formatCount, formatNumber, parseJson } from './formatting.ts'
import { isObject } from './refusals.ts'
import type { Schemas } from './responses.ts'

type FaultRule = Schemas['FaultRule']
export type FaultKind = Schemas['About']['faults']['kinds'][number]

/** The values in the form of a rule, by their places in it. What has no field of the form is JSON in `rest`. */
export interface Draft {
  kind?: string
  'match.operation'?: string
  'respond.error'?: string
  delay_ms?: number | string
  rest?: string
  [place: string]: unknown
}

export function kindNamed(name: string | undefined): FaultKind | undefined {
  return FACTS.faults.kinds.find((kind) => kind.name === name)
}

export function kindOf({ respond, connection, corrupt, event }: FaultRule): FaultKind | undefined {
  const response = respond && ('error' in respond ? 'error' : 'status')
  return kindNamed(response ?? connection ?? corrupt ?? event ?? 'delay')
}

/**
 * The rule in the form. Empty fields are left out, so the control plane applies its defaults.
 *
 * @throws Error if the rest is no JSON object
 */
export function readRule({ kind = '', rest = '{}', ...values }: Draft): FaultRule {
  const rule = parseJson(rest)
  if (!isObject(rule)) throw new Error('“The rest of the rule” must be a JSON object, such as {"skip": 2}.')
  const { field } = kindNamed(kind) ?? {}
  // The control plane says that a delay needs a number.
  if (field === 'delay_ms') values.delay_ms ??= ''
  else if (field !== undefined && field !== 'respond') values[field] = kind
  for (const [place, value] of Object.entries(values)) {
    const [name = '', inner] = place.split('.')
    if (inner === undefined) rule[name] ??= value
    else rule[name] = { [inner]: value, ...(isObject(rule[name]) && rule[name]) }
  }
  return rule as FaultRule
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
