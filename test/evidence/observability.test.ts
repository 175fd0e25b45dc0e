import { describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import { type Alternative, nameOf, readChoices } from '../../src/contract/choices.ts'
import type { Contract } from '../../src/contract/contract.ts'
import { describeObservability, isObservable, observabilityOf } from '../../src/evidence/observability.ts'
import { type DecidingRequest, PROBES } from '../../src/evidence/probes.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import { assumptions } from '../support/alternatives.ts'
import { budget } from '../support/budget.ts'
import { sendRequest } from '../support/request.ts'
import { API_KEY, openService, type TestService } from '../support/service.ts'

const choices = await readChoices([])
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
  'subdomain-policies': DEMO,
  'grace-dmarc': YOUNG,
  'grace-domains': YOUNG,
  'grace-domaingroups': YOUNG,
  // The clock stands at half past nine.
  'refresh-time': { ...DEMO, wait: 18 * HOUR },
  'refresh-time/2': { ...DEMO, wait: 13 * HOUR },
  'processing-time': { several: true, wait: 60_000 },
  'policy-before-refresh': { several: true },
}
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
    expect(Object.keys(PROBES).toSorted()).toEqual(known.toSorted())
  })

  it('excepts no alternative that there is not', () => {
    for (const { id, unobservable = {}, alternatives } of assumptions) {
      if (typeof unobservable === 'string') expect(alternatives.length, id).toBeGreaterThan(0)
      else
        for (const number of Object.keys(unobservable))
          expect(Number(number), id).toBeLessThanOrEqual(alternatives.length)
    }
  })

  it('is written in a line', () => {
    const line = (id: string) => {
      const assumption = assumptions.find((each) => each.id === id)
      return assumption && describeObservability(observabilityOf(assumption))
    }
    expect(line('final-dot')).toBe('yes, by POST /domains with {"domains":["b.example."]}: whether it is accepted.')
    expect(line('plan-names')).toBe('no, because: No response says which plan the account has.')
    expect(line('percentages')).toBe(
      'yes, by GET /dmarc: how many decimals the percentages have (if mail arrives each day). Not alternative 2: Each percentage may happen to be a whole number.',
    )
    expect(line('status-unauthorized')).toBe('yes, by GET /domains without authorization: the status.')
    expect(line('byte-order-mark')).toContain('the body \ufeff{"name":"Mark"}')
  })

  const observable = choices.alternatives.filter(({ assumption, number }) => isObservable(assumption, number))
  const tried = observable.filter((_, index) => index % budget({ quick: 4, full: 1 }) === 0)
  it(`has requests that the service answers otherwise under each alternative`, async () => {
    const alike: string[] = []
    for (const alternative of tried) {
      const circumstances = CIRCUMSTANCES[nameOf(alternative)] ?? CIRCUMSTANCES[alternative.id] ?? {}
      const chosen = await ask(alternative, choices.contract, circumstances)
      const other = await ask(alternative, await choices.compile([alternative]), circumstances)
      // What differs without a reason would show nothing.
      if (alternative.number === 1) expect(await ask(alternative, choices.contract, circumstances)).toEqual(chosen)
      if (JSON.stringify(chosen) === JSON.stringify(other)) alike.push(nameOf(alternative))
    }
    expect(alike).toEqual([])
  })
})

/** What a new service under this contract answers to the probe of an assumption. */
async function ask({ id }: Alternative, contract: Contract, circumstances: Circumstances): Promise<unknown[]> {
  const { options = {}, wait = 0, key = API_KEY, several = false } = circumstances
  const begin = id === 'processing-time' ? BEFORE_REFRESH : {}
  const service = await openService({ fixture: ACCOUNT, ...begin, ...options }, OPERATIONS, { contract })
  try {
    const { groups } = (await service.get('/domaingroups')).body.data
    const names = new Map<string, string>([
      ['GROUP', groups[0]?.id],
      ['OTHER', groups[1]?.id],
      ['KEY', key],
    ])
    const answers: unknown[] = []
    const requests = PROBES[id]?.requests ?? []
    for (const [index, request] of requests.entries()) {
      if (index === requests.length - 1) service.advance(wait)
      for (let sent = 0; sent < (request.times ?? 1); sent++) {
        const answer = await send(service, several ? severally(request) : request, names, key)
        const created = (answer as { body?: { data?: { group?: { id: string } } } }).body?.data?.group?.id
        if (created !== undefined) names.set('CREATED', created)
        answers.push(answer)
      }
    }
    return answers
  } finally {
    await service.stop()
  }
}

function severally(request: DecidingRequest): DecidingRequest {
  return request.method === 'POST' ? { ...request, body: { domains: SEVERAL } } : request
}

async function send(
  { baseUrl }: TestService,
  { method, path, headers = {}, body, pad_to = 0 }: DecidingRequest,
  names: ReadonlyMap<string, string>,
  key: string,
): Promise<unknown> {
  const fill = (text: string) => [...names].reduce((filled, [name, value]) => filled.replace(name, value), text)
  const fields = Object.entries(headers).map(([name, value]) => [name, value === null ? null : fill(value)])
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
  const sent = text === undefined ? undefined : encode(text.padEnd(pad_to), headers)
  try {
    const received = await sendRequest(method, baseUrl + fill(path), sent, {
      authorization: `Bearer ${key}`,
      ...Object.fromEntries(fields),
    })
    const { status, headers: answered, text: answer } = received
    const { date: _, ...compared } = answered
    return { status, headers: compared, text: answer, body: received.body }
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  }
}

/** In the charset that its type names. */
function encode(text: string, headers: DecidingRequest['headers']): Buffer {
  return Buffer.from(text, headers?.['content-type']?.endsWith('iso-8859-1') ? 'latin1' : 'utf8')
}
