import { describe, expect, it } from 'vitest'
import { HOUR } from '../../support/account.ts'
import { startService } from '../../support/service.ts'
import { refusal } from './endpoints.ts'

describe('Limits', () => {
  it.each([
    ['[dmarc-limit]', '/dmarc', 10],
    ['[domains-limit]', '/domains', 30],
    ['[domaingroups-limit]', '/domaingroups', 100],
  ])('%s allows %s %i requests per hour', async (_, path, limit) => {
    const service = await startService()
    for (let request = 1; request <= limit; request++) expect((await service.get(path)).status).toBe(200)
    expect((await service.get(path)).body).toEqual(refusal('rate_limited'))
    service.advance(HOUR)
    expect((await service.get(path)).status).toBe(200)
  })

  it('tells the allowed count, the requests left and, as a Unix timestamp, when the window ends', async () => {
    const service = await startService()
    const { headers } = await service.get('/domains')
    expect(headers['x-ratelimit-limit']).toBe('30')
    expect(headers['x-ratelimit-remaining']).toBe('29')
    expect(headers['x-ratelimit-reset']).toBe(String(Date.parse('2026-01-15T10:00:00Z') / 1000))
  })
})
