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

  it.each(['rewind', 'state'])('is refused with the reason where there is none (%s)', async (what) => {
    const plane = await startControlPlane({ journal: 2 })
    const { post, get, ask, create, key } = plane
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
  })
})

it('What an account was before a request is shown, and brought back with the same answers', async () => {
  const plane = await startControlPlane({ fixture: { domains: ['a.example'] }, frozen: true })
  const { ask, get, post, key } = plane
  async function play() {
    const { headers, text } = await ask(key, 'POST', '/domaingroups', { name: 'G', domains: ['a.example'] })
    const removal = await ask(key, 'DELETE', '/domains', { domains: ['a.example'] })
    return { id: idOf({ headers }), answers: [text, removal.text] }
  }
  await plane.patch(`${PATH}/quotas`, { bucket: 'domains', remaining: 1 })
  const before = await seenOf(plane)
  const first = await play()
  expect((await get(`${PATH}/state?before=${first.id}`)).data).toEqual(before[0])
  expect((await post(`${PATH}/rewind`, { request_id: first.id })).status).toBe(200)
  expect(await seenOf(plane)).toEqual(before)
  expect((await play()).answers).toEqual(first.answers)
})
