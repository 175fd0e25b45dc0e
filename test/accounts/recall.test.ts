import { describe, expect, it } from 'vitest'
import type { FormerAccount, Moment, Store } from '../../src/store/store.ts'
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts'
import { overMemory } from '../support/failing-store.ts'

const PATH = '/accounts/default'

/** A store that keeps what requests find, and gives them moments in place of it. */
function recallingStore() {
  const versions: FormerAccount['state'][] = []
  const counters: FormerAccount['counters'][] = []
  const asked: Moment[] = []
  let beforeUpdate: (() => void) | undefined
  const versionOf = (state: FormerAccount['state']): string => {
    if (!versions.includes(state)) versions.push(state)
    return `version ${versions.indexOf(state)}`
  }
  const store = overMemory((memory) => ({
    enter: ((keyHash, admission) =>
      memory.enter(keyHash, {
        ...admission,
        conclude(entered) {
          const { quotas, tallies } = entered.before ?? { quotas: new Map(), tallies: new Map() }
          counters.push({ quotas: new Map(quotas.entries()), tallies: new Map(tallies.entries()) })
          const { incarnation, account } = entered
          const moment = { incarnation, version: versionOf(account), sequence: counters.length - 1 }
          return admission.conclude({ ...entered, before: undefined, moment })
        },
      })) satisfies Store['enter'],
    async update(accountId, decide) {
      beforeUpdate?.()
      return memory.update(accountId, (state) => decide(state, versionOf(state)))
    },
    async recall(moment) {
      asked.push(moment)
      const state = versions[Number(moment.version.slice('version '.length))]
      const counted = counters[moment.sequence]
      return state && counted && { incarnation: moment.incarnation, state, counters: counted }
    },
  }))
  return {
    store,
    asked,
    /** Lets nothing be recalled any more. */
    forget: () => counters.splice(0),
    /** Does something once, just before the next change is decided. */
    before(act: () => void) {
      beforeUpdate = () => {
        beforeUpdate = undefined
        act()
      }
    },
  }
}

function idOf({ headers }: { headers: Record<string, string | undefined> }): string {
  return headers['x-request-id'] ?? ''
}

async function domainsOf({ get }: ControlPlane): Promise<string[]> {
  return (await get(`${PATH}/state`)).data.domains.map((each: { name: string } | string) =>
    typeof each === 'string' ? each : each.name,
  )
}

describe('Where the store keeps what requests found', () => {
  it('a rewind and the state before a request ask it, with the version on which the request was decided', async () => {
    const { store, asked, before } = recallingStore()
    const plane = await startControlPlane({ store, fixture: { domains: ['a.example'] } })
    const { get, post, ask, understudy } = plane
    const key = understudy.apiKey ?? ''
    // Somebody else changes the account after the request has entered it.
    before(() => {
      void store.update('default', (state) => {
        const other = { name: 'between.example', addedAt: 0, features: [] }
        return { ok: true, state: { ...state, domains: state.domains.set(other.name, other) }, value: undefined }
      })
    })
    const request = idOf(await ask(key, 'POST', '/domains', { domains: ['b.example'] }))
    await ask(key, 'POST', '/domains', { domains: ['c.example'] })
    const quotas = (await get(`${PATH}/quotas`)).data
    const { data } = await get(`${PATH}/state?before=${request}`)
    expect(data.domains).toHaveLength(2)
    expect((await post(`${PATH}/rewind`, { request_id: request })).status).toBe(200)
    expect(await domainsOf(plane)).toEqual(['a.example', 'between.example'])
    expect((await get(`${PATH}/quotas`)).data).not.toEqual(quotas)
    expect(asked).toHaveLength(2)
    expect(new Set(asked.map(({ sequence }) => sequence))).toEqual(new Set([0]))
  })

  it('what it no longer keeps is not found', async () => {
    const { store, forget } = recallingStore()
    const { get, post, ask, understudy } = await startControlPlane({ store })
    const request = idOf(await ask(understudy.apiKey ?? '', 'GET', '/domains'))
    forget()
    const refusals = [
      await post(`${PATH}/rewind`, { request_id: request }),
      await get(`${PATH}/state?before=${request}`),
    ]
    for (const { status, error } of refusals) expect([status, error.code]).toEqual([404, 'not_found'])
  })

  it('the account is not rewound when another one has its id by then', async () => {
    const { store } = recallingStore()
    const { get, post, create, delete: remove, ask } = await startControlPlane({ store })
    const { key } = await create({ id: 'mine', fixture: { domains: ['a.example'] } })
    const request = idOf(await ask(key, 'DELETE', '/domains', { domains: ['a.example'] }))
    const recall = store.recall
    store.recall = async (moment) => {
      const found = await recall(moment)
      // Another process deletes it, and this one has not heard of it yet.
      await store.delete('mine')
      await store.create({
        ...(found as FormerAccount).state,
        domains: (found as FormerAccount).state.domains.delete('a.example'),
      })
      return found
    }
    expect((await post('/accounts/mine/rewind', { request_id: request })).status).toBe(404)
    expect((await get('/accounts/mine')).data.account.domains).toBe(0)
    await remove('/accounts/mine')
  })
})
