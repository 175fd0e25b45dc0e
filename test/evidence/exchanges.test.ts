import { describe, expect, it } from 'vitest'
import { exchangeWith } from '../support/exchanges.ts'
import { API_KEY, START, startService } from '../support/service.ts'

describe('an exchange of a test', () => {
  it('has the request and the response, and no key', async () => {
    const { baseUrl } = await startService()
    const exchange = await exchangeWith(baseUrl, {
      method: 'POST',
      path: '/domaingroups?a=b',
      body: { name: 'One' },
      headers: { 'X-More': 'one' },
    })
    expect(exchange).toMatchObject({
      id: exchange.response?.headers['x-request-id'],
      at: START,
      until: START,
      overlaps: false,
      request: {
        method: 'POST',
        target: '/api/v1/domaingroups?a=b',
        headers: { 'content-type': 'application/json', 'x-more': 'one' },
        credentials: { kind: 'sent', scheme: 'Bearer', isWord: true },
      },
      response: { status: 200, headers: { 'x-ratelimit-limit': '100' } },
    })
    expect(exchange.request.body).toEqual({ isKnown: true, bytes: Buffer.from('{"name":"One"}') })
    expect(JSON.stringify(exchange)).not.toContain(API_KEY.slice(13))
  })

  it('says whose key was sent without the key, and that none was', async () => {
    const { baseUrl } = await startService()
    const credentials = async (authorization: string | null) =>
      (await exchangeWith(baseUrl, { path: '/domains', authorization })).request.credentials
    expect(await credentials(null)).toEqual({ kind: 'none' })
    const [one, other] = [await credentials(`bearer ${API_KEY}`), await credentials('Bearer two words')]
    expect(one).toMatchObject({ kind: 'sent', scheme: 'bearer', isWord: true })
    expect(other).toMatchObject({ kind: 'sent', scheme: 'Bearer', isWord: false })
    expect(other).not.toMatchObject({ key: (one as { key: string }).key })
  })
})
