import { describe, expect, it, vi } from 'vitest'
import type { FormerAccount, Store, StoreExtras } from '../../src/store/store.ts'
import { applyUpdate, watch } from '../store/example-account.ts'
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts'
import { overMemory } from '../support/failing-store.ts'

const PATH = '/accounts/default'

type Recalling = Required<Pick<StoreExtras, 'recall'>>

/** A store that keeps what requests find, and gives them moments in place of it. */
function recallingStore(): Store & Recalling {
  const found: FormerAccount[] = []
  const versions: FormerAccount['state'][] = []
  const versionOf = (state: FormerAccount['state']): string => {
    if (!versions.includes(state)) versions.push(state)
    return `version ${versions.indexOf(state)}`
  }
  return overMemory<Recalling>((memory) => ({
    enter: ((keyHash, admission, request) =>
      memory.enter(
        keyHash,
        {
          ...admission,
          conclude(asked, entered) {
            const { quotas = new Map(), tallies = new Map() } = entered.countersBefore ?? {}
            const { incarnation, account: state } = entered
            const counters = { quotas: new Map(quotas.entries()), tallies: new Map(tallies.entries()) }
            const moment = { incarnation, version: versionOf(state), sequence: found.length }
            found.push({ incarnation, state, counters })
            return admission.conclude(asked, { ...entered, countersBefore: undefined, moment })
          },
        },
        request,
      )) satisfies Store['enter'],
    update: async (accountId, decide) => memory.update(accountId, (state) => decide(state, versionOf(state))),
    async recall({ version, sequence }) {
      const [state, former] = [versions[Number(version.slice('version '.length))], found[sequence]]
      return state && former && { ...former, state }
    },
  }))
}

function idOf({ headers }: { headers: Record<string, string | undefined> }): string {
  return headers['x-request-id'] ?? ''
}

async function domainsOf({ get }: ControlPlane): Promise<string[]> {
  const { domains } = (await get(`${PATH}/state`)).data
  return domains.map((each: { name: string } | string) => (typeof each === 'string' ? each : each.name))
}

describe('Where the store keeps what requests found', () => {
  it('a rewind and the state before a request ask it, with the version on which the request was decided', async () => {
    const store = recallingStore()
    const plane = await startControlPlane({ store, fixture: { domains: ['a.example'] } })
    const { get, post, ask, understudy } = plane
    const key = understudy.apiKey ?? ''
    const recalled = vi.spyOn(store, 'recall')
    // Somebody else changes the account after the request has entered it.
    const { update } = store
    vi.spyOn(store, 'update').mockImplementationOnce(async (...given) => {
      await applyUpdate(store, 'default', watch('between.example'))
      return update(...given)
    })
    const request = idOf(await ask(key, 'POST', '/domains', { domains: ['b.example'] }))
    await ask(key, 'POST', '/domains', { domains: ['c.example'] })
    const quotas = (await get(`${PATH}/quotas`)).data
    const { data } = await get(`${PATH}/state?before=${request}`)
    expect(data.domains).toHaveLength(2)
    expect((await post(`${PATH}/rewind`, { request_id: request })).status).toBe(200)
    expect(await domainsOf(plane)).toEqual(['a.example', 'between.example'])
    expect((await get(`${PATH}/quotas`)).data).not.toEqual(quotas)
    expect(recalled.mock.calls.map(([{ sequence }]) => sequence)).toEqual([0, 0])
  })

  it('what it no longer keeps is not found', async () => {
    const store = recallingStore()
    const { get, post, ask, understudy } = await startControlPlane({ store })
    const request = idOf(await ask(understudy.apiKey ?? '', 'GET', '/domains'))
    store.recall = async () => undefined
    const refusals = [post(`${PATH}/rewind`, { request_id: request }), get(`${PATH}/state?before=${request}`)]
    for (const { status, error } of await Promise.all(refusals))
      expect([status, error.code]).toEqual([404, 'not_found'])
  })

  it('the account is not rewound when another one has its id by then', async () => {
    const store = recallingStore()
    const { get, post, create, delete: remove, ask } = await startControlPlane({ store })
    const { key } = await create({ id: 'mine', fixture: { domains: ['a.example'] } })
    const request = idOf(await ask(key, 'DELETE', '/domains', { domains: ['a.example'] }))
    const recall = store.recall
    store.recall = async (moment) => {
      const found = await recall(moment)
      // Another process deletes it, and this one has not heard of it yet.
      await store.delete('mine')
      const { state } = found as FormerAccount
      await store.create({ ...state, domains: state.domains.delete('a.example') })
      return found
    }
    expect((await post('/accounts/mine/rewind', { request_id: request })).status).toBe(404)
    expect((await get('/accounts/mine')).data.account.domains).toBe(0)
    await remove('/accounts/mine')
  })
})
