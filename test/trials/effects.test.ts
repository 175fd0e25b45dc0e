import { describe, expect, it } from 'vitest'
import { describeDifference, haveSameEffects } from '../../src/trials/effects.ts'
import { ACCOUNT } from '../support/account.ts'
import { observeRun, type Send } from '../support/observed-run.ts'

const add = (send: Send, ...domains: string[]) => send('POST', '/domains', { domains })
const create = (send: Send, name: string, domains: string[] = []) => send('POST', '/domaingroups', { name, domains })
async function idOf(send: Send, name: string): Promise<string> {
  const answer = await send('GET', '/domaingroups')
  return answer?.body.data.groups.find((group: { name: string }) => group.name === name).id
}

describe('The effects of a run', () => {
  it.each<[what: string, one: (send: Send) => Promise<unknown>, other: (send: Send) => Promise<unknown>]>([
    [
      'the order of requests',
      async (send) => [await add(send, 'a.example'), await add(send, 'b.example')],
      async (send) => [await add(send, 'b.example'), await add(send, 'a.example')],
    ],
    [
      'the ids of groups',
      async (send) => [await create(send, 'A'), await create(send, 'B')],
      async (send) => [await create(send, 'B'), await create(send, 'A')],
    ],
    ['reads', (send) => send('GET', '/domains'), async () => undefined],
    ['requests that were refused', (send) => create(send, 'A', ['unknown.example']), async () => undefined],
  ])('do not depend on %s', async (_, one, other) => {
    const [first, second] = [await observeRun(one), await observeRun(other)]
    expect(haveSameEffects(first.effects, second.effects)).toBe(true)
    expect(describeDifference(first.effects, second.effects)).toEqual([])
  })

  it('tell a change that was made twice, also when nothing is left of it', async () => {
    const options = { options: { fixture: ACCOUNT } }
    async function once(send: Send) {
      await create(send, 'A')
      await send('DELETE', `/domaingroups?id=${await idOf(send, 'A')}`)
    }
    const expected = await observeRun(once, options)
    const received = await observeRun(async (send) => [await once(send), await once(send)], options)
    expect(received.effects.accounts).toEqual(expected.effects.accounts)
    expect(describeDifference(expected.effects, received.effects)).toEqual([
      'done too often: created the group A',
      'done too often: deleted the group A',
    ])
  })

  it('tell each change of a domain and of a group', async () => {
    const { effects } = await observeRun(
      async (send) => {
        await send('DELETE', '/domains', { domains: ['three.example'] })
        const id = await idOf(send, 'Marketing')
        const change = { name: 'Shops', add_domains: ['two.example'], remove_domains: ['one.example'] }
        await send('PATCH', `/domaingroups?id=${id}`, change)
      },
      { options: { fixture: ACCOUNT } },
    )
    expect(effects.changes).toEqual([
      'put two.example into the group Shops',
      'removed the domain three.example',
      'renamed the group Marketing to Shops',
      'took one.example out of the group Shops',
    ])
  })
})

describe('A difference', () => {
  it('is in what is left where no request has made it', () => {
    const told = describeDifference({ accounts: [['a', 'b']], changes: [] }, { accounts: [['a', 'c']], changes: [] })
    expect(told).toEqual(['missing at the end: b', 'too much at the end: c'])
  })
})
