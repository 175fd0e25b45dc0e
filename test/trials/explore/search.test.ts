import { describe, expect, it } from 'vitest'
import { Semaphore } from '../../../src/ground/semaphore.ts'
import {
  type Exploration,
  FaultSearch,
  isComplete,
  openIn,
  type SearchTerms,
} from '../../../src/trials/explore/search.ts'
import { CONTRACT, observeRun, type Send } from '../../support/observed-run.ts'
import type { Received } from '../../support/request.ts'

/** A client in this process. It resolves to its exit code. */
type Client = (send: Send) => Promise<number>

const succeeded = (answer: Received | undefined) => answer?.body?.success === true

interface Search {
  /** How many runs the budget allows. */
  runs?: number
  jobs?: number
}

/** Explores a client in this process. A response that does not come is a lost connection for it, so nobody waits. */
async function explore(client: Client, { runs = Number.POSITIVE_INFINITY, jobs = 2 }: Search = {}) {
  const observation = await observeRun(client)
  let left = runs
  const room = new Semaphore(jobs)
  const terms: SearchTerms = {
    run: (plan) =>
      room.run(async () => {
        if (left-- <= 0) return undefined
        const quick = plan.map((rule) => (rule.connection === 'hang' ? { ...rule, connection: 'reset' } : rule))
        return observeRun(client, { plan: quick })
      }),
    // No order in which the other client comes first is known, so nothing is concluded from its changes.
    runAfter: async () => undefined,
    contract: CONTRACT,
    baseline: { observation, isStable: true, changes: true, storms: false, seconds: 0.1 },
    limits: { usual: 1000, perSecond: 0, longer: 1000 },
    window: undefined,
    watch: () => {},
  }
  return new FaultSearch(terms).search()
}

const NAMES = ['a.example', 'b.example']

/** Adds two domains and a group, removes a domain, and believes each answer that `believes` believes. */
function work(believes: (answer: Received | undefined, operation: string) => boolean): Client {
  return async (send) => {
    for (const name of NAMES) {
      if (!believes(await send('POST', '/domains', { domains: [name] }), 'addDomains')) return 1
    }
    const group = await send('POST', '/domaingroups', { name: 'Retail' })
    if (!believes(group, 'createDomainGroup')) return 1
    return believes(await send('DELETE', '/domains', { domains: [NAMES[0]] }), 'deleteDomains') ? 0 : 1
  }
}

const strict = work(succeeded)
const told = ({ findings }: Exploration) => findings.map(({ id }) => id).toSorted()

describe('An exploration', () => {
  it('is complete if each kind of write met each fault of the first two tiers', async () => {
    // Thirteen plans, and one repetition.
    const found = await explore(strict, { runs: 14 })
    expect(found.tiers.slice(0, 2)).toEqual([
      { tier: 1, of: 4, tried: 4 },
      { tier: 2, of: 9, tried: 9 },
    ])
    expect([isComplete(found), openIn(found.tiers)]).toEqual([true, 0])
    // When the last response is lost, all is done.
    expect(told(found)).toEqual(['false-failure/lost-response/deleteDomains'])
  })

  it('of a client that only reads is complete if each fault was tried', async () => {
    const reads: Client = async (send) => (succeeded(await send('GET', '/domains')) ? 0 : 1)
    const some = await explore(reads, { runs: 2 })
    expect(isComplete(some)).toBe(false)
    const all = await explore(reads)
    expect([isComplete(all), openIn(all.tiers), all.elusive]).toEqual([true, 0, 0])
  })

  it.each([0, 7])('is not complete after %i runs, and says how much is left', async (runs) => {
    const found = await explore(strict, { runs })
    expect(isComplete(found)).toBe(false)
    expect(openIn(found.tiers)).toBeGreaterThan(0)
    expect(found.left).toBeGreaterThan(0)
  })

  it('is not complete if no fault meets a request, and no larger budget would help', async () => {
    let runs = 0
    // The second request comes only in the run without faults.
    const changing: Client = async (send) => {
      const count = runs++ === 0 ? 2 : 1
      for (let sent = 0; sent < count; sent++) await send('POST', '/domains', { domains: [`run${sent}.example`] })
      return 0
    }
    const found = await explore(changing, { runs: 8 })
    expect([isComplete(found), openIn(found.tiers), found.elusive]).toEqual([false, 3, 3])
  })

  it('is the same whatever runs at the same time', async () => {
    const [one, other] = await Promise.all([1, 3].map((jobs) => explore(strict, { jobs, runs: 12 })))
    expect(one && told(one)).toEqual(other && told(other))
    expect(one?.tiers).toEqual(other?.tiers)
  })

  it('reports nothing that broke the command only once', async () => {
    let hasBroken = false
    const found = await explore(
      async (send) => {
        const code = await strict(send)
        const hidesIt = code !== 0 && !hasBroken
        hasBroken ||= hidesIt
        return hidesIt ? 0 : code
      },
      { jobs: 1 },
    )
    expect(found.flaky.map(({ verdict }) => verdict)).toEqual(['wrong success'])
    expect(told(found).filter((id) => id.startsWith('wrong-success'))).toEqual([])
  })

  it('does not pass over what broke the command and could not be repeated', async () => {
    const found = await explore(
      work(() => true),
      { runs: 8 },
    )
    expect(found.findings).toEqual([])
    expect(found.unconfirmed.length).toBeGreaterThan(0)
    expect(isComplete(found)).toBe(false)
  })
})

describe('A weakness at several requests', () => {
  it('is one finding with its places', async () => {
    const found = await explore(
      work(() => true),
      { runs: 14 },
    )
    const refusal = found.findings.find(({ id }) => id.startsWith('wrong-success/refusal/'))
    expect(refusal?.id).toBe('wrong-success/refusal/addDomains+createDomainGroup+deleteDomains')
    expect(refusal?.places.map(({ operation, about }) => [operation, about])).toEqual([
      ['addDomains', 'a.example'],
      ['addDomains', 'b.example'],
      ['createDomainGroup', 'Retail'],
      ['deleteDomains', 'a.example'],
    ])
    expect(refusal?.places[0]?.faults).toContain('the answer is invalid_domain')
  })
})

describe('A mistake that the account brings about', () => {
  const code = (answer: Received | undefined) => answer?.body?.error?.code

  it.each<[mistake: string, client: Client, id: string, words: string]>([
    [
      'ignores a domain that is in use',
      work((answer) => succeeded(answer) || code(answer) === 'domain_delete_failed'),
      'wrong-success/refusal/deleteDomains',
      'the answer is domain_delete_failed',
    ],
    [
      'takes a name that is taken for its own group',
      work((answer) => succeeded(answer) || code(answer) === 'duplicate_name'),
      'wrong-success/refusal/createDomainGroup',
      'the answer is duplicate_name',
    ],
    [
      'takes a refused batch for domains that are there',
      work((answer) => succeeded(answer) || code(answer) === 'invalid_domain'),
      'wrong-success/refusal/addDomains',
      'the answer is invalid_domain',
    ],
  ])('is found in the first two tiers: it %s', async (_, client, id, words) => {
    // Eight plans, and one repetition.
    const found = await explore(client, { runs: 10 })
    expect(told(found)).toContain(id)
    const finding = found.findings.find((each) => each.id === id)
    expect(finding?.places.flatMap(({ faults }) => faults)).toContain(words)
  })
})
