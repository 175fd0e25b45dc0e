import { describe, expect, it } from 'vitest'
import { loadContract } from '../../../src/contract/contract.ts'
import type { FaultRule } from '../../../src/domain/faults.ts'
import { canonical, faultsAt, type PlannedFault } from '../../../src/trials/explore/faults.ts'
import { broughtAbout, pairsAfter, rankSingles } from '../../../src/trials/explore/order.ts'
import { writePlan } from '../../../src/trials/explore/plan.ts'
import { namePoint, pointsOf } from '../../../src/trials/explore/points.ts'
import { observeRun, type Send } from '../../support/observed-run.ts'

const contract = await loadContract()

/** Adds a domain, as often as it takes, and creates a group. */
async function persist(send: Send): Promise<void> {
  for (let tries = 0; tries < 4; tries++) {
    const answer = await send('POST', '/domains', { domains: ['a.example'] })
    if (answer !== undefined) break
  }
  await send('POST', '/domaingroups', { name: 'A' })
}

const baseline = await observeRun(persist)
const points = pointsOf(baseline.requests)
const singles = points.flatMap((point) => faultsAt(point, contract))
const always = () => true

async function survive(isWanted: (fault: PlannedFault) => boolean) {
  const chosen = singles.filter(isWanted)
  return Promise.all(
    chosen.map(async (fault) => ({
      faults: [fault],
      observation: await observeRun(persist, { plan: writePlan([fault]) }),
    })),
  )
}

describe('Single faults', () => {
  it('come with lost responses of writes first, then refused writes, a slow response, and 429', () => {
    const tiers = rankSingles(singles)
    const words = tiers.map((tier) => [...new Set(tier.map(({ effect }) => canonical(effect)))])
    expect(words[0]).toEqual(['{"connection":"reset","phase":"after"}'])
    expect(words[1]).toContain('{"respond":{"error":"internal_error"}}')
    expect(words[1]).toContain('{"respond":{"error":"duplicate_name"}}')
    expect(words[2]).toEqual(['{"connection":"hang","phase":"after"}'])
    expect(words[3]).toEqual(['{"event":"quota-used-up"}'])
    expect(words[4]).toContain('{"respond":{"error":"unauthorized"}}')
  })

  it('are each there once', () => {
    const all = rankSingles(singles).flat()
    expect(new Set(all.map((fault) => canonical(writePlan([fault])))).size).toBe(all.length)
    expect(all.length).toBe(singles.length)
  })
})

describe('What a fault brings about', () => {
  it('is what the run without faults does not have', async () => {
    const plan: FaultRule[] = [{ match: { operation: 'addDomains' }, times: 1, connection: 'reset' }]
    expect([...broughtAbout(await observeRun(persist, { plan }), baseline, 0)]).toEqual([1])
    expect([...broughtAbout(baseline, baseline, 0)]).toEqual([])
  })
})

describe('Pairs', () => {
  it('are of a fault that was survived, and one at a request that it brought about', async () => {
    const survived = await survive(({ effect }) => canonical(effect) === '{"connection":"reset"}')
    const pairs = pairsAfter(survived, contract, { observation: baseline }, always)
    expect(pairs.length).toBeGreaterThan(0)
    for (const faults of pairs) {
      expect(faults[0].point.operation.id).toBe('addDomains')
      expect(namePoint(faults[1].point)).toBe('the 2nd addDomains (a.example)')
      expect(faults[1].survivable).toBe(true)
    }
  })

  it('are left out where the client took two faults for the same', async () => {
    const isLoss = ({ effect, point }: PlannedFault) =>
      effect.connection === 'reset' && point.operation.id === 'addDomains'
    const [after, before] = await survive(isLoss)
    if (after === undefined || before === undefined) throw new Error('There are two ways to lose a response.')
    const pairsOf = (survived: (typeof before)[]) => pairsAfter(survived, contract, { observation: baseline }, always)
    // One more of the same adds nothing; one that has left a change behind does.
    expect(pairsOf([before, before])).toEqual(pairsOf([before]))
    expect(pairsOf([before, after]).length).toBeGreaterThan(pairsOf([before]).length)
  })

  it('have no second fault that nobody expects to be survived', async () => {
    const survived = await survive(({ effect }) => canonical(effect) === '{"connection":"reset"}')
    expect(pairsAfter(survived, contract, { observation: baseline }, () => false)).toEqual([])
  })
})
