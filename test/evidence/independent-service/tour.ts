/** Whoever sends the requests of the tour. */
export interface TourClient {
  /** With the key `Bearer …` unless `authorization` says otherwise; `null` is without one. */
  send(
    method: string,
    path: string,
    body?: unknown,
    authorization?: string | null,
  ): Promise<{ status: number; body?: unknown }>
  /** Moves the clock of the service forward, in milliseconds. */
  advance(milliseconds: number): void
}

export const TOUR_KEY = 'key_TourKey1.333333333333333333333333333333333333333333333333'
export const OTHER_TOUR_KEY = 'key_TourKey2.444444444444444444444444444444444444444444444444'

/** What the account of a tour holds at the beginning. */
export const TOUR_ACCOUNT = {
  domains: ['a.example', 'b.example', 'c.example', 'd.example', 'used.example'],
  inUse: ['used.example'],
  groups: [
    { name: 'Shop', domains: ['a.example', 'b.example'] },
    { name: 'Mail', domains: ['b.example', 'c.example'] },
    { name: 'Empty', domains: [] },
  ],
}

const HOUR = 3_600_000

/** Parts of the tour. Each begins with a look at everything, so that it can be made alone. */
export const SECTIONS: readonly ((client: TourClient) => Promise<void>)[] = [
  lookAround,
  tryKeys,
  changeDomains,
  createGroups,
  updateGroups,
  deleteGroups,
  spendQuotas,
]

/** Requests that show whatever a service can do wrong, each after those that are needed to tell. */
export async function makeTour(client: TourClient): Promise<void> {
  for (const section of SECTIONS) {
    await section(client)
    client.advance(HOUR)
  }
}

async function lookAround({ send }: TourClient): Promise<void> {
  await send('GET', '/domains')
  await send('GET', '/dmarc')
  await send('GET', '/dmarc')
  const [, second] = await groupsOf({ send })
  await send('GET', `/domaingroups?id=${second}`)
  await send('GET', '/domaingroups?id=Unknown1')
  await send('GET', '/nowhere')
  await send('PUT', '/domains')
}

async function tryKeys({ send }: TourClient): Promise<void> {
  await look({ send })
  const keys = [null, `Bearer ${'x'.repeat(60)}`, `Token ${TOUR_KEY}`, TOUR_KEY, `bearer ${TOUR_KEY}`]
  for (const authorization of keys) await send('GET', '/domaingroups', undefined, authorization)
  await send('GET', '/domaingroups', undefined, `Bearer ${OTHER_TOUR_KEY}`)
  await send('GET', '/domaingroups')
}

async function changeDomains({ send }: TourClient): Promise<void> {
  await look({ send })
  const add = (...domains: unknown[]) => send('POST', '/domains', { domains })
  const remove = (...domains: unknown[]) => send('DELETE', '/domains', { domains })
  const many = Array.from({ length: 51 }, (_, index) => `many-${index}.example`)
  await add('New.example', 'x.example', 'y.example')
  await send('GET', '/domains')
  await add('a.example', 'z.example')
  await add('A.example')
  await add('z.example', 'Z.example.')
  await add(...many)
  await remove(...many)
  await add(...many.slice(1))
  await remove(...many.slice(1))
  await send('GET', '/domains')
  await add('https://x.example/path')
  await add('_dmarc.x.example')
  await add(7)
  await send('POST', '/domains', { domains: ['z.example'], note: 'x' })
  await send('POST', '/domains', '{"domains":')
  await send('POST', '/domains', {})
  await remove('y.example')
  await send('GET', '/domains')
  await remove('used.example')
  await remove('unknown.example')
  await remove('c.example')
  await send('GET', '/domains')
  await send('GET', '/domaingroups')
  await send('GET', '/dmarc')
}

async function createGroups({ send }: TourClient): Promise<void> {
  await look({ send })
  const create = (name: unknown, domains?: unknown) => send('POST', '/domaingroups', { name, domains })
  await create('New', ['a.example', 'd.example'])
  await send('GET', '/domaingroups')
  await create('Partial', ['a.example', 'nobody.example'])
  await create('Refused', ['nobody.example'])
  await send('GET', '/domaingroups')
  await create('SHOP')
  await create('Shop')
  await create('')
  await create('n'.repeat(100))
  await create('m'.repeat(101))
  await create(7)
  await send('POST', '/domaingroups', { domains: [] })
  await send('GET', '/domaingroups')
}

async function updateGroups({ send }: TourClient): Promise<void> {
  await look({ send })
  const [shop, mail] = await groupsOf({ send })
  const change = (fields: unknown, id = shop) => send('PATCH', `/domaingroups?id=${id}`, fields)
  await change({ name: 'Shops' })
  await change({ name: 'mail' })
  await change({ domains: ['d.example'] })
  await change({ add_domains: ['a.example', 'b.example'] })
  await change({ remove_domains: ['a.example', 'nobody.example'] })
  await change({ add_domains: ['used.example', 'a.example'], remove_domains: ['used.example'] })
  await send('GET', '/domaingroups')
  await change({ domains: ['a.example'], add_domains: ['b.example'] })
  await change({})
  await change({ add_domains: ['nobody.example'] })
  await change({ name: 'Other', more: true })
  await change({ name: 'Other' }, 'Unknown1')
  await send('PATCH', '/domaingroups', { name: 'Other' })
  await change({ name: 'Post' }, mail)
  await send('GET', '/domaingroups')
}

async function deleteGroups({ send }: TourClient): Promise<void> {
  await look({ send })
  const [shop] = await groupsOf({ send })
  await send('DELETE', '/domaingroups')
  await send('DELETE', '/domaingroups?id=Unknown1')
  await send('GET', '/domains')
  await send('DELETE', `/domaingroups?id=${shop}`)
  await send('GET', '/domaingroups')
  await send('GET', '/domains')
  await send('GET', `/domaingroups?id=${shop}`)
}

async function spendQuotas({ send }: TourClient): Promise<void> {
  await look({ send })
  for (let sent = 0; sent < 12; sent++) await send('GET', '/dmarc')
  for (let sent = 0; sent < 15; sent++) await send('GET', '/domains')
  await send('GET', '/domaingroups', undefined, `Bearer ${OTHER_TOUR_KEY}`)
  await send('GET', '/domaingroups')
  await send('GET', '/dmarc', undefined, `Bearer ${OTHER_TOUR_KEY}`)
  for (let sent = 0; sent < 20; sent++) await send('POST', '/domains', { domains: ['a.example'] })
}

async function look({ send }: Pick<TourClient, 'send'>): Promise<void> {
  await send('GET', '/domains')
  await send('GET', '/domaingroups')
}

/** The ids of the groups in the order of the list; a service that does not list them has an id that is none. */
async function groupsOf({ send }: Pick<TourClient, 'send'>): Promise<string[]> {
  const { body } = await send('GET', '/domaingroups')
  const { groups } = (body as { data?: { groups?: { id: string }[] } } | undefined)?.data ?? {}
  return Array.isArray(groups) ? groups.map(({ id }) => id) : []
}
