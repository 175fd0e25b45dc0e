import { describe, expect, it } from 'vitest'
import { canonical, faultsAt, kindOf, type Phase, planFaults } from '../../../src/trials/explore/faults.ts'
import { pointsOf } from '../../../src/trials/explore/points.ts'
import { CONTRACT as contract, observeRun, type Send } from '../../support/observed-run.ts'

async function phasesOf(act: (send: Send) => Promise<unknown>): Promise<Phase[]> {
  const { requests } = await observeRun(act)
  return planFaults(pointsOf(requests).flatMap((point) => faultsAt(point, contract)))
}

/** The faults of some phases, each once, without the requests that they meet. */
const effectsIn = (phases: readonly Phase[]) => [
  ...new Set(phases.flatMap(({ faults }) => faults.map(({ effect }) => canonical(effect)))),
]

describe('Faults come in the order', () => {
  it('of lost responses, refusals by the account and changes of another client, each other fault once, and the rest', async () => {
    const phases = await phasesOf(async (send) => {
      await send('POST', '/domains', { domains: ['a.example'] })
      await send('POST', '/domaingroups', { name: 'A' })
    })
    const needed = phases.filter(({ isNeeded }) => isNeeded)
    expect(needed.map(({ tier }) => tier)).toEqual([1, 2, 2])
    expect(effectsIn(needed)).toEqual([
      '{"connection":"reset","phase":"after"}',
      '{"respond":{"error":"invalid_domain"}}',
      '{"respond":{"error":"duplicate_name"}}',
      '{"event":"name-taken"}',
    ])
    const once = phases.filter(({ isNeeded, isUsual }) => isUsual && !isNeeded)
    const tried = once.flatMap(({ faults }) => faults.map(({ effect }) => canonical(effect)))
    expect(new Set(tried).size).toBe(tried.length)
    const expected = [
      ...['{"event":"quota-used-up"}', '{"connection":"reset"}', '{"corrupt":"malformed-json"}'],
      ...['{"respond":{"error":"internal_error"}}', '{"respond":{"error":"unauthorized"}}'],
      ...['{"respond":{"error":"unauthorized","status":403}}', '{"connection":"hang","phase":"after"}'],
    ]
    expect(tried).toEqual(expect.arrayContaining(expected))
    // The slow one is the last.
    expect(tried.at(-1)).toBe('{"connection":"hang","phase":"after"}')
    expect(phases.indexOf(once[0] as Phase)).toBe(needed.length)
  })

  it('of one request of each kind before any repetition', async () => {
    const phases = await phasesOf(async (send) => {
      for (let added = 0; added < 3; added++) {
        await send('POST', '/domains', { domains: ['a.example'] })
        await send('DELETE', '/domains', { domains: ['a.example'] })
      }
    })
    const kinds = phases.flatMap(({ faults }) => faults.map(kindOf))
    const firsts = new Set(kinds).size
    expect(new Set(kinds.slice(0, firsts)).size).toBe(firsts)
    expect(kinds.length).toBeGreaterThan(firsts)
  })

  it('that rests on all faults, if a command only reads', async () => {
    const phases = await phasesOf((send) => send('GET', '/domaingroups'))
    expect(phases.every(({ isNeeded }) => isNeeded)).toBe(true)
    expect(effectsIn(phases)).toContain('{"event":"group-added"}')
  })
})
