import { describe, expect, it } from 'vitest'
import { ACCOUNT, DISABLED_KEY, withKey } from '../support/account.ts'
import { contractWith } from '../support/alternatives.ts'
import { askControl } from '../support/control-plane.ts'
import { startObserved } from '../support/observed-service.ts'
import { HAS_REDIS } from '../support/redis-server.ts'
import { startFleet } from '../support/replicas.ts'
import { type SentHeaders, sendRequest } from '../support/request.ts'
import { API_KEY } from '../support/service.ts'

const UNKNOWN = withKey('no-such-key')
const KEYLESS = { authorization: null }

type Sent = [method: string, path: string, headers?: SentHeaders]

const OWN: [what: string, sent: Sent, status: number, key: string][] = [
  ['to a wrong path', ['GET', '/nothing'], 404, 'key_TestKey1'],
  ['with a wrong method', ['PUT', '/domains'], 405, 'key_TestKey1'],
  ['with a disabled key', ['GET', '/domains', withKey(DISABLED_KEY)], 401, 'key_TestKey3'],
  ['with a disabled key and a wrong path', ['GET', '/nothing', withKey(DISABLED_KEY)], 404, 'key_TestKey3'],
  ['with its key in another form', ['GET', '/domains', { authorization: `bearer  ${API_KEY}` }], 401, 'key_TestKey1'],
  ['with the Host of another site', ['GET', '/domains', { host: 'evil.example' }], 401, 'key_TestKey1'],
]
const NOBODYS: [what: string, sent: Sent][] = [
  ['without a key', ['GET', '/domains', KEYLESS]],
  ['without a key, to a wrong path', ['GET', '/nothing', KEYLESS]],
  ['with a wrong key', ['GET', '/domains', UNKNOWN]],
  ['with a wrong key and a wrong path', ['GET', '/nothing', UNKNOWN]],
  ['with a key of another scheme', ['GET', '/nothing', { authorization: `Basic ${API_KEY}` }]],
  ['with the key of a sandbox that is not open, to a wrong path', ['GET', '/nothing', withKey('sandbox_new')]],
]

describe('the journal of an account', () => {
  it.each(OWN)('has a request %s', async (_, [method, path, headers], status, key) => {
    const service = await startObserved({ fixture: ACCOUNT })
    await service.send(method, path, undefined, headers)
    expect(await service.requests()).toMatchObject([{ account: 'default', key, status, at: '2026-01-15T09:30:00Z' }])
    expect((await service.ask('GET', '/requests?account=none')).data.count).toBe(0)
  })

  it.each(NOBODYS)('has no request %s', async (_, [method, path, headers]) => {
    const service = await startObserved({ fixture: ACCOUNT })
    await service.send(method, path, undefined, headers)
    expect(await service.requests()).toEqual([])
    const { data } = await service.ask('GET', '/requests?account=none')
    expect(data.requests).toMatchObject([{ account: null, key: null }])
    expect((await service.ask('GET', '/accounts')).data.count).toBe(1)
  })

  it.skipIf(!HAS_REDIS)('of several servers on one Redis has the same requests', async () => {
    const [one, other] = await startFleet(2, { fixture: ACCOUNT })
    const send = ([method, path, headers]: Sent) =>
      sendRequest(method, one?.baseUrl + path, undefined, { authorization: `Bearer ${API_KEY}`, ...headers })
    for (const [, sent] of [...OWN, ...NOBODYS]) await send(sent)
    const listOf = async (path: string) => {
      const { data } = await askControl({ baseUrl: other?.baseUrl ?? '' }, 'GET', path)
      return data.requests.map(({ status, key }: { status: number; key: string | null }) => [status, key])
    }
    expect(await listOf('/accounts/default/requests')).toEqual(OWN.map(([, , status, key]) => [status, key]))
    expect(await listOf('/requests?account=none')).toHaveLength(NOBODYS.length)
  })

  it('has a wrong path of a sandbox that is open', async () => {
    const service = await startObserved()
    const headers = withKey('sandbox_open')
    await service.send('GET', '/domains', undefined, headers)
    await service.send('GET', '/nothing', undefined, headers)
    const { data } = await service.ask('GET', '/accounts/sandbox_open/requests')
    expect(data.requests).toMatchObject([{ status: 200 }, { status: 404 }])
  })

  it('has the time of its own clock, also if that was moved', async () => {
    const service = await startObserved()
    await service.ask('PATCH', '/accounts/default/clock', { advance: 'P40D' })
    const { headers } = await service.get('/nothing')
    expect(await service.requests()).toMatchObject([{ at: '2026-02-24T09:30:00Z' }])
    // The answer is that to any client, so it has the time of the machine.
    expect(headers['date']).toBe('Thu, 15 Jan 2026 09:30:00 GMT')
  })

  it('hides a key that it first meets at a wrong path', async () => {
    const service = await startObserved({ fixture: { keys: [{ key: 'Correct-Horse' }] } })
    await service.send('GET', '/nothing?x=Correct-Horse', undefined, withKey('Correct-Horse'))
    const { text } = await service.ask('GET', '/accounts/default/requests')
    expect(text).not.toContain('Correct-Horse')
  })
})

describe('a request with a key to a wrong path', () => {
  it.each<[quotaHeaders: string | undefined]>([[undefined], ['quota-headers-1'], ['quota-headers-2'], ['routing-1']])(
    'gets the answer that any client gets: %s',
    async (alternative) => {
      const contract = alternative === undefined ? undefined : await contractWith(alternative)
      const service = await startObserved({}, undefined, contract && { contract })
      const [mine, others] = [await service.get('/nothing'), await service.send('GET', '/nothing', undefined, UNKNOWN)]
      if (alternative === 'routing-1') expect([mine.status, others.status]).toEqual([404, 401])
      else {
        expect({ ...mine, headers: { ...mine.headers, 'x-request-id': '' } }).toEqual({
          ...others,
          headers: { ...others.headers, 'x-request-id': '' },
        })
      }
      expect(await service.requests()).toMatchObject([{ status: 404 }])
    },
  )

  it('leaves the quota and the ids of the other requests as they are', async () => {
    const idsOf = async (...paths: string[]) => {
      const service = await startObserved()
      for (const path of paths) await service.get(path)
      const { quotas } = (await service.ask('GET', '/accounts/default/quotas')).data
      const requests = await service.requests('?operation=listDomains')
      return [quotas, requests.map(({ request_id }) => request_id)]
    }
    expect(await idsOf('/nothing', '/domains', '/nothing')).toEqual(await idsOf('/domains'))
  })

  it('is in the events, counted by the verdict and checked by the verification', async () => {
    const service = await startObserved()
    await service.get('/nothing')
    const verdict = (await service.ask('GET', '/verdict')).data
    expect(verdict).toMatchObject({ passed: false, requests: 1, judged: 1, politeness: [] })
    expect(verdict.violations.first).toMatchObject([{ account: 'default', status: 404 }])
    const check = { match: { status: 404 }, count: 1 }
    expect((await service.ask('POST', '/accounts/default/requests/verify', check)).data.passed).toBe(true)
  })

  it('can be sent again and rewound to', async () => {
    const service = await startObserved()
    await service.get('/nothing')
    const { request_id } = await service.latest()
    await service.send('POST', '/domaingroups', { name: 'Later' })
    const { account, reproduction } = await service.explain(request_id)
    expect(account).toBe('default')
    expect(reproduction?.curl).toContain('/nothing')
    expect((await service.ask('POST', '/accounts/default/rewind', { request_id })).status).toBe(200)
    expect((await service.get('/domaingroups')).text).not.toContain('Later')
  })

  it.each<[what: string, headers: SentHeaders]>([
    ['its key has another form', { authorization: `Bearer  ${API_KEY}` }],
    ['its Host is that of another site', { host: 'evil.example' }],
  ])('cannot be sent again if it was refused because %s', async (_, headers) => {
    const service = await startObserved()
    await service.send('GET', '/domains', undefined, headers)
    const { account, reproduction, reproduction_note } = await service.explain()
    expect([account, reproduction, reproduction_note]).toEqual([
      'default',
      null,
      'The request was refused because of the form of a header field, which the code would not repeat.',
    ])
  })

  it('is answered while the store fails', async () => {
    const service = await startObserved()
    service.store.enter = () => {
      throw new Error('The store is away.')
    }
    expect((await service.get('/nothing')).status).toBe(404)
    expect(await service.latest()).toMatchObject({ account: null, status: 404 })
  })
})
