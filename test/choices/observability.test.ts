import { describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import { describeObservability, isObservable, observabilityOf } from '../../src/choices/observability.ts'
import { type DecidingRequest, QUESTIONS } from '../../src/choices/questions.ts'
import { type Alternative, nameOf } from '../../src/contract/choices.ts'
import type { Contract } from '../../src/contract/contract.ts'
import type { Exchange } from '../../src/exchanges/exchange.ts'
import { readJson, valueAt } from '../../src/ground/json.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import { isFound, judge, wrongVerdicts } from '../conformance/sessions/judgement.ts'
import { assumptions } from '../support/alternatives.ts'
import { budget } from '../support/budget.ts'
import { choices } from '../support/choices.ts'
import { exchangeWith } from '../support/exchanges.ts'
import { API_KEY, openService, type TestService } from '../support/service.ts'

const NEW_KEY = 'key_NewKey01.111111111111111111111111111111111111111111111111'
const ACCOUNT = {
  domains: ['a.example', 'c.example'],
  groups: [{ name: 'Shop', domains: ['c.example'] }, { name: 'Mail' }],
}
/** Of so many names, some have a policy. */
const SEVERAL = Array.from({ length: 12 }, (_, index) => `b${index}.example`)

/** What a probe needs of the account beyond two domains and two groups, and what happens between its requests. */
interface Circumstances {
  options?: ServerOptions
  /** How much time passes before the last request, in milliseconds. */
  wait?: number
  key?: string
  /** In place of b.example. */
  several?: boolean
}

const DEMO: Circumstances = { options: { fixture: 'demo' } }
const YOUNG: Circumstances = {
  options: { fixture: { ...ACCOUNT, keys: [{ key: NEW_KEY, created_at: '2026-01-14T00:00:00Z' }] } },
  key: NEW_KEY,
}
const HOUR = 3_600_000
const CIRCUMSTANCES: Readonly<Record<string, Circumstances>> = {
  decimals: DEMO,
  percentages: DEMO,
  'policies-without-record': { options: { fixture: 'edge-cases' } },
  'grace-dmarc': YOUNG,
  'grace-domains': YOUNG,
  'grace-domaingroups': YOUNG,
  // The clock stands at half past nine.
  'refresh-time': { ...DEMO, wait: 18 * HOUR },
  'refresh-time/2': { ...DEMO, wait: 13 * HOUR },
  'processing-time': { several: true, wait: 60_000 },
  'policy-before-refresh': { several: true },
}
/**
 * What the judgement of exchanges needs more for than the probe and the lists: those that a run of verify finds, and the time
 * of the refresh, of which the figures tell.
 */
const TAKES_MORE = ['path-matching', 'request-charset', 'domain-cap', 'group-cap', 'member-cap', 'refresh-time']
/** Half a minute before the refresh. */
const BEFORE_REFRESH = { now: '2026-01-15T23:59:30Z' }

describe('observabilityOf', () => {
  it('says of every alternative why exchanges cannot show it, or has a request that does', () => {
    for (const assumption of assumptions) {
      const { observable, because, decide_with: probe } = observabilityOf(assumption)
      expect(observable || because !== undefined, assumption.id).toBe(true)
      expect(probe !== undefined, assumption.id).toBe(observable)
    }
    const known = assumptions.filter((each) => observabilityOf(each).observable).map(({ id }) => id)
    expect(Object.keys(QUESTIONS).toSorted()).toEqual(known.toSorted())
  })

  it('excepts no alternative that there is not', () => {
    for (const { id, unobservable = {}, alternatives } of assumptions) {
      const numbers = typeof unobservable === 'string' ? [1] : Object.keys(unobservable).map(Number)
      for (const number of numbers) expect(number, id).toBeLessThanOrEqual(alternatives.length)
    }
  })

  it.each([
    ['final-dot', 'yes, by POST /domains with {"domains":["b.example."]}: whether it is accepted.'],
    ['plan-names', 'no, because: No response says which plan the account has.'],
    [
      'percentages',
      'yes, by GET /dmarc: how many decimals the percentages have (if mail arrives each day). Not alternative 2: Each percentage may happen to be a whole number.',
    ],
    ['status-unauthorized', 'yes, by GET /domains without authorization: the status.'],
    ['byte-order-mark', expect.stringContaining('the body \ufeff{"name":"Mark"}')],
  ])('is written in a line: of %s', (id, line) => {
    const [assumption] = assumptions.filter((each) => each.id === id)
    expect(assumption && describeObservability(observabilityOf(assumption))).toEqual(line)
  })

  const observable = choices.alternatives.filter(({ assumption, number }) => isObservable(assumption, number))

  it('has requests that the service answers otherwise under each alternative, and by which it is decided', {}, async () => {
    const tried = observable.filter((_, index) => index % budget({ quick: 16, whole: 8, full: 1 }) === 0)
    for (const alternative of tried) {
      const name = nameOf(alternative)
      const chosen = shown(await ask(alternative, choices.contract))
      const other = await ask(alternative, await choices.compile([alternative]))
      expect.soft(shown(other), name).not.toEqual(chosen)
      // What differs without a reason would show nothing.
      if (alternative.number === 1) expect(shown(await ask(alternative, choices.contract))).toEqual(chosen)
      if (TAKES_MORE.includes(alternative.id)) continue
      const judgement = await judge(other, { isSoleWriter: true, isOwnName: (domain) => domain === 'b.example' })
      expect.soft([isFound(judgement, name), ...wrongVerdicts(judgement.verdicts, [name])], name).toEqual([true])
    }
  })
})

/** What a new service under this contract answers to the probe of an assumption, with the lists before and after it. */
async function ask(alternative: Alternative, contract: Contract): Promise<Exchange[]> {
  const { id } = alternative
  const circumstances = CIRCUMSTANCES[nameOf(alternative)] ?? CIRCUMSTANCES[id] ?? {}
  const { options = {}, wait = 0, key = API_KEY, several = false } = circumstances
  const begin = id === 'processing-time' ? BEFORE_REFRESH : {}
  const service = await openService({ fixture: ACCOUNT, ...begin, ...options }, OPERATIONS, { contract })
  const exchanges: Exchange[] = []
  const names = new Map<string, string>([['KEY', key]])
  const send = async (request: DecidingRequest): Promise<void> => {
    const exchange = await sendOne(service, request, names, key)
    if (exchange === undefined) return
    exchanges.push(exchange)
    const data = valueAt(readJson(String(exchange.response?.body.isKnown && exchange.response.body.bytes)), '/data')
    const created = valueAt(data, '/group/id')
    if (typeof created === 'string') names.set('CREATED', created)
    const [group, other] = ['/groups/0/id', '/groups/1/id'].map((pointer) => valueAt(data, pointer))
    if (!names.has('GROUP') && typeof group === 'string') names.set('GROUP', group).set('OTHER', String(other))
  }
  try {
    const lists = ['/domains', '/domaingroups'].map((path): DecidingRequest => ({ method: 'GET', path }))
    for (const list of lists) await send(list)
    const requests = QUESTIONS[id]?.requests ?? []
    for (const [index, request] of requests.entries()) {
      if (index === requests.length - 1) service.advance(wait)
      for (let sent = 0; sent < (request.times ?? 1); sent++) await send(several ? severally(request) : request)
    }
    for (const list of lists) await send(list)
    return exchanges
  } finally {
    await service.stop()
  }
}

/** What a client sees of answers, apart from the time. */
function shown(exchanges: readonly Exchange[]): unknown[] {
  return exchanges.map(({ response }) => {
    const { date: _, ...headers } = response?.headers ?? {}
    return [response?.status, headers, response?.body.isKnown && response.body.bytes.toString()]
  })
}

function severally(request: DecidingRequest): DecidingRequest {
  return request.method === 'POST' ? { ...request, body: { domains: SEVERAL } } : request
}

/** Nothing for a request on which the service closes the connection. */
async function sendOne(
  { baseUrl }: TestService,
  { method, path, headers = {}, body, pad_to = 0 }: DecidingRequest,
  names: ReadonlyMap<string, string>,
  key: string,
): Promise<Exchange | undefined> {
  const fill = (text: string) => [...names].reduce((filled, [name, value]) => filled.replace(name, value), text)
  const { authorization = `Bearer ${key}`, ...fields } = headers
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
  try {
    return await exchangeWith(baseUrl, {
      method,
      path: fill(path),
      ...(text !== undefined && { body: encode(text.padEnd(pad_to), headers) }),
      headers: fields,
      authorization: authorization === null ? null : fill(authorization),
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    return undefined
  }
}

/** In the charset that its type names. */
function encode(text: string, headers: DecidingRequest['headers']): Buffer {
  return Buffer.from(text, headers?.['content-type']?.endsWith('iso-8859-1') ? 'latin1' : 'utf8')
}
