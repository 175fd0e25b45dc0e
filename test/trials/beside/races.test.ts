import { describe, expect, it } from 'vitest'
import { loadContract } from '../../../src/contract/contract.ts'
import type { Fixture } from '../../../src/domain/fixture.ts'
import { countChanges, writePlan } from '../../../src/trials/beside/schedule.ts'
import type { OrderSearch } from '../../../src/trials/beside/search.ts'
import { PairSession, type PairTerms, type SerialRuns } from '../../../src/trials/beside/session.ts'
import { pairColumns } from '../../../src/trials/beside/story.ts'
import { type Client, type Send, startIn } from './commands-in-process.ts'

const contract = await loadContract({ longestWindow: 2 })
const fixture: Fixture = {
  domains: ['a.example', 'b.example', 'c.example', 'd.example'],
  groups: [{ name: 'Retail', domains: ['a.example'] }],
}

interface Group {
  id: string
  name: string
  domains: string[]
}

const groupsOf = async (send: Send) => (await send<{ groups: Group[] }>('GET', '/domaingroups')).groups
const find = async (send: Send, name = 'Retail') => (await groupsOf(send)).find((each) => each.name === name)
const idOf = async (send: Send, name?: string) => (await find(send, name))?.id
const change = async (send: Send, body: unknown) =>
  void (await send('PATCH', `/domaingroups?id=${await idOf(send)}`, body))
const create = (send: Send, name: string, domains: string[] = []) => send('POST', '/domaingroups', { name, domains })
const isTaken = (attempt: Promise<unknown>) => attempt.then(() => false, (error: Error) => error.message === 'duplicate_name')
const lock = async (send: Send, name: string, signal: AbortSignal) => {
  while (!signal.aborted && (await isTaken(create(send, name))));
}
const unlock = async (send: Send, name: string) =>
  void (await send('DELETE', `/domaingroups?id=${await idOf(send, name)}`))

/** Reads the members, and writes them all with one more. */
const append =
  (member: string): Client =>
  async (send) => {
    const group = await find(send)
    await send('PATCH', `/domaingroups?id=${group?.id}`, { domains: [...(group?.domains ?? []), member] })
  }
const add =
  (member: string): Client =>
  (send) =>
    change(send, { add_domains: [member] })
const monitor =
  (...domains: string[]): Client =>
  async (send) =>
    void (await Promise.all(domains.map((each) => send('POST', '/domains', { domains: [each] }))))
const read: Client = async (send) => void (await send('GET', '/domaingroups'))

const clients = {
  appendB: append('b.example'),
  appendC: append('c.example'),
  addB: add('b.example'),
  addC: add('c.example'),
  read,
  async ensure(send: Send) {
    if ((await idOf(send, 'New')) === undefined) await create(send, 'New')
  },
  async recreate(send: Send) {
    const group = await find(send)
    await send('DELETE', `/domaingroups?id=${group?.id}`)
    await create(send, 'Retail', group?.domains)
  },
  async appendAndReport(send: Send) {
    const before = await groupsOf(send)
    const [group] = before
    await send('PATCH', `/domaingroups?id=${group?.id}`, { domains: [...(group?.domains ?? []), 'b.example'] })
    if (before.every(({ name }) => name !== 'Report')) await create(send, 'Report')
  },
  async addAndReport(send: Send) {
    await change(send, { add_domains: ['c.example'] })
    await isTaken(create(send, 'Report'))
  },
  // Has the lock only for what it believes to be the whole work.
  async appendAlone(send: Send, signal: AbortSignal) {
    while (!signal.aborted && (await groupsOf(send)).some(({ name }) => name.startsWith('Busy')));
    await create(send, 'Busy 1')
    await append('b.example')(send, signal)
    await unlock(send, 'Busy 1')
  },
  async alsoAlone(send: Send, signal: AbortSignal) {
    while (!signal.aborted && (await groupsOf(send)).some(({ name }) => name.startsWith('Busy')));
    await create(send, 'Busy 2')
    await append('c.example')(send, signal)
    await unlock(send, 'Busy 2')
  },
  async lockedB(send: Send, signal: AbortSignal) {
    await lock(send, 'Busy', signal)
    await append('b.example')(send, signal)
    await unlock(send, 'Busy')
  },
  async lockedC(send: Send, signal: AbortSignal) {
    await lock(send, 'Busy', signal)
    await append('c.example')(send, signal)
    await unlock(send, 'Busy')
  },
  async lockOneTwo(send: Send, signal: AbortSignal) {
    for (const name of ['One', 'Two']) await lock(send, name, signal)
    for (const name of ['Two', 'One']) await unlock(send, name)
  },
  async lockTwoOne(send: Send, signal: AbortSignal) {
    for (const name of ['Two', 'One']) await lock(send, name, signal)
    for (const name of ['One', 'Two']) await unlock(send, name)
  },
  async release(send: Send) {
    const isUsed = (await groupsOf(send)).some(({ domains }) => domains.includes('d.example'))
    if (!isUsed) await send('DELETE', '/domains', { domains: ['d.example'] })
  },
  async use(send: Send) {
    const { domains } = await send<{ domains: string[] }>('GET', '/domains')
    if (!domains.includes('d.example')) await send('POST', '/domains', { domains: ['d.example'] })
    await create(send, 'Shop', ['d.example'])
  },
  async readEach(send: Send) {
    for (const { id } of await groupsOf(send)) await send('GET', `/domaingroups?id=${id}`)
  },
  async appendTwo(send: Send, signal: AbortSignal) {
    await Promise.all(['b.example', 'c.example'].map((each) => append(each)(send, signal)))
  },
  async renameTwice(send: Send) {
    const id = await idOf(send)
    await send('PATCH', `/domaingroups?id=${id}`, { name: 'Between' })
    await send('PATCH', `/domaingroups?id=${id}`, { name: 'Retail' })
  },
  async readTwice(send: Send) {
    await groupsOf(send)
    await groupsOf(send)
  },
  monitorX: monitor('x.example'),
  monitorY: monitor('y.example'),
  monitorFour: monitor('1.example', '2.example', '3.example', '4.example'),
} satisfies Record<string, Client>
type Name = keyof typeof clients

function openFor(one: Name, other: Name, chosen: Partial<PairTerms> = {}): PairSession {
  return new PairSession({
    ...{ command: [one], beside: other, environment: {}, variables: [], options: { fixture } },
    ...{ contract, jobs: 1, switches: 2, timeout: undefined, runs: undefined, milliseconds: undefined },
    ...{ stop: new AbortController().signal, onSignal: undefined, watch: () => {}, start: startIn(clients) },
    ...chosen,
  })
}

async function establish(session: PairSession): Promise<SerialRuns> {
  const serial = await session.establish()
  if (typeof serial === 'string') throw new Error(serial)
  return serial
}

async function search(one: Name, other: Name, chosen?: Partial<PairTerms>): Promise<OrderSearch> {
  const session = openFor(one, other, chosen)
  const found = await session.search(await establish(session))
  session.end()
  return found
}

/** The verdict, and the fewest switches and overtakings. */
const nameOf = ({ verdict, schedule, run }: OrderSearch['findings'][number]) => {
  const { switches, overtakings } = countChanges(schedule, run.end.steps)
  return `${verdict} ${switches}${overtakings === 0 ? '' : `+${overtakings}`}`
}

describe('two clients beside each other', () => {
  it.for<[Name, Name, found: string[]]>([
    ['appendB', 'appendC', ['lost update 1', 'lost update 1']],
    ['appendB', 'addC', ['lost update 1']],
    ['ensure', 'ensure', ['false failure 1', 'false failure 1']],
    ['addB', 'recreate', ['lost update 1']],
    ['appendAndReport', 'addAndReport', ['false failure 1', 'lost update 2', 'wrong success 1']],
    ['appendAlone', 'alsoAlone', ['lost update 2', 'lost update 2']],
    ['lockOneTwo', 'lockTwoOne', ['hang 1']],
    ['release', 'use', ['lost update 1']],
    ['readEach', 'recreate', ['false failure 1']],
    ['appendTwo', 'read', ['lost update 0+1', 'lost update 0+2']],
  ])('%s and %s: %j', async ([one, other, found]) => {
    const { findings, flaky, unconfirmed, left } = await search(one, other)
    expect(findings.map(nameOf).toSorted()).toEqual(found)
    expect({ flaky, unconfirmed, left }).toEqual({ flaky: [], unconfirmed: [], left: 0 })
  })

  it.for<[Name, Name, OrderSearch['possible'], tried: number]>([
    ['addB', 'addC', 6, 4],
    ['monitorX', 'monitorY', 2, 2],
    ['monitorX', 'readTwice', 3, 2],
    ['monitorX', 'appendB', 3, 2],
    ['renameTwice', 'read', 4, 4],
    ['lockedB', 'lockedC', 0, 0],
  ])('%s and %s pass; of %i orders, %i are tried', async ([one, other, possible, tried]) => {
    const found = await search(one, other)
    expect(found).toMatchObject({ findings: [], gaveUp: [], flaky: [], left: 0, unjudged: 0, isReliable: true })
    if (possible === 0) return
    expect(found).toMatchObject({ possible, tried })
  })
})

it('dump', async () => {
  const session = openFor('lockOneTwo', 'lockTwoOne', { switches: 1 })
  const found = await session.search(await establish(session))
  for (const { run, schedule, reasons } of found.findings) console.log(pairColumns(run, session.names), writePlan(schedule), reasons)
})
