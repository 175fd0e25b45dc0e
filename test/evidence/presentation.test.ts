import { beforeAll, describe, expect, it } from 'vitest'
import type { Contract } from '../../src/contract/contract.ts'
import type { Assignment } from '../../src/evidence/observation.ts'
import { wordsOf } from '../../src/ground/chance.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import { BEHAVIOURS } from '../contract/behaviours.ts'
import { alternatives } from '../support/alternatives.ts'
import { budget } from '../support/budget.ts'
import { type Documented, readPermitted } from '../support/permitted.ts'
import type { TestService } from '../support/service.ts'
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
  it.each(numbered.filter(([id]) => readable.includes(id)))('%s, alternative %d', async (id, number) => {
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

  it.each(Array.from({ length: budget({ quick: 5, full: 30 }) }, (_, index) => index))(
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
