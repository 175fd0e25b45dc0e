import { describe, expect, it } from 'vitest'
import { canonical, faultsAt, kindOf, type PlannedFault } from '../../../src/trials/explore/faults.ts'
import { type Phase, pairsAfter, planSingles } from '../../../src/trials/explore/order.ts'
import { writePlan } from '../../../src/trials/explore/plan.ts'
import { namePoint, pointsOf } from '../../../src/trials/explore/points.ts'
import { CONTRACT as contract, observeRun, type Send } from '../../support/observed-run.ts'

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

/** The faults of a phase, each once, without the requests that they meet. */
const effectsIn = ({ faults }: Phase) => [...new Set(faults.map(({ effect }) => canonical(effect)))]

describe('Single faults', () => {
  it('come with lost responses of writes first, then refusals by the account, a slow response, 429, and the rest', () => {
    const [lost, refused, slow, limited, rest] = planSingles(singles)
    expect([lost, refused, slow, limited, rest].map((phase) => [phase?.tier, phase?.isNeeded])).toEqual([
      [1, true],
      [2, true],
      [4, false],
      [3, false],
      [4, false],
    ])
    expect(lost && effectsIn(lost)).toEqual(['{"connection":"reset","phase":"after"}'])
    expect(refused && effectsIn(refused)).toEqual([
      '{"respond":{"error":"invalid_domain"}}',
      '{"respond":{"error":"duplicate_name"}}',
    ])
    expect(slow && effectsIn(slow)).toEqual(['{"connection":"hang","phase":"after"}'])
    expect(limited && effectsIn(limited)).toEqual(['{"event":"quota-used-up"}'])
    expect(rest && effectsIn(rest)).toContain('{"respond":{"error":"unauthorized","status":403}}')
  })

  it('meet one request of each kind, in all tiers, before any repetition', async () => {
    const { requests } = await observeRun(async (send) => {
      for (let added = 0; added < 3; added++) {
        await send('POST', '/domains', { domains: ['a.example'] })
        await send('DELETE', '/domains', { domains: ['a.example'] })
      }
    })
    const phases = planSingles(pointsOf(requests).flatMap((point) => faultsAt(point, contract)))
    const firsts = phases.slice(0, 6)
    expect(firsts.map(({ tier }) => tier)).toEqual([1, 2, 4, 3, 4, 4])
    const kinds = firsts.flatMap(({ faults }) => faults.map(kindOf))
    expect(new Set(kinds).size).toBe(kinds.length)
    const repetitions = phases.slice(6)
    expect(repetitions.map(({ tier, isNeeded }) => [tier, isNeeded])).toEqual(
      [1, 2, 3, 4, 4].map((tier) => [tier, false]),
    )
    for (const { faults } of repetitions) for (const fault of faults) expect(kinds).toContain(kindOf(fault))
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

  it('have no second fault that nobody expects to be survived', async () => {
    const survived = await survive(({ effect }) => canonical(effect) === '{"connection":"reset"}')
    expect(pairsAfter(survived, contract, { observation: baseline }, () => false)).toEqual([])
  })
})
