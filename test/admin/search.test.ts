import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { withKey } from '../support/account.ts'
import { askControl } from '../support/control-plane.ts'
import { API_KEY, openService, type TestService } from '../support/service.ts'

const LIST = '/accounts/default/requests'
let service: TestService

/** Requests of every kind; the tests name each by its ordinal. */
beforeAll(async () => {
  service = await openService({ fixture: { domains: ['one.example'] } })
  await service.get('/domains?note=caf%C3%A9')
  await service.send('POST', '/domains', { domains: ['Alpha.example'] })
  await service.send('POST', '/domains', { domains: ['no host'] })
  await service.send('POST', '/domaingroups', { name: 'unread' }, { prefer: 'code=rate_limited' })
  await service.get('/nothing')
  await service.send('POST', '/domaingroups', { name: `Überblick ${API_KEY}` })
  await service.send('GET', '/domains', undefined, withKey('nobody'))
  await service.send('POST', '/domains', `{"domains": ["early.example"${' '.repeat(20_000)}} late`)
})
afterAll(() => service.stop())

async function ordinalsOf(query: string, list = LIST): Promise<number[]> {
  const { status, text, data } = await askControl(service, 'GET', `${list}?${query}`)
  expect(status, text).toBe(200)
  return data.requests.map(({ ordinal }: { ordinal: number }) => ordinal)
}

const OWN = [1, 2, 3, 4, 5, 6, 8]

describe('a list of requests has those', () => {
  it.each<[query: string, listed: number[], list?: string]>([
    ['operation=addDomains', [2, 3, 8]],
    ['method=GET', [1, 5, 7], '/requests'],
    ['path=/domains', [1, 2, 3, 8]],
    ['status=429', [4]],
    ['code=invalid_domain', [3]],
    ['violation=true', [3, 5, 8]],
    ['injected=true', [4]],
    ['refused=true&injected=false', [3, 5, 8]],
    ['account=none', [7], '/requests'],
    ['limit=2', [7, 8], '/requests'],
  ])('that meet the condition %s', async (query, listed, list) => {
    expect(await ordinalsOf(query, list)).toEqual(listed)
  })

  it.each<[where: string, words: string, found: number[]]>([
    ['the method', 'get', [1, 5]],
    ['the path', '/DOMAINGROUPS', [4, 6]],
    ['the query as it was sent', 'note=caf%c3', [1]],
    ['the class of the status', '2xx', [1, 2, 6]],
    ['the code', 'invalid_domain', [3]],
    ['the word injected', 'injected', [4]],
    ['the word violation', 'violation', [3, 5, 8]],
    ['the body of the request', 'alpha.example', [2]],
    ['a letter beyond ASCII in any case', 'ÜBERBLICK', [6]],
    ['the body of the response', '"success":true', [1, 2, 6]],
    ['all of several words in several places', ' post  4xx\tNO ', [3]],
    ['no words', '  ', OWN],
    ['a secret', API_KEY.slice(-20), []],
    ['the part of a long body that is not kept', 'late', []],
  ])('in which a search finds %s: %s', async (_, words, found) => {
    const search = `search=${encodeURIComponent(words)}`
    expect(await ordinalsOf(search)).toEqual(found)
    expect((await ordinalsOf(search, '/requests')).filter((ordinal) => ordinal !== 7)).toEqual(found)
  })
})

it.each<[what: string, query: string, message: string]>([
  ['a search that is too long', `search=${'x'.repeat(201)}`, '`search` must have at most 200 characters.'],
  ['a search of too many words', 'search=a b c d e f g h i j k', '`search` must have at most 10 words, not 11.'],
])('%s is refused', async (_, query, message) => {
  const { status, error } = await askControl(service, 'GET', `${LIST}?${query.replaceAll(' ', '%20')}`)
  expect([status, error.message]).toEqual([400, message])
})
