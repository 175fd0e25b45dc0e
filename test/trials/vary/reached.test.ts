import { describe, expect, it } from 'vitest'
import { bindBehaviours } from '../../../src/behaviour/operation.ts'
import { OPERATIONS } from '../../../src/behaviour/operations/operations.ts'
import { type Alternative, type Choices, nameOf, readChoices } from '../../../src/contract/choices.ts'
import { textOf } from '../../../src/journal/entry.ts'
import type { ServerOptions } from '../../../src/server/options.ts'
import { findReached } from '../../../src/trials/vary/reached.ts'
import { ask, optionsFor } from '../../judge/asked.ts'
import { choices } from '../../support/choices.ts'
import { askControl } from '../../support/control-plane.ts'
import { API_KEY, type TestService } from '../../support/service.ts'
import { type Recorded, record } from './recorded-service.ts'
import { only } from './varied-client.ts'

type Ask = (service: TestService) => Promise<unknown>

function reachedBy(run: Recorded, some: Choices, whyOver?: () => string | undefined) {
  const bind = (contract: Choices['contract']) => bindBehaviours(contract, { behaviours: OPERATIONS, simulator: true })
  return findReached({ choices: some, bind, runs: [run], ...(whyOver && { whyOver }) })
}

/** What a run was answered, without what is new each time. */
function answersIn({ exchanges }: Recorded): unknown[] {
  return exchanges.map(({ method, target, status, responseHeaders, responseBody }) => [
    method,
    target,
    status,
    responseHeaders.join('\n'),
    responseBody && textOf(responseBody),
  ])
}

describe('the requests that show an assumption', () => {
  it.each(['create-group-status', 'canonical-form', 'quota-window'])(
    'reach each alternative of %s, and one that is not reached changes nothing',
    async (id) => {
      const [first] = only(id).alternatives as [Alternative]
      const options = optionsFor(first)
      const ofRun = (contract?: Parameters<typeof record>[2]) =>
        record(options, (service) => ask(service, first), contract)
      const run = await ofRun()
      const tried = choices.alternatives.filter((each, index) => each.id === id || index % 20 === 0)
      const found = await reachedBy(run, { ...choices, alternatives: tried })
      const touched = [...found.reached, ...found.undecided.map(({ alternative }) => alternative)].map(nameOf)
      expect(touched).toEqual(expect.arrayContaining(only(id).alternatives.map(nameOf)))
      for (const alternative of tried.filter((each) => !touched.includes(nameOf(each)))) {
        const otherwise = await ofRun(await choices.compile([alternative]))
        expect(answersIn(otherwise), nameOf(alternative)).toEqual(answersIn(run))
      }
    },
  )
})

it('an alternative for which there is no time is not decided', async () => {
  const run = await record(undefined, (service) => service.get('/domains'))
  const { undecided } = await reachedBy(run, only('domain-order'), () => 'Over.')
  expect(undecided.map(({ reason }) => reason)).toEqual(['Over.', 'Over.'])
})

it('what is chosen already is no alternative', async () => {
  const [first] = only('domain-order').alternatives
  const chosen = await readChoices(first === undefined ? [] : [first.overlay])
  const order = chosen.alternatives.filter(({ id }) => id === 'domain-order')
  const options = { fixture: { domains: ['b.example', 'a.example', 'c.example'] } }
  const run = await record(options, (service) => service.get('/domains'), chosen.contract)
  const found = await reachedBy(run, { ...chosen, alternatives: order })
  expect([found.reached.map(nameOf), found.unanswerable]).toEqual([['domain-order/2'], 0])
})

const list: Ask = (service) => service.get('/domains')
const add: Ask = (service) => service.send('POST', '/domains', { domains: ['b.example'] })
const control =
  (method: string, path: string, body?: unknown): Ask =>
  (service) =>
    askControl(service, method, `/accounts/default${path}`, body)
/** The client is not held to what it gets; without a key unless one is given. */
const fetches =
  (path: string, init: RequestInit = {}, key?: string): Ask =>
  (service) => {
    const headers = { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...init.headers }
    return fetch(service.baseUrl + path, { ...init, headers }).then(
      (response) => response.text(),
      () => undefined,
    )
  }
const inTurn =
  (...all: Ask[]): Ask =>
  async (service) => {
    for (const ask of all) await ask(service)
  }
const struck = (rule: object, ask: Ask, ...more: Ask[]) =>
  inTurn(control('POST', '/faults', { times: 1, ...rule }), (service) => ask(service).catch(() => undefined), ...more)
const many = (ask: Ask, times: number) => Array.from({ length: times }, () => ask)

const SITUATIONS: [what: string, ask: Ask, options?: ServerOptions][] = [
  ['a request that asks for a delay', fetches('/domains', { headers: { prefer: 'delay=30' } }, API_KEY)],
  ['a lost response', struck({ phase: 'after', connection: 'reset' }, add, list, list)],
  ['a corrupted response', struck({ corrupt: 'malformed-json' }, list, list)],
  ['a body that is too large', (service) => service.send('POST', '/domains', `{"domains":["${'x'.repeat(1 << 20)}"]}`)],
  ['a wrong method and an unknown path', inTurn(fetches('/domains', { method: 'PUT' }), fetches('/nowhere'))],
  ['an exhausted quota', inTurn(...many((service) => service.get('/dmarc'), 12))],
  ['a clock that is moved', inTurn(list, control('PATCH', '/clock', { advance: 'P1D' }), list)],
  ['a reset', inTurn(add, control('POST', '/reset', {}), add)],
  [
    'a page of another origin',
    fetches('/domains', {
      method: 'OPTIONS',
      headers: { origin: 'https://a.example', 'access-control-request-method': 'GET' },
    }),
    { cors: ['*'] },
  ],
]

describe('a run is answered again as it was, with', () => {
  it.each(SITUATIONS)('%s', async (_, ask, options) => {
    const run = await record({ fixture: { domains: ['a.example'] }, ...options }, ask)
    expect(run.exchanges.length).toBeGreaterThan(0)
    // None of the situations is about the members of groups.
    const { unanswerable, reached } = await reachedBy(run, only('shared-domains', 'deletion-of-members'))
    expect({ unanswerable, reached: reached.length }).toEqual({ unanswerable: 0, reached: 0 })
  })
})

it('a request that cannot be answered again counts as reached by every alternative', async () => {
  const run = await record(undefined, struck({ respond: { error: 'internal_error' } }, list))
  const found = await reachedBy(run, only('quota-scope', 'routing'))
  expect(found).toMatchObject({ unanswerable: 1, undecided: [] })
  expect(found.reached.map(({ id }) => id)).toEqual(['routing', 'quota-scope'])
})

describe('what no single answer tells', () => {
  const refused: Ask = (service) => service.send('POST', '/domains', {})
  const secondKey: Ask = async (service) => {
    const { data } = await askControl(service, 'POST', '/accounts/default/keys', { label: 'second' })
    await fetches('/domains', {}, data.api_key)(service)
  }
  const limited = inTurn(...many((service) => service.get('/dmarc'), 12))
  const groups = { fixture: { groups: [{ name: 'A' }] } }

  it.each<[alternative: string, without: Ask, reaching: Ask, options?: ServerOptions]>([
    ['quota-scope/1', inTurn(list, list), inTurn(list, secondKey)],
    ['quota-headers/3', list, refused],
    ['status-rate-limited/1', list, limited],
    ['request-id-format/1', async () => undefined, list],
    ['rate-limit-reset/1', fetches('/domains', {}, 'unknown'), list],
  ])('%s is reached by the requests that show it, and by no others', async (name, without, reaching, options) => {
    const found = async (ask: Ask) => (await reachedBy(await record(options, ask), only(name))).reached.map(nameOf)
    // A run without a request is left to the baselines.
    if (name !== 'request-id-format/1') expect(await found(without)).toEqual([])
    expect(await found(reaching)).toEqual([name])
  })

  it('is what an account begins with, such as the ids of its groups', async () => {
    const found = async (ask: Ask, options: ServerOptions = groups) =>
      (await reachedBy(await record(options, ask), only('group-id-format'))).reached.length
    const listGroups: Ask = (service) => service.get('/domaingroups')
    expect([await found(listGroups, { fixture: 'empty' }), await found(list), await found(listGroups)]).toEqual([
      0, 0, 2,
    ])
    // What became of it after a change is not known.
    expect(await found(inTurn(add, list))).toBe(2)
  })
})
