import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRuleCheck } from '../../../src/admin/fault-set-check.ts'
import { type FaultRule, findMatchingRules, triggerRule } from '../../../src/domain/faults.ts'
import { canonical, faultsAt } from '../../../src/trials/explore/faults.ts'
import { describePlan, exceedsPlan, idleRules, milderRules, writePlan } from '../../../src/trials/explore/plan.ts'
import { namePoint, pointsOf } from '../../../src/trials/explore/points.ts'
import { CONTRACT as contract, observeRun, SECOND, type Send } from '../../support/observed-run.ts'

async function work(send: Send): Promise<void> {
  await send('GET', '/domains')
  await send('POST', '/domains', { domains: ['a.example', 'b.example'] })
  await send('GET', '/domains')
  await send('POST', '/domaingroups', { name: 'A', domains: ['a.example'] })
  await send('POST', '/domains', { domains: ['c.example'] })
}

const baseline = await observeRun(work)
const points = pointsOf(baseline.requests)

describe('The points of a run', () => {
  it('are its requests by operation, object and occurrence', () => {
    expect(points.map(namePoint)).toEqual([
      'the 1st listDomains',
      'the 1st addDomains (a.example, b.example)',
      'the 2nd listDomains',
      'the 1st createDomainGroup (A)',
      'the 2nd addDomains (c.example)',
    ])
    expect(points.every(({ key }) => key === undefined)).toBe(true)
  })

  it('tell the key where there are several, and count for each', async () => {
    const { requests } = await observeRun(async (send) => {
      await send('GET', '/domains')
      await send('GET', `${SECOND}/domains`)
      await send('GET', '/domains')
    })
    const [first, other, second] = pointsOf(requests)
    expect([first, other, second].map((point) => point?.occurrence)).toEqual([0, 0, 1])
    expect(first?.key).toBe('key_TestKey1')
    expect(other?.key).not.toBe(first?.key)
    expect(second?.predecessor).toBe(first)
  })

  it('are no requests that meet no fault', async () => {
    const { requests } = await observeRun(async (send) => {
      await send('GET', '/nowhere')
      await send('PUT', '/domains')
      await send('GET', '/domains')
      // The quota of the path ends with the tenth.
      for (let sent = 0; sent < 12; sent++) await send('GET', '/dmarc')
    })
    expect(pointsOf(requests)).toHaveLength(1 + 10)
  })

  it('name three domains, and count those beyond', async () => {
    const { requests } = await observeRun(async (send) => {
      await send('POST', '/domains', { domains: ['a.example', 'b.example', 'c.example'] })
      await send('POST', '/domains', { domains: ['d.example', 'e.example', 'f.example', 'g.example'] })
    })
    expect(pointsOf(requests).map(({ about }) => about)).toEqual([
      'a.example, b.example, c.example',
      'd.example, e.example, f.example and 1 more',
    ])
  })
})

describe('The faults at a point', () => {
  it('are rules that the control plane accepts', async () => {
    const check = await createRuleCheck(contract)
    for (const point of points) {
      for (const fault of faultsAt(point, contract)) {
        for (const rule of writePlan([fault])) expect(check(rule, ''), JSON.stringify(rule)).toBeUndefined()
      }
    }
  })

  it('have every code of the operation once with each of its statuses, such as 403 for a plan that is too low', () => {
    for (const point of points) {
      const declared = [...point.operation.responses.values()].flatMap(({ status, codes }) =>
        [...codes].map((code) => `${code} ${status}`),
      )
      const tried = faultsAt(point, contract).flatMap(({ effect: { respond } }) => {
        if (respond === undefined || !('error' in respond)) return []
        return `${respond.error} ${respond.status ?? [...contract.catalogue.statusesOf(respond.error)][0]}`
      })
      expect(tried).toContain('unauthorized 403')
      // The quota is used up in place of a single rate_limited.
      expect(tried.toSorted()).toEqual(declared.filter((each) => each !== 'rate_limited 429').toSorted())
      expect(faultsAt(point, contract).map(({ effect }) => effect.event)).toContain('quota-used-up')
    }
  })

  it('lose a response after a change only where there is a change', () => {
    const lost = points.map((point) =>
      faultsAt(point, contract).some(({ effect }) => effect.connection === 'reset' && effect.phase === 'after'),
    )
    expect(lost).toEqual([false, true, false, true, true])
  })

  it('have instants for all requests but the first', () => {
    const instants = points.map((point) => faultsAt(point, contract).flatMap(({ effect }) => effect.event ?? []))
    expect(instants).toEqual([
      ['quota-used-up'],
      ['quota-used-up', 'window-end'],
      ['quota-used-up', 'window-end', 'refresh'],
      ['quota-used-up', 'window-end'],
      ['quota-used-up', 'window-end'],
    ])
  })
})

describe('The rules of a plan', () => {
  it('act on the requests of their points, whichever these are', () => {
    const seed = 20260115
    const operations = ['listDomains', 'addDomains', 'createDomainGroup']
    const run = fc.array(fc.constantFrom(...operations), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(run, fc.infiniteStream(fc.boolean()), (sequence, chosen) => {
        const requests = sequence.flatMap((id) => points.find(({ operation }) => operation.id === id) ?? [])
        const seen = new Map<string, number>()
        const faults = requests.flatMap((point, index) => {
          const { id } = point.operation
          const occurrence = seen.get(id) ?? 0
          seen.set(id, occurrence + 1)
          const [fault] = faultsAt({ ...point, occurrence, index }, contract)
          return fault !== undefined && chosen.next().value === true ? [fault] : []
        })
        const plan = writePlan(faults)
        expect(hitsOf(plan, sequence)).toEqual(faults.map(({ point }) => point.index))
      }),
      { seed },
    )
  })

  it('are exceeded where a rule acts again because its account was reset', async () => {
    const plan: FaultRule[] = [{ match: { operation: 'addDomains' }, times: 1, respond: { error: 'internal_error' } }]
    const once = await observeRun(work, { plan })
    expect(exceedsPlan(plan, once)).toBe(false)
    const twice = { requests: [...once.requests, ...once.requests] }
    expect(exceedsPlan(plan, twice)).toBe(true)
    expect(exceedsPlan([{ ...plan[0], times: 2 }], twice)).toBe(false)
  })

  it('act on the requests of one account where the command uses several', async () => {
    async function both(send: Send): Promise<void> {
      await send('POST', '/domains', { domains: ['a.example'] })
      await send('POST', `${SECOND}/domains`, { domains: ['b.example'] })
    }
    const [, point] = pointsOf((await observeRun(both)).requests)
    const fault = point && faultsAt(point, contract).find(({ effect }) => effect.connection === 'reset')
    const plan = fault === undefined ? [] : writePlan([fault])
    expect(plan).toMatchObject([{ match: { operation: 'addDomains', key: point?.key }, times: 1 }])
    expect((await observeRun(both, { plan })).effects.changes).toEqual(['added the domain a.example'])
  })

  it('that act on no request are told', async () => {
    const plan: FaultRule[] = [
      { match: { operation: 'addDomains' }, times: 1, phase: 'after', connection: 'reset' },
      { match: { operation: 'deleteDomains' }, connection: 'reset' },
      // The response to this request lists no values that it could not have.
      { match: { operation: 'addDomains' }, corrupt: 'unknown-enum' },
    ]
    expect(idleRules(plan, await observeRun(work, { plan }))).toEqual(plan.slice(1))
  })
})

/** On which requests of a sequence of operations the rules of a plan act, in the order of the rules. */
function hitsOf(plan: readonly FaultRule[], sequence: readonly string[]): number[] {
  const faults = plan.map((rule, index) => ({ id: `${index}`, createdAt: 0, rule }))
  const tallies = new Map()
  const hits: number[] = []
  for (const [index, operation] of sequence.entries()) {
    const target = { operation, method: 'GET', path: '', key: '', answersWith: () => true }
    const { counted, triggered } = triggerRule(findMatchingRules(faults, target), tallies, 0, () => 0)
    for (const [id, tally] of counted) tallies.set(id, tally)
    if (triggered !== undefined) hits.push(index)
  }
  return hits
}

describe('Milder rules', () => {
  const match = { operation: 'addDomains' }

  const failure = { respond: { error: 'internal_error' } } as const
  const limit = { event: 'quota-used-up' } as const
  const lostRequest = { connection: 'reset' } as const
  const lostResponse = { connection: 'reset', phase: 'after' } as const
  const lateResponse = { connection: 'hang', phase: 'after' } as const
  const survivable = [failure, limit, lostRequest, lostResponse, lateResponse]

  it.each<[rule: FaultRule, milder: Omit<FaultRule, 'match'>[]]>([
    [{ match, ...lostRequest }, [failure, limit]],
    [{ match, ...lateResponse }, [failure, limit, lostRequest, lostResponse]],
    [{ match, corrupt: 'unknown-enum' }, [...survivable, { corrupt: 'extra-field' }]],
    [{ match, ...failure }, []],
    [{ match, ...limit }, [failure]],
    [{ match, respond: { error: 'invalid_domain' } }, survivable],
    [{ match, delay_ms: 5 }, survivable],
  ])('than %j are %j', (rule, milder) => {
    expect(milderRules(rule)).toEqual(milder.map((effect) => ({ match, ...effect })))
  })

  it('act on the same request', () => {
    const place = { match, skip: 1, times: 1 }
    expect(milderRules({ ...place, ...limit })).toEqual([{ ...place, ...failure }])
  })
})

describe('A rule without a description', () => {
  it('is described by what it met', async () => {
    const plan: FaultRule[] = [
      { match: { operation: 'addDomains' }, skip: 1, times: 1, phase: 'after', connection: 'reset' },
      { match: { operation: 'listDomains' }, respond: { status: 503 } },
      { description: 'Mine.', corrupt: 'compatible' },
      { match: { operation: 'deleteDomains' }, connection: 'reset' },
    ]
    const described = describePlan(plan, await observeRun(work, { plan }))
    expect(described.map(({ description }) => description)).toEqual([
      'At the 2nd addDomains (c.example), the change is made, and its response is lost.',
      'At the 1st listDomains, the answer has the status 503.',
      'Mine.',
      undefined,
    ])
    expect(described.map(({ description: _, ...rule }) => rule)).toEqual(
      plan.map(({ description: _, ...rule }) => rule),
    )
  })
})

describe('The canonical text of a plan', () => {
  it('does not depend on the order of fields and on descriptions', () => {
    const one = [{ description: 'x', times: 1, match: { key: 'k', operation: 'a' } }]
    expect(canonical(one)).toBe(canonical([{ match: { operation: 'a', key: 'k' }, times: 1 }]))
  })
})
