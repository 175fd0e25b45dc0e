import { readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { readLimits } from '../../src/admin/document.ts'
import type { RequestReport } from '../../src/journal/description.ts'
import { Journal } from '../../src/journal/journal.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { withKey } from '../support/account.ts'
import { sample } from '../support/budget.ts'
import { addFault, askControl, controlApi, readPages } from '../support/control-plane.ts'
import { recordingLog } from '../support/recording-log.ts'
import { sendRequest } from '../support/request.ts'
import { API_KEY, startService, type TestService } from '../support/service.ts'

const { pageDefault, pageLimit, pageBytes } = readLimits(controlApi)

type Fill = (service: TestService, count: number) => Promise<unknown>

const AT = '/accounts/default'
/** Each list, the field that has it, what names an item, and how `count` items come to be there besides those that are. */
const LISTS: [path: string, name: string, idOf: string, fill: Fill][] = [
  ['/accounts', 'accounts', 'id', postEach('/accounts')],
  [`${AT}/keys`, 'keys', 'id', postEach(`${AT}/keys`)],
  [`${AT}/snapshots`, 'snapshots', 'name', postEach(`${AT}/snapshots`, (number) => ({ name: `s${number}` }))],
  [`${AT}/faults`, 'faults', 'id', postEach(`${AT}/faults`, () => ({ delay_ms: 1 }))],
  [`${AT}/domains`, 'domains', 'domain', importDomains],
  [`${AT}/groups`, 'groups', 'id', postEach(`${AT}/groups`, (number) => ({ name: `g${number}` }))],
  [`${AT}/requests`, 'requests', 'ordinal', sendEach],
  ['/requests', 'requests', 'ordinal', sendEach],
]

function postEach(path: string, bodyOf: (number: number) => object = () => ({})): Fill {
  return async (service, count) => {
    for (let number = 0; number < count; number++) {
      expect((await askControl(service, 'POST', path, bodyOf(number))).status).toBe(201)
    }
  }
}

function importDomains(service: TestService, count: number) {
  const domains = Array.from({ length: count }, (_, number) => `d${number}.example`)
  return askControl(service, 'PUT', `${AT}/state`, { domains })
}

async function sendEach(service: TestService, count: number) {
  for (let number = 0; number < count; number++) await service.get('/domains')
}

describe('A list', () => {
  it.each(LISTS)('at %s has every item once on its pages, in order, and none after the last', async (...row) => {
    const [path, name, idOf, fill] = row
    const service = await startService({ enforceQuotas: false })
    await fill(service, 7)
    const whole = (await askControl(service, 'GET', path)).data
    expect(whole.next).toBeNull()
    expect(whole[name]).toHaveLength(whole.count)
    const { data } = await askControl(service, 'GET', `${path}?limit=${whole.count}`)
    expect([data[name].length, data.next]).toEqual([whole.count, null])
    const { data: page } = await askControl(service, 'GET', `${path}?limit=1`)
    expect(page.next).toBe(page[name][0][idOf])
    const pages = await readPages(service, `${path}?limit=3`)
    const sizes = pages.map((page) => page.length)
    expect(sizes.slice(0, -1).every((size) => size === 3) && sizes.length === Math.ceil(whole.count / 3)).toBe(true)
    expect((path.endsWith('/requests') ? pages.reverse() : pages).flat()).toEqual(whole[name])
    expect(new Set(whole[name].map((item: Record<string, unknown>) => item[idOf])).size).toBe(whole.count)
  })

  it.each(sample(LISTS.filter(([, name]) => name !== 'snapshots').toReversed(), 2))(
    'at %s has as many items on a page as the document says',
    async (path, name, _, fill) => {
      const service = await startService({ enforceQuotas: false })
      await fill(service, pageDefault + 1)
      expect((await askControl(service, 'GET', path)).data[name]).toHaveLength(pageDefault)
      expect((await askControl(service, 'GET', `${path}?limit=${pageLimit}`)).data[name].length).toBeGreaterThan(100)
    },
  )
})

it('The documentation says how long a page is', () => {
  const said = readFileSync('docs/control-plane.md', 'utf8').replaceAll(/\s+/g, ' ')
  expect(said).toContain(`A page has ${pageDefault} items, or as many as \`limit\` says`)
  expect(said).toContain(`which is at most ${pageLimit.toLocaleString('en')}.`)
  expect(said).toContain(`longer than about ${pageBytes / 2 ** 20} MiB`)
  const limits = readFileSync('docs/limitations.md', 'utf8').replaceAll(/\s+/g, ' ')
  expect(limits).toContain(`at most ${pageLimit.toLocaleString('en')} items and about ${pageBytes / 2 ** 20} MiB`)
})

describe('The pages of a journal', () => {
  it('have every request once, although others come and old ones are dropped meanwhile', async () => {
    const service = await startService({ enforceQuotas: false, journal: 20 })
    for (let number = 1; number <= 20; number++) {
      await service.send('GET', `/domains?n=${number}`, undefined, number % 3 === 0 ? withKey('sandbox_a') : {})
    }
    let pages = 0
    const read = await readPages<RequestReport>(service, '/requests?limit=5', async () => {
      // Two new requests before each page but the first: as many old ones of the account are dropped.
      if (pages++ > 0) for (let more = 0; more < 6; more++) await service.get('/domains?n=new')
    })
    const ordinals = read.reverse().flatMap((page) => page.map(({ ordinal }) => ordinal))
    expect(new Set(ordinals).size).toBe(ordinals.length)
    expect(ordinals).toEqual(ordinals.toSorted((one, other) => one - other))
    expect(read.flat().map(({ query }) => query)).not.toContain('n=new')
    // The newest fifteen were there all the time that their pages were read.
    expect(ordinals.slice(-10)).toEqual([11, 12, 13, 14, 15, 16, 17, 18, 19, 20])
  })

  it('count all that match, on each page, and have the newest first', async () => {
    const service = await startService({ enforceQuotas: false })
    for (let number = 1; number <= 9; number++) await service.send(number % 2 === 1 ? 'GET' : 'DELETE', '/domains')
    const read = async (query: string) => {
      const { count, next, requests } = (await askControl(service, 'GET', `/requests?method=GET${query}`)).data
      return { count, next, ordinals: requests.map(({ ordinal }: RequestReport) => ordinal) }
    }
    expect(await read('&limit=2')).toEqual({ count: 5, next: 7, ordinals: [7, 9] })
    expect(await read('&limit=2&before=7')).toEqual({ count: 5, next: 3, ordinals: [3, 5] })
    expect(await read('&limit=2&before=3')).toEqual({ count: 5, next: null, ordinals: [1] })
  })

  it('are limited in bytes, also when each byte of a body takes six of them', async () => {
    const service = await startService({ enforceQuotas: false })
    const body = '\u0001'.repeat(10_240)
    await addFault(service, { respond: { status: 500, body }, phase: 'after' })
    const entries = Math.ceil(pageBytes / (2 * 6 * 10_240)) + 20
    for (let number = 0; number < entries; number++) {
      await sendRequest('POST', `${service.baseUrl}/domains`, body, withKey(API_KEY))
    }
    const { text, data } = await askControl(service, 'GET', `/requests?limit=${pageLimit}`)
    expect(data.requests[0].request.body).toBe(body)
    expect(data.requests[0].response.body).toBe(body)
    expect(data.count).toBe(entries)
    expect(text.length).toBeGreaterThan(0.9 * pageBytes)
    expect(text.length).toBeLessThan(pageBytes + 10_000)
    expect((await readPages(service, `/requests?limit=${pageLimit}`)).flat()).toHaveLength(entries)
  })
})

describe('A journal of very many requests', () => {
  const LONG: [method: string, path: string, body?: object][] = [
    ['GET', '/requests?status=404'],
    ['GET', `${AT}/requests?operation=addDomains`],
    ['GET', `${AT}/requests?path=/nothing-at-all`],
    ['POST', `${AT}/requests/verify`, { match: { status: 404 } }],
  ]
  it.each(LONG)('is gone through in turns, between which others are served: %s %s', async (...asked) => {
    const service = await startService()
    await service.get('/domains')
    // The control plane is loaded by now.
    await askControl(service, 'GET', '/requests')
    const { newestFirst } = Journal.prototype
    const many = vi.spyOn(Journal.prototype, 'newestFirst').mockImplementation(function* (this: Journal, account) {
      const entry = newestFirst.call(this, account).next().value
      for (let count = 0; entry && count < 1_000_000; count++) yield entry
    })
    onTestFinished(() => many.mockRestore())
    let isAnswered = false
    const answer = askControl(service, ...asked).finally(() => {
      isAnswered = true
    })
    let served = 0
    for (; !isAnswered; served++) await askControl(service, 'GET', '/health')
    await answer
    // Without turns, all others would wait until the end.
    expect(served).toBeGreaterThan(3)
  })
})

describe('The pages of rules with long bodies', () => {
  it('are limited in bytes', async () => {
    const service = await startService()
    const rule = { respond: { status: 500, body: '\u0001'.repeat(60_000) }, probability: 0 }
    for (let number = 0; number < 30; number++) await addFault(service, rule)
    const { text, data } = await askControl(service, 'GET', '/accounts/default/faults')
    expect(text.length).toBeLessThan(pageBytes + 10_000)
    expect(data.count).toBe(30)
    expect((await readPages(service, '/accounts/default/faults')).flat()).toHaveLength(30)
  })
})

describe('A list with an item that the document forbids', () => {
  it('is cut off where its beginning is sent already, and is 500 where it is short', async () => {
    const store = openMemoryStore()
    const log = recordingLog()
    const service = await startService({ store, log })
    // So many are sent in several chunks.
    const count = 400
    for (let number = 1; number <= count; number++) await askControl(service, 'POST', '/accounts', { fixture: 'empty' })
    const { read } = store
    store.read = async (id) => {
      const account = await read.call(store, id)
      return id === `account-${count}` ? { ...account, seed: -1 } : account
    }
    const url = `${new URL(service.baseUrl).origin}/__admin/accounts`
    await expect(sendRequest('GET', `${url}?limit=${pageLimit}`)).rejects.toThrow(/aborted|socket hang up|ECONNRESET/)
    const { status, error } = await askControl(service, 'GET', `/accounts?limit=2&after=account-${count - 1}`)
    expect([status, error.code]).toEqual([500, 'internal_error'])
    const violation = { err: expect.objectContaining({ message: expect.stringContaining('violates the document') }) }
    expect(log.errors).toMatchObject([violation, violation])
  })
})
