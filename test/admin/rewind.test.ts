import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HOUR } from '../support/account.ts'
import { budget } from '../support/budget.ts'
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts'

const PATH = '/accounts/default'
const NAMES = ['a.example', 'b.example', 'c.example', 'd.example']
const SEED = Number(process.env['REWIND_SEED'] ?? 20260115)

/** All that the control plane shows of what an account is. */
async function seenOf({ get }: ControlPlane): Promise<unknown[]> {
  const parts = ['/state', '/keys', '/quotas', '/faults', '/clock'].map(async (part) => (await get(PATH + part)).data)
  return Promise.all(parts)
}

function idOf({ headers }: { headers: Record<string, string | undefined> }): string {
  return headers['x-request-id'] ?? ''
}

/** Each way back: what is done before, and the request that leads back. */
const WAYS: Readonly<Record<string, (plane: ControlPlane) => Promise<[path: string, body?: object]>>> = {
  async 'a snapshot'({ post }) {
    const taken = await post(`${PATH}/snapshots`, { name: 'before' })
    const shown = { name: 'before', taken_at: '2026-01-15T09:30:00Z', domains: 2, groups: 1 }
    expect(taken).toMatchObject({ status: 201, data: { snapshot: shown } })
    return ['/snapshots/before/restore']
  },
  async 'a rewind'({ ask, key }) {
    return ['/rewind', { request_id: idOf(await ask(key, 'DELETE', '/domains', { domains: ['a.example'] })) }]
  },
}

describe.each(Object.entries(WAYS))('%s', (_, prepare) => {
  it.each([true, false])('brings back all that an account has, and leaves the journal (frozen: %j)', async (frozen) => {
    const plane = await startControlPlane({ fixture: { domains: ['a.example', 'b.example'] }, frozen })
    const { get, post, put, patch, ask, advance, delete: remove, key } = plane
    await ask(key, 'POST', '/domaingroups', { name: 'G', domains: ['a.example'] })
    await put(`${PATH}/domains/b.example/features`, { features: ['mta-sts'] })
    await put(`${PATH}/domains/b.example/dmarc`, { p: 'reject' })
    await patch(`${PATH}/quotas`, { bucket: 'dmarc', remaining: 7 })
    await post(`${PATH}/faults`, { respond: { error: 'rate_limited' }, match: { operation: 'listDmarc' }, times: 3 })
    await ask(key, 'GET', '/dmarc')
    const before = await seenOf(plane)
    const [path, body] = await prepare(plane)
    for (let round = 1; round <= 2; round++) {
      advance(HOUR)
      await post(`${PATH}/keys`, { key: `later-${round}` })
      await put(`${PATH}/domains/b.example/features`, { features: [] })
      await remove(`${PATH}/domains/b.example/dmarc`)
      await ask(key, 'GET', '/dmarc')
      await remove(`${PATH}/faults`)
      await patch(`${PATH}/clock`, { advance: 'P30D', frozen: !frozen })
      await ask(key, 'DELETE', '/domains', { domains: ['a.example', 'b.example'] })
      await put(`${PATH}/state`, { domains: ['c.example'], plan: 'above-stone' })
      await ask(key, 'GET', '/dmarc')
      const { count } = (await get(`${PATH}/requests`)).data
      for (let time = 1; time <= 2; time++) {
        const { status, data } = await post(PATH + path, body)
        expect([status, data.account.now]).toEqual([200, '2026-01-15T09:30:00Z'])
        expect(await seenOf(plane)).toEqual(before)
      }
      expect((await get(`${PATH}/requests`)).data.count).toBe(count)
      expect((await ask(`later-${round}`, 'GET', '/domains')).status).toBe(401)
    }
    const ids = (await get(`${PATH}/requests`)).data.requests.map((each: { request_id: string }) => each.request_id)
    expect(new Set(ids).size).toBe(ids.length)
  })
})

describe('a rewind', () => {
  it('takes an id in capital letters, and goes on to a later request', async () => {
    const { post, ask, key } = await startControlPlane()
    const ids: string[] = []
    for (const name of NAMES.slice(0, 3)) ids.push(idOf(await ask(key, 'POST', '/domains', { domains: [name] })))
    for (const index of [2, 0, 1, 2]) {
      const { data } = await post(`${PATH}/rewind`, { request_id: ids[index]?.toUpperCase() })
      expect(data.account.domains).toBe(index)
    }
  })

  it('undoes an import, a restored snapshot, and a request that failed after its change', async () => {
    const { get, put, post, ask, key } = await startControlPlane({ fixture: { domains: ['a.example'] } })
    await post(`${PATH}/snapshots`, { name: 's' })
    await post(`${PATH}/faults`, { phase: 'after', respond: { error: 'internal_error' }, times: 1 })
    const request = idOf(await ask(key, 'POST', '/domains', { domains: ['b.example'] }))
    await put(`${PATH}/state`, { domains: ['c.example'] })
    await ask(key, 'POST', '/domains', { domains: ['d.example'] })
    await post(`${PATH}/snapshots/s/restore`)
    expect((await post(`${PATH}/rewind`, { request_id: request })).data.account.domains).toBe(1)
    expect((await get(`${PATH}/faults`)).data.faults).toMatchObject([{ hits: 0 }])
    expect((await post(`${PATH}/snapshots/s/restore`)).status).toBe(200)
  })

  it('brings back a key with its secret, which the journal does not show, unless another account has the key now', async () => {
    const { post, get, delete: remove, ask, create } = await startControlPlane()
    const secret = 'a-secret-of-mine'
    const { key } = (await post(`${PATH}/keys`, { key: secret })).data
    const request = idOf(await ask(secret, 'GET', '/domains'))
    await remove(`${PATH}/keys/${key.id}`)
    expect((await post(`${PATH}/rewind`, { request_id: request })).status).toBe(200)
    await ask(secret, 'POST', '/domaingroups', { name: secret })
    expect((await get(`${PATH}/requests`)).text).not.toContain(secret)
    await remove(`${PATH}/keys/${key.id}`)
    await create({ api_key: secret })
    const refusal = await post(`${PATH}/rewind`, { request_id: request })
    expect(refusal).toMatchObject({ status: 409, error: { code: 'taken' } })
    expect((await get(`${PATH}/keys`)).data.keys).toHaveLength(1)
  })

  it.each(['rewind', 'state'])('says why there is no way back (%s)', async (what) => {
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

/** Something that happens to an account: a request, or time that goes by. */
interface Deed {
  plane: 'service' | 'admin' | 'time'
  method: string
  path: string
  body?: unknown
  key?: string
}

const names = fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 })
const keys = fc.constantFrom('', '', '', 'extra-1', 'extra-2')
/** The ids of a group, a key and a request are put in when they are used. */
const GROUP = '/domaingroups?id={group}'

/** A deed with this weight among all; `fields` are those of its body. */
function deed(weight: number, plane: Deed['plane'], request: string, fields?: Record<string, fc.Arbitrary<unknown>>) {
  const [method = '', path = ''] = request.split(' ')
  const body = fields === undefined ? fc.constant(undefined) : fc.record(fields)
  return { weight, arbitrary: fc.record({ body, key: keys }).map((drawn) => ({ plane, method, path, ...drawn })) }
}

const RULE = {
  respond: fc.constant({ error: 'rate_limited' }),
  probability: fc.constant(0.5),
  times: fc.constant(2),
}
const deeds: fc.Arbitrary<Deed> = fc.oneof(
  deed(8, 'service', 'POST /domains', { domains: names }),
  deed(6, 'service', 'DELETE /domains', { domains: names }),
  deed(2, 'service', 'GET /domains'),
  deed(2, 'service', 'GET /dmarc'),
  deed(1, 'service', 'POST /domains', { domains: fc.constant(1) }),
  deed(4, 'service', 'POST /domaingroups', { name: fc.constantFrom('G', 'H'), domains: fc.constant([]) }),
  deed(3, 'service', `PATCH ${GROUP}`, { add_domains: names }),
  deed(2, 'service', `DELETE ${GROUP}`),
  deed(1, 'admin', 'PUT /domains/a.example/features', { features: fc.constantFrom([], ['f']) }),
  deed(1, 'admin', 'PUT /domains/b.example/dmarc', { p: fc.constantFrom('none', 'reject') }),
  deed(1, 'admin', 'PATCH /clock', { advance: fc.constantFrom('PT10M', 'P1D') }),
  deed(1, 'admin', 'PATCH /quotas', { bucket: fc.constant('domains'), remaining: fc.nat(3) }),
  deed(2, 'admin', 'POST /keys', { key: fc.constantFrom('extra-1', 'extra-2') }),
  deed(1, 'admin', 'DELETE /keys/{key}'),
  deed(1, 'admin', 'POST /faults', RULE),
  deed(1, 'admin', 'DELETE /faults'),
  deed(1, 'admin', 'PUT /state', { domains: names, plan: fc.constantFrom('stone', 'below-stone') }),
  deed(2, 'admin', 'POST /rewind', { request_id: fc.constant('{request}') }),
  deed(1, 'time', ''),
)

/** A request of the account, what the account was before it, and what it was answered. */
interface Told {
  id: string
  seen: unknown[]
  answer: unknown
  /** The number of its deed. */
  index: number
}

/** Does one thing. What it is about is chosen from what there is, so that the same account gives the same. */
async function act(
  plane: ControlPlane,
  deed: Deed,
  told: readonly Told[],
): Promise<{ id: string; answer: unknown } | undefined> {
  const { get, send, ask, advance } = plane
  if (deed.plane === 'time') {
    advance(20 * 60_000)
    return undefined
  }
  const { groups } = (await get(`${PATH}/state`)).data
  const { keys } = (await get(`${PATH}/keys`)).data
  const path = deed.path.replace('{group}', groups[0]?.id ?? 'aaaaaaaa').replace('{key}', keys.at(-1)?.id ?? 'none')
  if (deed.plane === 'admin') {
    const isRewind = deed.path === '/rewind'
    if (isRewind && told.length === 0) return undefined
    // The account keeps its first key, so that there are requests.
    if (deed.path === '/keys/{key}' && keys.length === 1) return undefined
    await send(deed.method, PATH + path, isRewind ? { request_id: told[Math.floor(told.length / 2)]?.id } : deed.body)
    return undefined
  }
  const received = await ask(deed.key || plane.key, deed.method, path, deed.body)
  const { 'x-request-id': id = '', ...headers } = received.headers
  return { id, answer: [received.status, headers, received.text] }
}

describe('what an account was', () => {
  it(`is shown and brought back for each request, and the same requests get the same answers again (seed ${SEED})`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(deeds, { minLength: 5, maxLength: 30 }), fc.nat(), async (history, chosen) => {
        const plane = await startControlPlane({ fixture: { domains: ['a.example'], groups: [{ name: 'F' }] } })
        const { get, post, stop } = plane
        const told: Told[] = []
        for (const [index, deed] of history.entries()) {
          const seen = await seenOf(plane)
          const done = await act(plane, deed, told)
          const kept = done && (await get(`${PATH}/requests`)).text.includes(done.id)
          if (done !== undefined && kept) told.push({ ...done, seen, index })
        }
        for (const { id, seen } of told) {
          const { data } = await get(`${PATH}/state?before=${id}`)
          expect(data).toEqual(seen[0])
        }
        const target = told[chosen % Math.max(1, told.length)]
        if (target !== undefined) {
          expect((await post(`${PATH}/rewind`, { request_id: target.id })).status).toBe(200)
          expect(await seenOf(plane)).toEqual(target.seen)
          for (let index = target.index; index < history.length; index++) {
            const done = await act(
              plane,
              history[index] as Deed,
              told.filter((each) => each.index < index),
            )
            const first = told.find((each) => each.index === index)
            if (first !== undefined) expect(done?.answer).toEqual(first.answer)
          }
        }
        await stop()
      }),
      { seed: SEED, numRuns: budget({ quick: 2, whole: 8, full: 100 }) },
    )
  })
})
