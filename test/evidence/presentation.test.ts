import { beforeAll, describe, expect, it } from 'vitest'
import type { Contract } from '../../src/contract/contract.ts'
import type { Problem } from '../../src/domain/errors.ts'
import { findContractProblems } from '../../src/evidence/contract-problems.ts'
import type { Assignment } from '../../src/evidence/observation.ts'
import { observePresentation, type Presentation } from '../../src/evidence/presentation.ts'
import { createReader } from '../../src/evidence/reading.ts'
import { wordsOf } from '../../src/ground/chance.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import { BEHAVIOURS } from '../contract/behaviours.ts'
import { alternatives } from '../support/alternatives.ts'
import { budget } from '../support/budget.ts'
import { type Documented, readPermitted } from '../support/permitted.ts'
import type { TestService } from '../support/service.ts'
import { exchangeOf, failure, type Made, success } from './made-exchange.ts'
import { askEverything, type Judgement, judge, leftOf, openRecorded, wrongOnes } from './recorded-service.ts'

let documented: Documented

beforeAll(async () => {
  documented = await readPermitted()
}, 60_000)

/** Assumptions of which one response is enough to tell all alternatives from each other. */
const READABLE = [
  ...['gate-order', 'rate-limit-reset', 'quota-headers', 'response-charset', 'client-request-ids', 'cors', 'decimals'],
  ...['add-domains-status', 'create-group-status', 'request-id-format', 'www-authenticate', 'retry-after'],
  ...['group-id-format', 'percentages', 'update-group-response', 'add-domains-message', 'delete-domains-message'],
  ...['delete-group-message', 'status-unauthorized', 'status-plan-too-low', 'status-rate-limited', 'status-missing-id'],
  ...['status-invalid-request-body', 'status-content-encoding', 'status-content-type', 'status-invalid-json'],
  ...['status-unknown-field', 'status-missing-field', 'status-no-fields-to-update', 'status-invalid-field-type'],
  ...['status-conflicting-fields', 'status-request-too-large', 'status-invalid-name', 'status-invalid-domain'],
  ...['status-not-found', 'status-unknown-path', 'status-wrong-method', 'status-domain-delete-failed'],
  ...['status-not-monitored', 'status-duplicate-name'],
]
/** What shows only an alternative: a service that does as chosen can look like one that does not. */
const READABLE_UNLESS_CHOSEN = ['policies-without-record', 'subdomain-policies']
/** Of these, what the usual session asks shows more than the few requests that show them to a person. */
const ASKED = new Set(['client-request-ids', 'cors', 'quota-headers', 'decimals'])

async function sessionWith(contract: Contract, ids: readonly string[], asks = true): Promise<Judgement> {
  const judgements: Judgement[] = []
  const ask = async (options: ServerOptions | undefined, session: (service: TestService) => Promise<unknown>) => {
    const service = await openRecorded(contract, documented.choices.contract, options)
    try {
      await session(service)
    } finally {
      await service.stop()
    }
    judgements.push(judge(service.recorded, documented.permitted))
  }
  for (const id of ids) {
    const behaviour = BEHAVIOURS.find((each) => each.id === id)
    await ask(behaviour?.options, async (service) => behaviour?.observe(service))
  }
  if (asks) await ask({}, askEverything)
  return {
    findings: judgements.flatMap(({ findings }) => findings),
    observations: judgements.flatMap(({ observations }) => observations),
  }
}

function contractOf(id: string, number: number): Contract {
  const variant = documented.variants.find((each) => each.id === id && each.number === number)
  if (variant === undefined) throw new Error(`There is no alternative ${id}/${number}.`)
  return variant.contract
}

const readable = [...READABLE, ...READABLE_UNLESS_CHOSEN]
const numbered = alternatives.map(([id, number]) => [id, number] as const)

describe('the responses of a service say by their form that it follows', () => {
  const shown = numbered.filter(([id]) => readable.includes(id))
  const tried = shown.filter((_, index) => index % budget({ quick: 8, full: 1 }) === 0)

  it.each(tried)('%s, alternative %d', async (id, number) => {
    const judgement = await sessionWith(contractOf(id, number), [id], ASKED.has(id))
    expect(judgement.findings).toEqual([])
    expect(wrongOnes(judgement, { [id]: number })).toEqual([])
    expect(leftOf(id, judgement, { [id]: number }, documented.permitted)).toEqual([number])
  })

  it('our choices', async () => {
    const judgement = await sessionWith(documented.choices.contract, READABLE)
    expect(judgement.findings).toEqual([])
    expect(wrongOnes(judgement, {})).toEqual([])
    const left = READABLE.map((id) => [id, leftOf(id, judgement, {}, documented.permitted)])
    expect(Object.fromEntries(left)).toEqual(Object.fromEntries(READABLE.map((id) => [id, [0]])))
  })
})

describe('nothing is found and nothing is decided wrongly about a service that follows', () => {
  const others = numbered.filter(([id]) => !readable.includes(id))
  const tried = others.filter((_, index) => index % budget({ quick: 16, full: 1 }) === 0)

  it.each(tried)('%s, alternative %d', async (id, number) => {
    const judgement = await sessionWith(contractOf(id, number), [id])
    expect(judgement.findings).toEqual([])
    expect(wrongOnes(judgement, { [id]: number })).toEqual([])
  })

  it.each(Array.from({ length: budget({ quick: 3, full: 30 }) }, (_, index) => index))(
    'three random alternatives (seed %d)',
    async (seed) => {
      const { choices } = documented
      const chosen = new Map<string, (typeof choices.alternatives)[number]>()
      for (const word of wordsOf(`three ${seed}`).slice(0, 3)) {
        const alternative = choices.alternatives[word % choices.alternatives.length]
        if (alternative !== undefined) chosen.set(alternative.id, alternative)
      }
      const truth: Assignment = Object.fromEntries([...chosen].map(([id, { number }]) => [id, number]))
      const contract = await choices.compile([...chosen.values()])
      // What shows one alternative may expect that there is no other, so only the usual session is asked.
      const judgement = await sessionWith(contract, [])
      expect(judgement.findings, JSON.stringify(truth)).toEqual([])
      expect(wrongOnes(judgement, truth), JSON.stringify(truth)).toEqual([])
    },
  )
})

function look(made: Made, problems: readonly Problem<string>[] = []): Presentation {
  const { permitted } = documented
  const reading = createReader(permitted.contract)(exchangeOf(made))
  if (reading === undefined) throw new Error('It has no response.')
  const forbidden = findContractProblems(reading, permitted).filter(({ id }) => !id.includes('/request/'))
  expect(forbidden, 'what the contract forbids already').toEqual([])
  return observePresentation(reading, { problems }, permitted)
}

const listed = { path: '/domains', body: success({ domains: [] }) }

describe('no alternative explains', () => {
  it.each<[title: string, made: Made, problems: Problem<string>[], id: string]>([
    [
      'a status that only another problem has',
      { method: 'POST', path: '/domains', sent: '', status: 415, body: failure('invalid_request_body') },
      [{ code: 'invalid_request_body', reason: 'absent' }],
      'addDomains/415/status/invalid_request_body',
    ],
    [
      'a reset in milliseconds',
      { ...listed, headers: { 'X-RateLimit-Reset': '1768471200000' } },
      [],
      'listDomains/200/headers/x-ratelimit-reset',
    ],
    [
      'a reset that is past',
      { ...listed, headers: { 'X-RateLimit-Reset': '1768460000' } },
      [],
      'listDomains/200/headers/x-ratelimit-reset',
    ],
    [
      'another charset',
      { ...listed, headers: { 'Content-Type': 'application/json; charset=latin1' } },
      [],
      'listDomains/200/headers/content-type',
    ],
    [
      'a request id that nobody asked for',
      { ...listed, headers: { 'X-Request-Id': 'req_1' } },
      [],
      'listDomains/200/headers/x-request-id',
    ],
    [
      'another scheme to authenticate with',
      { path: '/domains', status: 401, headers: { 'WWW-Authenticate': 'Basic' }, body: failure('unauthorized') },
      [{ code: 'unauthorized' }],
      'listDomains/401/headers/www-authenticate',
    ],
  ])('%s', (_, made, problems, id) => {
    const { findings } = look(made, problems)
    // What the specification leaves open entirely is nobody's failure.
    const label = /content-type|request-id/.test(id) ? 'cannot tell' : 'unexplained'
    expect(findings.map((finding) => finding.id)).toEqual([`${label.replace(' ', '-')}/${id}`])
    expect(findings[0]).toMatchObject({ label, message: expect.stringMatching(/\.$/) })
  })
})

describe('a text for a person', () => {
  const added = (message: string) => success({ message, domains: ['a.example'], count: 1 })
  const add = { method: 'POST', path: '/domains', sent: { domains: ['a.example'] } }
  const about = (text: string) => {
    const { observations, message } = look({ ...add, body: added(text) })
    const named = observations.filter(({ allows: [first = {}] }) => 'add-domains-message' in first)
    return [message, named.map(({ allows }) => allows)]
  }

  it('is an observation where the document names it, and only seen where it does not', () => {
    const of = 'addDomains'
    const ours = 'Domains added. Background processing has started.'
    expect(about(ours)).toEqual([{ of, text: ours }, [[{ 'add-domains-message': 0 }]]])
    const theirs = 'Domains added successfully.'
    expect(about(theirs)).toEqual([{ of, text: theirs }, [[{ 'add-domains-message': 1 }]]])
    expect(about('Done!')).toEqual([{ of, text: 'Done!' }, []])
    const refused = look({ path: '/domains', status: 401, body: failure('unauthorized', 'Go away.') })
    expect(refused.message).toEqual({ of: 'unauthorized', text: 'Go away.' })
  })
})

describe('the numbers of a response', () => {
  const record = { domain: 'a.example', p: 'none', sp: 'none', np: 'none', pct: 100, testing: 'n' }
  const stepsLeft = (figures: readonly (readonly [dmarc: number, count: number])[]) => {
    const data = figures.map(([dmarc, count]) => ({ ...record, dmarc, dkim: 0, spf: 0, count }))
    const { observations } = look({ path: '/dmarc', body: success(data) })
    const judgement = { findings: [], observations: [...observations] }
    return leftOf('percentages', judgement, { decimals: 1 }, documented.permitted)
  }
  const many = (value: (index: number) => number, count: number) =>
    Array.from({ length: 15 }, (_, index) => [value(index), count] as const)

  it('tell their precision only where there are enough that would show a finer one', () => {
    expect(stepsLeft([[12.34, 5_000]])).toEqual([1])
    expect(
      stepsLeft(
        many((index) => 90.1 + index / 5, 20_000).map(([value, count]) => [Math.round(value * 10) / 10, count]),
      ),
    ).toEqual([0])
    expect(stepsLeft(many((index) => 70 + index, 50_000))).toEqual([2])
    // Of eight messages, each share is a multiple of 12.5, whatever the service rounds to.
    expect(stepsLeft(many((index) => 12.5 * (1 + (index % 7)), 8))).toEqual([0, 1])
    expect(stepsLeft(many((index) => 70 + index, 100))).toEqual([0, 1, 2])
    expect(stepsLeft([[99.5, 50_000]])).toEqual([0, 1])
  })
})
