import { describe, expect, it } from 'vitest'
import { ConnectionError } from '../../src/verify/client.ts'
import { startService } from '../support/service.ts'
import { inventoryOf, NO_JUDGE, prepareRun } from './runs.ts'
import { expectUndone, FOREIGN, Killed, killedAt, killRun, momentOf, restore, sweepAfter } from './sweeping.ts'

describe('a run of verify', () => {
  it('leaves the account as it was, and shows it', async () => {
    const service = await startService({ fixture: 'demo' })
    const before = await inventoryOf(service)
    const { cleanup, ended, probes } = await prepareRun(service, { waits: true, judge: NO_JUDGE }).result()
    expect(cleanup).toMatchObject({ restored: true, left: { domains: [], groups: [] }, lost: [], gained: [] })
    expect(cleanup.removed.domains).toBeGreaterThan(0)
    expect(ended).toBeUndefined()
    expect(await inventoryOf(service)).toEqual(before)
    // What might harm others, if the service were wrong, is not asked.
    expect(
      probes
        .filter(({ isAsked, barrier }) => !isAsked && barrier === undefined)
        .map(({ probe }) => probe.id)
        .toSorted(),
    ).toEqual(['delete-without-id', 'remove-without-field'])
  })

  it('changes nothing where it may only read', async () => {
    const service = await startService({ fixture: 'demo' })
    const before = await inventoryOf(service)
    const { exchanges, cleanup } = await prepareRun(service, { writes: false, judge: NO_JUDGE }).result()
    expect(new Set(exchanges.map(({ sent }) => sent.method))).toEqual(new Set(['GET']))
    expect(cleanup.restored).toBe(true)
    expect(await inventoryOf(service)).toEqual(before)
  })

  it('that is killed at any request is undone by a sweep', () => expectUndone(5))

  it('is undone by a second sweep when the first one is killed at any request', async () => {
    const service = await startService(FOREIGN)
    const before = await inventoryOf(service)
    const path = await killRun(service)
    const moment = await momentOf(service, path)
    for (let at = 1; ; at++) {
      await restore(service, path, moment)
      const killed = await sweepAfter(service, path, killedAt(at)).catch((error) => error)
      if (!(killed instanceof Killed)) {
        expect(at).toBeGreaterThan(5)
        expect(killed).toMatchObject({ restored: true })
        break
      }
      const cleanup = await sweepAfter(service, path)
      expect(cleanup, `killed at request ${at}`).toMatchObject({ restored: true, lost: [], gained: [] })
      expect(await inventoryOf(service), `killed at request ${at}`).toEqual(before)
    }
  })

  it('leaves alone what others have made meanwhile, and says what it is', async () => {
    const service = await startService(FOREIGN)
    const path = await killRun(service)
    await service.send('POST', '/domains', { domains: ['verify.other.example'] })
    await service.send('POST', '/domaingroups', { name: 'Verify' })
    expect(await sweepAfter(service, path)).toMatchObject({
      restored: true,
      gained: ['the domain verify.other.example is new', expect.any(String)],
    })
    const { domains } = (await service.get('/domains')).body.data
    expect(domains).toContain('verify.other.example')
  })

  it('leaves nothing where something of others is gone, and says what it is', async () => {
    const service = await startService(FOREIGN)
    const path = await killRun(service)
    const { groups } = (await service.get('/domaingroups')).body.data
    await service.send('DELETE', `/domaingroups?id=${groups[0].id}`)
    const cleanup = await sweepAfter(service, path)
    expect(cleanup).toMatchObject({ restored: true, lost: [`the group ${groups[0].id} is gone`] })
    expect(cleanup).not.toHaveProperty('reason')
  })

  it('leaves nothing where the connection gives no answer in time, and ends with a cleanup', async () => {
    const service = await startService(FOREIGN)
    const before = await inventoryOf(service)
    let sent = 0
    const run = prepareRun(service, {
      waits: true,
      judge: NO_JUDGE,
      async way(request, send) {
        const response = await send(request)
        if (++sent === 60) throw new ConnectionError('the connection was closed without a response', false)
        return response
      },
    })
    expect(await run.result()).toMatchObject({ ended: { kind: 'connection' }, cleanup: { restored: true } })
    expect(await inventoryOf(service)).toEqual(before)
  })
})
