import { describe, expect, it } from 'vitest'
import type { OrderSearch } from '../../../src/trials/beside/search.ts'
import { PairSession } from '../../../src/trials/beside/session.ts'
import { CONTRACT } from '../../support/observed-run.ts'
import { type Client, type Send, startIn } from './clients-in-process.ts'

interface Group {
  id: string
  name: string
  domains: string[]
}

const groupsOf = async (send: Send) => (await send<{ groups: Group[] }>('GET', '/domaingroups')).groups
const find = async (send: Send, name: string) => (await groupsOf(send)).find((each) => each.name === name)
const create = (send: Send, name: string) => send('POST', '/domaingroups', { name })

/** Reads the members, and writes them all with one more. */
const append =
  (member: string): Client =>
  async (send) => {
    const group = await find(send, 'Retail')
    await send('PATCH', `/domaingroups?id=${group?.id}`, { domains: [...(group?.domains ?? []), member] })
  }
/** One request: nothing can come in between. */
const add =
  (member: string): Client =>
  async (send) =>
    void (await send('PATCH', `/domaingroups?id=${(await find(send, 'Retail'))?.id}`, { add_domains: [member] }))
/** Clients that are right alone. Some are wrong beside another one. */
const CLIENTS = {
  appendB: append('b.example'),
  appendC: append('c.example'),
  addB: add('b.example'),
  addC: add('c.example'),
  async ensure(send: Send) {
    if ((await find(send, 'New')) === undefined) await create(send, 'New')
  },
} satisfies Record<string, Client>
type Name = keyof typeof CLIENTS

async function search(one: Name, other: Name, jobs = 1): Promise<OrderSearch> {
  const fixture = {
    domains: ['a.example', 'b.example', 'c.example'],
    groups: [{ name: 'Retail', domains: ['a.example'] }],
  }
  const session = new PairSession({
    ...{ command: [one], beside: other, environment: {}, variables: [], options: { fixture }, contract: CONTRACT },
    ...{ jobs, switches: 1, timeout: undefined, runs: undefined, milliseconds: undefined },
    ...{ stop: new AbortController().signal, onSignal: undefined, watch: () => {}, carryOut: startIn(CLIENTS) },
  })
  const serial = await session.establish()
  if (typeof serial === 'string') throw new Error(serial)
  return session.search(serial)
}

describe('of two clients at the same time, the search finds', () => {
  it.for<[Name, Name, found: string[]]>([
    ['appendB', 'appendC', ['lost update', 'lost update']],
    ['appendB', 'addC', ['lost update']],
    ['addB', 'addC', []],
    ['ensure', 'ensure', ['false failure', 'false failure']],
  ])('that %s and %s end with: %j', async ([one, other, found]) => {
    const { findings, flaky, left, isReliable } = await search(one, other)
    expect(findings.map(({ verdict }) => verdict)).toEqual(found)
    expect({ flaky, left, isReliable }).toEqual({ flaky: [], left: 0, isReliable: true })
  })

  it('the same with several runs at the same time', async () => {
    const [alone, beside] = [await search('appendB', 'appendC'), await search('appendB', 'appendC', 3)]
    const told = ({ findings, tried }: OrderSearch) => [tried, findings.map(({ schedule }) => schedule)]
    expect(told(beside)).toEqual(told(alone))
  })
})
