import { describe, expect, it } from 'vitest'
import { askControl, readPages } from '../support/control-plane.ts'
import { startService, type TestService } from '../support/service.ts'

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
    const id = page[name][0][idOf]
    expect(page.next).toBe(path.endsWith('/requests') ? id : `${whole.count - 1}:${id}`)
    const pages = await readPages(service, `${path}?limit=3`)
    expect(pages.slice(0, -1).map((page) => page.length)).toEqual(pages.slice(1).map(() => 3))
    expect((path.endsWith('/requests') ? pages.reverse() : pages).flat()).toEqual(whole[name])
    expect(new Set(whole[name].map((item: Record<string, unknown>) => item[idOf])).size).toBe(whole.count)
  })
})

describe('A list whose items are deleted meanwhile', () => {
  const namesIn = ({ data }: { data: { snapshots: { name: string }[] } }) => data.snapshots.map(({ name }) => name)

  it.each([
    ['the item that the cursor names', ['s2'], ['s3', 's4', 's5']],
    ['the whole page', ['s0', 's1', 's2'], ['s3', 's4', 's5']],
    ['items after it', ['s3', 's4'], ['s5', 's6']],
    ['all', ['s0', 's1', 's2', 's3', 's4', 's5', 's6'], []],
  ])('goes on with the next ones: %s', async (_, gone, names) => {
    const service = await startService()
    await postEach(`${AT}/snapshots`, (number) => ({ name: `s${number}` }))(service, 7)
    const { data } = await askControl(service, 'GET', `${AT}/snapshots?limit=3`)
    for (const name of gone) await askControl(service, 'DELETE', `${AT}/snapshots/${name}`)
    const next = await askControl(service, 'GET', `${AT}/snapshots?limit=3&after=${data.next}`)
    expect(namesIn(next)).toEqual(names)
  })

  it('has the rest for an id in place of a cursor', async () => {
    const service = await startService()
    await postEach(`${AT}/snapshots`, (number) => ({ name: `s${number}` }))(service, 3)
    expect(namesIn(await askControl(service, 'GET', `${AT}/snapshots?after=s1`))).toEqual(['s2'])
  })
})
