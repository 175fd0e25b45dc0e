import { describe, expect, it as test } from 'vitest'
import { hashKey } from '../../src/ground/secrets.ts'
import { ACCEPTED } from '../corpus/corpus.ts'
import { ACCOUNT, DAY, deleteKey, disableKey, HOUR, SECOND_KEY, stateOf, withKey } from '../support/account.ts'
import { ask, domainsOf, it } from '../support/example-service.ts'
import { API_KEY, startService } from '../support/service.ts'

const REFUSED = { success: false, error: { code: 'unauthorized', message: expect.stringMatching(/./) } }
/** From the start of a test to the next midnight in UTC. */
const UNTIL_REFRESH = 14.5 * HOUR

describe('A key', () => {
  it.for([
    ['disabled', disableKey],
    ['deleted', deleteKey],
  ] as const)('[key-switched-off] is refused from the moment it is %s, and no other', async ([, end], { service }) => {
    const read = () => ask(service, 'GET /domains', undefined, withKey(SECOND_KEY))
    expect((await read()).status).toBe(200)
    await end(service, SECOND_KEY)
    expect((await read()).body).toEqual(REFUSED)
    expect((await service.get('/domains')).status).toBe(200)
  })

  it('[key-shown-once] is kept as its hash alone, and shown in no answer', async ({ service }) => {
    const kept = JSON.stringify(await stateOf(service))
    expect(kept).toContain(hashKey(API_KEY))
    const secret = API_KEY.split('.')[1] ?? ''
    expect(kept).not.toContain(secret)
    for (const { send, body } of Object.values(ACCEPTED)) {
      const { text, headers, status } = await ask(await startService({ fixture: ACCOUNT }), send, body)
      expect(status).toBe(200)
      expect(text + JSON.stringify(headers)).not.toContain(secret)
    }
  })
})

describe('DMARC data', () => {
  it('[daily-refresh] are new once a day, and byte for byte the same until then', async ({ service }) => {
    const days = new Set<string>()
    service.advance(UNTIL_REFRESH)
    for (let day = 0; day < 5; day++) {
      const { text } = await service.get('/dmarc')
      days.add(text)
      service.advance(DAY - 1)
      expect((await service.get('/dmarc')).text).toBe(text)
      service.advance(1)
    }
    expect(days.size).toBe(5)
  })

  test.each([
    ['60 seconds before a refresh have figures then', 60_000, true],
    ['59.999 seconds before a refresh have none until the next', 59_999, false],
  ])('[background-processing] of a domain added %s', async (_, before, processed) => {
    // By its name, it has enough mail for a message in a minute.
    const name = 'survey-4.example'
    const service = await startService({ fixture: { domains: [] } })
    service.advance(UNTIL_REFRESH - before)
    await ask(service, 'POST /domains', { domains: [name] })
    service.advance(before)
    const [{ p, count }] = (await service.get('/dmarc')).body.data
    expect([p, count > 0]).toEqual(processed ? ['reject', true] : ['none', false])
    expect(count).toBeLessThan(10)
    service.advance(DAY)
    const [next] = (await service.get('/dmarc')).body.data
    expect(next.p).toBe('reject')
    expect(next.count).toBeGreaterThan(1000)
  })

  it('[one-record-per-domain] have ten fields in one order, for each domain in the order of the list', async ({
    service,
  }) => {
    await ask(service, 'POST /domains', { domains: ['zebra.example', 'ape.example'] })
    await ask(service, 'DELETE /domains', { domains: ['two.example'] })
    const records: Record<string, unknown>[] = (await service.get('/dmarc')).body.data
    expect(records.map(({ domain }) => domain)).toEqual(await domainsOf(service))
    expect(records).toHaveLength(6)
    for (const record of records) {
      expect(Object.keys(record).join()).toBe('domain,p,sp,np,pct,testing,dmarc,dkim,spf,count')
    }
  })
})
