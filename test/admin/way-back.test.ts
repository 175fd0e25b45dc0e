import { describe, expect, it } from 'vitest'
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts'

// What a restored snapshot and a rewind bring back is in reset.test.ts.
const PATH = '/accounts/default'
const SNAPSHOTS = `${PATH}/snapshots`
const NAMES = ['a.example', 'b.example', 'c.example', 'd.example']
const NOT_FOUND = { status: 404, error: { code: 'not_found' } }
const TAKEN = { status: 409, error: { code: 'taken' } }

/** All that the control plane shows of what an account is. */
async function seenOf({ get }: ControlPlane): Promise<unknown[]> {
  const parts = ['/state', '/keys', '/quotas', '/faults', '/clock'].map(async (part) => (await get(PATH + part)).data)
  return Promise.all(parts)
}

function idOf({ headers }: { headers: Record<string, string | undefined> }): string {
  return headers['x-request-id'] ?? ''
}

describe('a snapshot', () => {
  it('has a name, which is taken until it is deleted or replaced', async () => {
    const { post, get, delete: remove } = await startControlPlane()
    for (const name of ['a', 'A.b_c~d-9', 'x'.repeat(100), '__proto__'])
      expect((await post(SNAPSHOTS, { name })).status).toBe(201)
    expect(await post(SNAPSHOTS, { name: 'a' })).toMatchObject(TAKEN)
    expect(await post(SNAPSHOTS, { name: 'a', replace: false })).toMatchObject(TAKEN)
    expect(await post(SNAPSHOTS, { name: 'a', replace: true })).toMatchObject({ status: 201 })
    expect((await remove(`${SNAPSHOTS}/a`)).status).toBe(200)
    expect(await remove(`${SNAPSHOTS}/a`)).toMatchObject(NOT_FOUND)
    expect(await post(`${SNAPSHOTS}/a/restore`)).toMatchObject(NOT_FOUND)
    expect((await get(SNAPSHOTS)).data.snapshots).toHaveLength(3)
  })

  it('knows of a fault rule how often it has acted, so that one that is used up does not act again', async () => {
    const { ask, get, post, key } = await startControlPlane()
    await post(`${PATH}/faults`, { respond: { error: 'rate_limited' }, times: 1 })
    expect((await ask(key, 'GET', '/domains')).status).toBe(429)
    await post(SNAPSHOTS, { name: 'used-up' })
    await post(`${SNAPSHOTS}/used-up/restore`)
    expect((await ask(key, 'GET', '/domains')).status).toBe(200)
    expect((await get(`${PATH}/faults`)).data.faults).toMatchObject([{ hits: 1 }])
  })
})

describe('a way back', () => {
  it('leads as often as wanted to an earlier request, given in any case, or to a later one, and leaves the journal', async () => {
    const { post, get, ask, key } = await startControlPlane()
    const ids: string[] = []
    for (const name of NAMES.slice(0, 3)) ids.push(idOf(await ask(key, 'POST', '/domains', { domains: [name] })))
    for (const index of [2, 0, 1, 1, 2]) {
      const { data } = await post(`${PATH}/rewind`, { request_id: ids[index]?.toUpperCase() })
      expect(data.account.domains).toBe(index)
    }
    expect((await get(`${PATH}/requests`)).data.count).toBe(3)
  })

  it('brings back a key with its secret, unless another account has the key now', async () => {
    const { post, get, delete: remove, ask, create } = await startControlPlane()
    const secret = 'a-secret-of-mine'
    const { key } = (await post(`${PATH}/keys`, { key: secret })).data
    await post(SNAPSHOTS, { name: 's' })
    const request_id = idOf(await ask(secret, 'GET', '/domains'))
    const ways = [() => post(`${PATH}/rewind`, { request_id }), () => post(`${SNAPSHOTS}/s/restore`)]
    for (const goBack of ways) {
      await remove(`${PATH}/keys/${key.id}`)
      expect((await goBack()).status).toBe(200)
      expect((await ask(secret, 'GET', '/domains')).status).toBe(200)
    }
    await remove(`${PATH}/keys/${key.id}`)
    await create({ api_key: secret })
    for (const goBack of ways) expect(await goBack()).toMatchObject(TAKEN)
    expect((await get(`${PATH}/keys`)).data.keys).toHaveLength(1)
  })

  it.each(['rewind', 'state'])('is refused with the reason where there is none (%s)', async (what) => {
    const plane = await startControlPlane({ journal: 2 })
    const { post, get, ask, create, key, delete: remove } = plane
    const go = (id: string) =>
      what === 'state' ? get(`${PATH}/state?before=${id}`) : post(`${PATH}/rewind`, { request_id: id })
    const refusal = (message: string) => ({ status: 404, error: { code: 'not_found', message } })
    const before = await seenOf(plane)
    expect(await go('no-such-id')).toMatchObject(refusal('There is no request "no-such-id".'))
    const other = await create({ id: 'other' })
    const foreign = idOf(await ask(other.key, 'GET', '/domains'))
    expect(await go(foreign)).toMatchObject(
      refusal(`The request "${foreign}" is one of the account other, not of default.`),
    )
    const unknown = idOf(await ask('nobody', 'GET', '/domains'))
    expect(await go(unknown)).toMatchObject(refusal(`The request "${unknown}" belongs to no account.`))
    expect(await seenOf(plane)).toEqual(before)
    const oldest = idOf(await ask(key, 'GET', '/domains'))
    expect((await go(oldest)).status).toBe(200)
    for (let sent = 0; sent < 2; sent++) await ask(key, 'GET', '/domains')
    expect(await go(oldest)).toMatchObject(refusal(`There is no request "${oldest}".`))
    const newest = idOf(await ask(key, 'GET', '/domains'))
    await remove(`${PATH}/requests`)
    expect(await go(newest)).toMatchObject(refusal(`There is no request "${newest}".`))
  })
})

/** What happens to an account: requests to the service, and changes at the control plane. */
const HISTORY: readonly [plane: 'service' | 'admin', method: string, path: string, body: object][] = [
  ['service', 'POST', '/domains', { domains: ['b.example', 'c.example'] }],
  ['admin', 'POST', '/faults', { respond: { error: 'rate_limited' }, probability: 0.5, times: 2 }],
  ['service', 'POST', '/domaingroups', { name: 'G', domains: ['b.example'] }],
  ['service', 'POST', '/domaingroups', { name: 'H', domains: ['c.example'] }],
  ['admin', 'PUT', '/domains/b.example/features', { features: ['f'] }],
  ['service', 'DELETE', '/domains', { domains: ['b.example'] }],
  ['admin', 'PATCH', '/clock', { advance: 'PT20M' }],
  ['service', 'PATCH', '/domaingroups?id=aaaaaaaa', { add_domains: ['a.example'] }],
  ['admin', 'PATCH', '/quotas', { bucket: 'domains', remaining: 1 }],
  ['service', 'DELETE', '/domains', { domains: ['a.example', 'c.example'] }],
  ['admin', 'PUT', '/state', { domains: ['d.example'], plan: 'above-stone' }],
  ['service', 'POST', '/domains', { domains: ['e.example'] }],
  ['service', 'POST', '/domains', { domains: 1 }],
]

it('What an account was is shown and brought back for each request, and the same requests get the same answers again', async () => {
  const groups = [{ id: 'aaaaaaaa', name: 'F' }]
  const plane = await startControlPlane({ fixture: { domains: ['a.example'], groups }, frozen: true })
  /** Does the rest of the history, and returns what was before each request, its id and its answer. */
  async function play(from: number) {
    const told: { index: number; id: string; seen: unknown[]; answer: unknown }[] = []
    for (const [offset, [kind, method, path, body]] of HISTORY.slice(from).entries()) {
      const seen = await seenOf(plane)
      if (kind === 'admin') await plane.send(method, PATH + path, body)
      else {
        const { status, headers, text } = await plane.ask(plane.key, method, path, body)
        const { 'x-request-id': id = '', ...rest } = headers
        told.push({ index: from + offset, id, seen, answer: [status, rest, text] })
      }
    }
    return told
  }
  const first = await play(0)
  expect(first.map(({ answer }) => (answer as number[])[0])).toContain(429)
  for (const { id, seen } of first) expect((await plane.get(`${PATH}/state?before=${id}`)).data).toEqual(seen[0])
  for (const { id, index, seen } of [first[3], first[0], first[6]].flatMap((each) => each ?? [])) {
    expect((await plane.post(`${PATH}/rewind`, { request_id: id })).status).toBe(200)
    expect(await seenOf(plane)).toEqual(seen)
    const again = (await play(index)).map(({ id: _, ...rest }) => rest)
    expect(again).toEqual(first.filter((each) => each.index >= index).map(({ id: _, ...rest }) => rest))
  }
})
