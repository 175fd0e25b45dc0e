import { describe, expect, it } from 'vitest'
import { withKey } from '../support/account.ts'
import { type ObservedService, startObserved } from '../support/observed-service.ts'
import { API_KEY } from '../support/service.ts'

const LIST = '/accounts/default/requests'

/** Requests of every kind; the comment is how the tests name each. */
async function sendAll(service: ObservedService): Promise<void> {
  await service.get('/domains?note=caf%C3%A9')
  await service.send('POST', '/domains', { domains: ['Alpha.example'] })
  await service.send('POST', '/domains', { domains: ['no host'] })
  await service.send('POST', '/domaingroups', { name: 'unread' }, { prefer: 'code=rate_limited' })
  await service.get('/nothing')
  await service.send('POST', '/domaingroups', { name: `Überblick ${API_KEY}` })
}

async function ordinalsOf(service: ObservedService, query: string, list = LIST): Promise<number[]> {
  const { status, text, data } = await service.ask('GET', `${list}?${query}`)
  expect(status, text).toBe(200)
  return data.requests.map(({ ordinal }: { ordinal: number }) => ordinal)
}

const find = (service: ObservedService, words: string, list?: string) =>
  ordinalsOf(service, `search=${encodeURIComponent(words)}`, list)

describe('a search finds', () => {
  it.each<[where: string, words: string, found: number[]]>([
    ['the method', 'get', [1, 5]],
    ['the path', '/DOMAINGROUPS', [4, 6]],
    ['the query as it was sent', 'note=caf%c3', [1]],
    ['the status', '404', [5]],
    ['the class of the status', '2xx', [1, 2, 6]],
    ['the code', 'invalid_domain', [3]],
    ['the operation', 'createdomaingroup', [4, 6]],
    ['the word injected', 'injected', [4]],
    ['the word fault', 'fault', [4]],
    ['the word violation', 'violation', [3, 5]],
    ['the body of the request', 'alpha.example', [2]],
    ['a letter beyond ASCII in any case', 'ÜBERBLICK', [6]],
    ['the body of the response', '"success":true', [1, 2, 6]],
    ['all of several words in several places', ' post  4xx\tNO ', [3]],
    ['nothing if one word is missing', 'post absent', []],
    ['everything without words', '  ', [1, 2, 3, 4, 5, 6]],
    ['no secret', API_KEY.slice(-20), []],
    ['nothing by what stands for a secret', 'redacted', []],
    ['what stands beside a secret', '{"name":"überblick', [6]],
  ])('%s: %s', async (_, words, found) => {
    const service = await startObserved()
    await sendAll(service)
    expect(await find(service, words)).toEqual(found)
    expect(await find(service, words, '/requests')).toEqual(found)
  })

  it('the request with an id', async () => {
    const service = await startObserved()
    await sendAll(service)
    const [, second] = await service.requests()
    expect(await find(service, second?.request_id.toUpperCase() ?? '')).toEqual([2])
  })

  it('what other conditions let through, in pages, with the number of all', async () => {
    const service = await startObserved()
    for (let number = 1; number <= 5; number++) {
      await service.send('POST', '/domaingroups', { name: `Group ${number}` })
      await service.get('/domains')
    }
    const page = async (query: string) => (await service.ask('GET', `${LIST}?search=group&method=POST&${query}`)).data
    const first = await page('limit=2')
    expect([first.requests.map(({ ordinal }: { ordinal: number }) => ordinal), first.count]).toEqual([[7, 9], 5])
    const second = await page(`limit=2&before=${first.next}`)
    expect([second.requests.map(({ ordinal }: { ordinal: number }) => ordinal), second.count]).toEqual([[3, 5], 5])
    expect(await page(`limit=2&before=${second.next}`)).toMatchObject({
      requests: [{ ordinal: 1 }],
      count: 5,
      next: null,
    })
  })

  it('nothing in the part of a long body that the journal does not keep', async () => {
    const service = await startObserved()
    await service.send('POST', '/domains', `{"domains": ["early.example"${' '.repeat(20_000)}} late`)
    expect([await find(service, 'early.example'), await find(service, 'late')]).toEqual([[1], []])
  })

  it('the requests of nobody among those of nobody', async () => {
    const service = await startObserved()
    await service.send('GET', '/domains', undefined, withKey('nobody'))
    await service.get('/domains')
    expect(await ordinalsOf(service, 'account=none&search=unauthorized', '/requests')).toEqual([1])
  })
})

describe('a search is refused', () => {
  it.each<[what: string, search: string, message: string]>([
    ['is too long', 'x'.repeat(201), '`search` must have at most 200 characters.'],
    ['has too many words', 'a b c d e f g h i j k', '`search` must have at most 10 words, not 11.'],
  ])('that %s', async (_, search, message) => {
    const service = await startObserved()
    const { status, error } = await service.ask('GET', `${LIST}?search=${encodeURIComponent(search)}`)
    expect([status, error.message]).toEqual([400, message])
  })

  it('never for words that are there twice', async () => {
    const service = await startObserved()
    await service.get('/domains')
    expect(await find(service, 'a A a a a a a a a a a a')).toEqual([1])
  })
})
