import { signal } from '@preact/signals'
import { chosenAccount, go } from '../address.ts'
import { FACTS } from '../facts.ts'
import type { FaultRule, KindFacts } from '../responses.ts'

/** The kinds of faults that share a choice in the form. */
export type Family = 'error' | 'status' | Exclude<KindFacts['field'], 'respond'>

/** How often a rule acts: a usual number, or the value of the field `times`. */
const USUAL_TIMES = { once: '1', '3 times': '3', always: '' } as const
export type Often = keyof typeof USUAL_TIMES | 'n times'
export const OFTEN = [...Object.keys(USUAL_TIMES), 'n times'].map((often) => [often, often] as const)

/** The texts of the empty form. The keys are the field names of the control plane. */
const EMPTY = {
  family: 'error' as Family,
  often: 'once' as Often,
  'match.operation': '',
  'match.key': '',
  'respond.error': 'rate_limited',
  'respond.status': '503',
  'respond.headers.content-type': '',
  'respond.headers.retry-after': '',
  'respond.body': '',
  connection: 'reset',
  corrupt: 'malformed-json',
  event: 'quota-used-up',
  times: '5',
  skip: '',
  probability: '',
  phase: 'before',
  delay_ms: '',
  jitter_ms: '',
  expires_after: '',
  description: '',
}
export type Draft = typeof EMPTY

export const draft = signal<Draft>(EMPTY)

export function showRules(account: string): void {
  go({ account, tab: 'faults' })
}

/** Opens the form with a rule that the user can change, by default for the chosen account. */
export function proposeRule(rule: FaultRule, account = chosenAccount.peek()): void {
  draft.value = draftOf(rule)
  showRules(account)
}

export function kindIn({ family, connection, corrupt, event }: Draft): KindFacts | undefined {
  const names = { connection, corrupt, event, delay_ms: 'delay', error: 'error', status: 'status' }
  return FACTS.faults.kinds.find(({ name }) => name === names[family])
}

/** The error codes of the operation, or of all operations if none is named. */
export function codesOf(operation: string): string[] {
  const chosen = FACTS.operations.filter(({ id }) => operation === '' || id === operation)
  return [...new Set(chosen.flatMap(({ codes }) => codes))].sort()
}

/** The rule in the form. Empty fields are left out, so the control plane applies its defaults. */
export function readRule(given: Draft): FaultRule {
  const optional = <Name extends keyof Draft & keyof FaultRule>(name: Name) =>
    given[name] === '' ? {} : { [name]: Number(given[name]) }
  const text = (name: 'expires_after' | 'description') => (given[name] === '' ? {} : { [name]: given[name] })
  const match = {
    ...(given['match.operation'] !== '' && { operation: given['match.operation'] }),
    ...(given['match.key'] !== '' && { key: given['match.key'] }),
  }
  const times = given.often === 'n times' ? numberIn(given.times) : Number(USUAL_TIMES[given.often])
  return {
    ...text('description'),
    ...(Object.keys(match).length > 0 && { match }),
    ...optional('skip'),
    ...(times !== 0 || given.often === 'n times' ? { times } : {}),
    ...optional('probability'),
    ...(kindIn(given)?.phase === 'either' && given.phase === 'after' && { phase: 'after' }),
    ...readEffect(given),
    ...(given.family === 'delay_ms' ? { delay_ms: numberIn(given.delay_ms) } : optional('delay_ms')),
    ...optional('jitter_ms'),
    ...text('expires_after'),
  }
}

function readEffect(given: Draft): FaultRule {
  switch (given.family) {
    case 'error':
      return { respond: { error: given['respond.error'] } }
    case 'status':
      return { respond: readResponse(given) }
    case 'delay_ms':
      return {}
    default:
      return { [given.family]: given[given.family] }
  }
}

function readResponse(given: Draft): NonNullable<FaultRule['respond']> {
  const fields = (['content-type', 'retry-after'] as const)
    .map((name) => [name, given[`respond.headers.${name}`]] as const)
    .filter(([, value]) => value !== '')
  return {
    status: numberIn(given['respond.status']),
    ...(fields.length > 0 && { headers: Object.fromEntries(fields) }),
    ...(given['respond.body'] !== '' && { body: given['respond.body'] }),
  }
}

/** A required number. An empty field becomes null in JSON, and the control plane then refuses it by its name. */
function numberIn(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text)
}

function draftOf(rule: FaultRule): Draft {
  const { match = {}, times } = rule
  const respond: { error?: string; status?: number; headers?: Readonly<Record<string, string>>; body?: unknown } =
    rule.respond ?? {}
  const usual = (Object.keys(USUAL_TIMES) as (keyof typeof USUAL_TIMES)[]).find(
    (often) => USUAL_TIMES[often] === String(times ?? ''),
  )
  const known = Object.entries(rule).filter(([name, value]) => name in EMPTY && typeof value !== 'object')
  return {
    ...EMPTY,
    ...Object.fromEntries(known.map(([name, value]) => [name, String(value)])),
    // A proposed rule may have no effect yet.
    family: doesSomething(rule) ? familyOf(rule) : EMPTY.family,
    often: usual ?? 'n times',
    'match.operation': match.operation ?? '',
    'match.key': match.key ?? '',
    'respond.error': respond.error ?? EMPTY['respond.error'],
    'respond.status': String(respond.status ?? EMPTY['respond.status']),
    'respond.headers.content-type': respond.headers?.['content-type'] ?? '',
    'respond.headers.retry-after': respond.headers?.['retry-after'] ?? '',
    'respond.body': typeof respond.body === 'string' ? respond.body : '',
  }
}

function doesSomething({ respond, connection, corrupt, event, delay_ms, jitter_ms }: FaultRule): boolean {
  return [respond, connection, corrupt, event, delay_ms, jitter_ms].some((effect) => effect !== undefined)
}

export function familyOf({ respond, connection, corrupt, event }: FaultRule): Family {
  if (respond !== undefined) return 'error' in respond ? 'error' : 'status'
  if (connection !== undefined) return 'connection'
  if (corrupt !== undefined) return 'corrupt'
  return event === undefined ? 'delay_ms' : 'event'
}

export const PRESETS: readonly { title: string; rule: FaultRule }[] = [
  {
    title: 'The next POST /domains is lost after the change was made',
    rule: { match: { operation: 'addDomains' }, times: 1, phase: 'after', connection: 'reset' },
  },
  { title: 'The next 3 requests meet the quota', rule: { times: 3, respond: { error: 'rate_limited' } } },
  {
    title: 'A gateway answers the next request with 503',
    rule: {
      times: 1,
      respond: {
        status: 503,
        headers: { 'content-type': 'text/html', 'retry-after': '1' },
        body: '<html><body><h1>503 Service Unavailable</h1></body></html>\n',
      },
    },
  },
  { title: 'Each response takes one to three seconds', rule: { delay_ms: 1000, jitter_ms: 2000 } },
  {
    title: 'The next GET /dmarc is cut off half-way',
    rule: { match: { operation: 'listDmarc' }, times: 1, connection: 'truncate' },
  },
  { title: 'The next response is no JSON', rule: { times: 1, corrupt: 'malformed-json' } },
  { title: 'A later version of the service answers', rule: { corrupt: 'compatible' } },
  { title: 'The quota ends and comes back', rule: { times: 1, event: 'quota-used-up' } },
]
