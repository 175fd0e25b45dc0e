import { describe, expect, it } from 'vitest'
import type { FaultRule } from '../../../src/domain/faults.ts'
import { faultsAt } from '../../../src/trials/explore/faults.ts'
import { ruleOf, useOf } from '../../../src/trials/explore/plan.ts'
import { namePoint, pointsOf } from '../../../src/trials/explore/points.ts'
import { CONTRACT as contract, observeRun, SECOND, type Send } from '../../support/observed-run.ts'

async function work(send: Send): Promise<void> {
  await send('GET', '/domains')
  await send('POST', '/domains', { domains: ['a.example', 'b.example'] })
  await send('GET', '/domains')
  await send('POST', '/domaingroups', { name: 'A', domains: ['a.example'] })
  await send('POST', '/domains', { domains: ['c.example'] })
}

const faultless = await observeRun(work)
const points = pointsOf(faultless.requests)

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
    const [fault] = second === undefined ? [] : faultsAt(second, contract)
    const match = { operation: 'listDomains', key: 'key_TestKey1' }
    expect(fault && ruleOf(fault)).toMatchObject({ match, skip: 1, times: 1 })
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
})

describe('The faults at a point', () => {
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

  it('are changes of another client that the service accepts just before', () => {
    const foreign = points.map((point) =>
      faultsAt(point, contract).flatMap(({ foreign: client }) => client?.words ?? []),
    )
    expect(foreign).toEqual([
      [],
      ['added a.example, b.example'],
      [],
      ['deleted a.example', 'created a group with the name A'],
      ['added c.example'],
    ])
  })
})

describe('The rules of a plan', () => {
  it('that act on no request are told', async () => {
    const plan: FaultRule[] = [
      { match: { operation: 'addDomains' }, times: 1, phase: 'after', connection: 'reset' },
      { match: { operation: 'deleteDomains' }, connection: 'reset' },
      // The response to this request lists no values that it could not have.
      { match: { operation: 'addDomains' }, corrupt: 'unknown-enum' },
    ]
    expect(useOf(plan, await observeRun(work, { plan })).idle).toEqual(plan.slice(1))
  })
})
