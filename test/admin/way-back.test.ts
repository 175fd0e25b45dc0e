import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readLimits } from '../../src/admin/document.ts'
import { type ControlPlane, controlApi, startControlPlane } from '../support/control-plane.ts'

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

  it('is one of so many, and one that replaces another is none more', async () => {
    const { post } = await startControlPlane()
    const { snapshotsPerAccount: limit } = readLimits(controlApi)
    for (let number = 1; number <= limit; number++) await post(SNAPSHOTS, { name: `s${number}` })
    expect(await post(SNAPSHOTS, { name: 'more' })).toMatchObject({ status: 409, error: { code: 'too_many' } })
    expect((await post(SNAPSHOTS, { name: 's1', replace: true })).status).toBe(201)
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

/** Something that happens to an account. The id of a group is put in when it is used. */
interface Deed {
  plane: 'service' | 'admin'
  method: string
  path: string
  body?: unknown
}

/** A deed with this weight among all; `fields` are those of its body. */
function deed(weight: number, plane: Deed['plane'], request: string, fields: Record<string, fc.Arbitrary<unknown>>) {
  const [method = '', path = ''] = request.split(' ')
  return {
    weight,
    arbitrary: fc.record({ body: fc.record(fields) }).map(({ body }) => ({ plane, method, path, body })),
  }
}

const names = fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 })
const rule = { respond: fc.constant({ error: 'rate_limited' }), probability: fc.constant(0.5), times: fc.constant(2) }
const deeds: fc.Arbitrary<Deed> = fc.oneof(
  deed(8, 'service', 'POST /domains', { domains: names }),
  deed(6, 'service', 'DELETE /domains', { domains: names }),
  deed(4, 'service', 'POST /domaingroups', { name: fc.constantFrom('G', 'H'), domains: fc.constant([]) }),
  deed(3, 'service', 'PATCH /domaingroups?id={group}', { add_domains: names }),
  deed(2, 'service', 'POST /domains', { domains: fc.constant(1) }),
  deed(1, 'admin', 'PUT /domains/a.example/features', { features: fc.constantFrom([], ['f']) }),
  deed(1, 'admin', 'PUT /domains/b.example/dmarc', { p: fc.constantFrom('none', 'reject') }),
  deed(1, 'admin', 'PATCH /clock', { advance: fc.constantFrom('PT10M', 'P1D') }),
  deed(1, 'admin', 'PATCH /quotas', { bucket: fc.constant('domains'), remaining: fc.nat(3) }),
  deed(1, 'admin', 'POST /keys', { label: fc.constant('CI') }),
  deed(2, 'admin', 'POST /faults', rule),
  deed(1, 'admin', 'PUT /state', { domains: names, plan: fc.constantFrom('stone', 'below-stone') }),
)

/** Does one thing; returns the id and the answer of a request to the service. */
async function act({ get, send, ask, key }: ControlPlane, { plane, method, path, body }: Deed) {
  if (plane === 'admin') {
    await send(method, PATH + path, body)
    return undefined
  }
  const { groups } = (await get(`${PATH}/state`)).data
  const received = await ask(key, method, path.replace('{group}', groups[0]?.id ?? 'aaaaaaaa'), body)
  const { 'x-request-id': id = '', ...headers } = received.headers
  return { id, answer: [received.status, headers, received.text] }
}

it('What an account was is shown and brought back for each request, and the same requests get the same answers again', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(deeds, { minLength: 5, maxLength: 20 }), fc.nat(), async (history, chosen) => {
      const plane = await startControlPlane({ fixture: { domains: ['a.example'], groups: [{ name: 'F' }] } })
      const told: { id: string; seen: unknown[]; answer: unknown; index: number }[] = []
      for (const [index, each] of history.entries()) {
        const seen = await seenOf(plane)
        const done = await act(plane, each)
        if (done !== undefined) told.push({ ...done, seen, index })
      }
      for (const { id, seen } of told) expect((await plane.get(`${PATH}/state?before=${id}`)).data).toEqual(seen[0])
      const target = told[chosen % Math.max(1, told.length)]
      if (target === undefined) return
      expect((await plane.post(`${PATH}/rewind`, { request_id: target.id })).status).toBe(200)
      expect(await seenOf(plane)).toEqual(target.seen)
      for (const [offset, each] of history.slice(target.index).entries()) {
        const done = await act(plane, each)
        expect(done?.answer).toEqual(told.find(({ index }) => index === target.index + offset)?.answer)
      }
    }),
    { seed: 20260115, numRuns: 4 },
  )
})
