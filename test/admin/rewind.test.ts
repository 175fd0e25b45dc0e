import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withKey } from '../support/account.ts'
import { actionsFor } from '../support/alternatives.ts'
import { budget } from '../support/budget.ts'
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { sendRequest } from '../support/request.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const PATH = '/accounts/default'
const HOUR = 3_600_000
const SEED = Number(process.env['REWIND_SEED'] ?? 20260115)

/** All that the control plane shows of what an account is. */
async function seenOf({ get }: ControlPlane): Promise<unknown[]> {
  const parts = ['/state', '/keys', '/quotas', '/faults', '/clock'].map(async (part) => (await get(PATH + part)).data)
  return Promise.all(parts)
}

function idOf({ headers }: { headers: Record<string, string | undefined> }): string {
  return headers['x-request-id'] ?? ''
}

describe('a rewind', () => {
  it('brings back state, keys, clock, quotas and faults of just before a request, and leaves the journal', async () => {
    const plane = await startControlPlane({ fixture: { domains: ['a.example', 'b.example'] }, frozen: true })
    const { get, post, put, patch, ask, advance, delete: remove, understudy } = plane
    const key = understudy.apiKey ?? ''
    await ask(key, 'POST', '/domaingroups', { name: 'G', domains: ['a.example'] })
    await put(`${PATH}/domains/b.example/features`, { features: ['mta-sts'] })
    await put(`${PATH}/domains/b.example/dmarc`, { p: 'reject' })
    await patch(`${PATH}/quotas`, { bucket: 'dmarc', remaining: 7 })
    await post(`${PATH}/faults`, { respond: { error: 'rate_limited' }, match: { operation: 'listDmarc' }, times: 3 })
    await ask(key, 'GET', '/dmarc')
    const before = await seenOf(plane)
    const request = idOf(await ask(key, 'DELETE', '/domains', { domains: ['a.example'] }))
    for (let round = 1; round <= 2; round++) {
      advance(HOUR)
      await post(`${PATH}/keys`, { key: `later-${round}` })
      await put(`${PATH}/domains/b.example/features`, { features: [] })
      await remove(`${PATH}/domains/b.example/dmarc`)
      await ask(key, 'GET', '/dmarc')
      await remove(`${PATH}/faults`)
      await patch(`${PATH}/clock`, { advance: 'P30D', frozen: false })
      await put(`${PATH}/state`, { domains: ['c.example'], plan: 'above-stone' })
      await ask(key, 'GET', '/dmarc')
      const { count } = (await get(`${PATH}/requests`)).data
      const { status, data } = await post(`${PATH}/rewind`, { request_id: request })
      expect([status, data.account.now]).toEqual([200, '2026-01-15T09:30:00Z'])
      expect(await seenOf(plane)).toEqual(before)
      expect((await get(`${PATH}/requests`)).data.count).toBe(count)
      expect((await ask(`later-${round}`, 'GET', '/domains')).status).toBe(401)
    }
    const ids = (await get(`${PATH}/requests`)).data.requests.map((each: { request_id: string }) => each.request_id)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('takes an id in capital letters, and goes on to a later request', async () => {
    const { post, ask, understudy } = await startControlPlane()
    const key = understudy.apiKey ?? ''
    const ids: string[] = []
    for (const name of ['a', 'b', 'c']) {
      ids.push(idOf(await ask(key, 'POST', '/domains', { domains: [`${name}.example`] })))
    }
    for (const index of [2, 0, 1, 2]) {
      const { data } = await post(`${PATH}/rewind`, { request_id: ids[index]?.toUpperCase() })
      expect(data.account.domains).toBe(index)
    }
  })

  it('undoes an import, a restored snapshot, and a request that failed after its change', async () => {
    const { get, put, post, ask, understudy } = await startControlPlane({ fixture: { domains: ['a.example'] } })
    const key = understudy.apiKey ?? ''
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

  it('goes back to the newer of two requests with one id', async () => {
    const { post, get, ask, understudy } = await startControlPlane({ seed: 7 })
    const key = understudy.apiKey ?? ''
    const first = idOf(await ask(key, 'POST', '/domains', { domains: ['a.example'] }))
    await post(`${PATH}/reset`, { fixture: { domains: ['x.example', 'y.example'] } })
    expect(idOf(await ask(key, 'POST', '/domains', { domains: ['a.example'] }))).toBe(first)
    expect((await post(`${PATH}/rewind`, { request_id: first })).data.account.domains).toBe(2)
    expect((await get(`${PATH}/state?before=${first}`)).data.domains).toHaveLength(2)
  })

  it('goes back to the newer of two requests with the id that their client has chosen', async () => {
    const overlay = writeOverlay(temporaryFolder(), actionsFor('client-request-ids-1'))
    const { post, understudy } = await startControlPlane({ overlays: [overlay] })
    const headers = { 'x-request-id': 'My-Own.Id', ...withKey(understudy.apiKey ?? '') }
    for (const name of ['a', 'b', 'c']) {
      await sendRequest('POST', `${understudy.baseUrl}/domains`, { domains: [`${name}.example`] }, headers)
    }
    expect((await post(`${PATH}/rewind`, { request_id: 'My-Own.Id' })).data.account.domains).toBe(2)
    expect((await post(`${PATH}/rewind`, { request_id: 'my-own.id' })).status).toBe(404)
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
    const { post, get, ask, create, understudy, delete: remove } = plane
    const key = understudy.apiKey ?? ''
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

  it('needs the id of a request, as a text', async () => {
    const { post } = await startControlPlane()
    for (const [body, code] of [
      [{}, 'missing_field'],
      [{ request_id: 1 }, 'invalid_field_type'],
      [{ request_id: 'a', at: 'b' }, 'unknown_field'],
    ] as const) {
      expect(await post(`${PATH}/rewind`, body)).toMatchObject({ status: 400, error: { code } })
    }
  })

  it('is not possible without a journal', async () => {
    const { post, ask, understudy } = await startControlPlane({ journal: 0 })
    const id = idOf(await ask(understudy.apiKey ?? '', 'GET', '/domains'))
    expect((await post(`${PATH}/rewind`, { request_id: id })).status).toBe(404)
  })
})

/** Something that happens to an account. */
interface Deed {
  plane: 'service' | 'admin' | 'time'
  method: string
  path: string
  body?: unknown
  key?: string
}

const NAMES = ['a', 'b', 'c', 'd'].map((name) => `${name}.example`)
const names = fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 })
/** The id of a group is put in when it is used. */
const GROUP = '/domaingroups?id={group}'

function service(method: string, path: string, body: fc.Arbitrary<unknown> = fc.constant(undefined)) {
  const keys = fc.constantFrom('', '', '', 'extra-1', 'extra-2')
  return fc.record({
    plane: fc.constant('service' as const),
    method: fc.constant(method),
    path: fc.constant(path),
    body,
    key: keys,
  })
}

function admin(method: string, path: string, body: fc.Arbitrary<unknown> = fc.constant(undefined)) {
  const plane = fc.constant('admin' as const)
  return fc.record({ plane, method: fc.constant(method), path: fc.constant(path), body })
}

const deeds: fc.Arbitrary<Deed> = fc.oneof(
  { arbitrary: service('POST', '/domains', fc.record({ domains: names })), weight: 8 },
  { arbitrary: service('DELETE', '/domains', fc.record({ domains: names })), weight: 6 },
  { arbitrary: service('GET', '/domains'), weight: 2 },
  { arbitrary: service('GET', '/dmarc'), weight: 2 },
  { arbitrary: service('POST', '/domains', fc.constant({ domains: 1 })), weight: 1 },
  {
    arbitrary: service(
      'POST',
      '/domaingroups',
      fc.record({ name: fc.constantFrom('G', 'H'), domains: fc.constant([]) }),
    ),
    weight: 4,
  },
  { arbitrary: service('PATCH', GROUP, fc.record({ add_domains: names })), weight: 3 },
  { arbitrary: service('DELETE', GROUP), weight: 2 },
  {
    arbitrary: admin('PUT', '/domains/a.example/features', fc.record({ features: fc.constantFrom([], ['f']) })),
    weight: 1,
  },
  {
    arbitrary: admin('PUT', '/domains/b.example/dmarc', fc.record({ p: fc.constantFrom('none', 'reject') })),
    weight: 1,
  },
  { arbitrary: admin('PATCH', '/clock', fc.record({ advance: fc.constantFrom('PT10M', 'P1D') })), weight: 1 },
  {
    arbitrary: admin('PATCH', '/quotas', fc.record({ bucket: fc.constant('domains'), remaining: fc.nat(3) })),
    weight: 1,
  },
  { arbitrary: admin('POST', '/keys', fc.record({ key: fc.constantFrom('extra-1', 'extra-2') })), weight: 2 },
  { arbitrary: admin('DELETE', '/keys/{key}'), weight: 1 },
  {
    arbitrary: admin(
      'POST',
      '/faults',
      fc.record({
        respond: fc.constant({ error: 'rate_limited' }),
        probability: fc.constant(0.5),
        times: fc.constant(2),
      }),
    ),
    weight: 1,
  },
  { arbitrary: admin('DELETE', '/faults'), weight: 1 },
  {
    arbitrary: admin('PUT', '/state', fc.record({ domains: names, plan: fc.constantFrom('stone', 'below-stone') })),
    weight: 1,
  },
  { arbitrary: admin('POST', '/rewind', fc.constant({ request_id: '{request}' })), weight: 2 },
  { arbitrary: fc.constant({ plane: 'time' as const, method: '', path: '' }), weight: 1 },
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
  const { get, send, ask, advance, understudy } = plane
  if (deed.plane === 'time') {
    advance(20 * 60_000)
    return undefined
  }
  const { groups } = (await get(`${PATH}/state`)).data
  const key = (await get(`${PATH}/keys`)).data.keys.at(-1)
  const path = deed.path.replace('{group}', groups[0]?.id ?? 'aaaaaaaa').replace('{key}', key?.id ?? 'none')
  if (deed.plane === 'admin') {
    const isRewind = deed.path === '/rewind'
    if (isRewind && told.length === 0) return undefined
    // The account keeps its first key, so that there are requests.
    if (deed.path === '/keys/{key}' && (await get(`${PATH}/keys`)).data.count === 1) return undefined
    await send(deed.method, PATH + path, isRewind ? { request_id: told[Math.floor(told.length / 2)]?.id } : deed.body)
    return undefined
  }
  const received = await ask(deed.key || (understudy.apiKey ?? ''), deed.method, path, deed.body)
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
      { seed: SEED, numRuns: budget({ quick: 8, full: 100 }) },
    )
  })
})
