import type { Fixture } from '../../../src/domain/fixture.ts'
import type { Client, Send } from './clients-in-process.ts'

export const fixture: Fixture = {
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
const isTaken = (attempt: Promise<unknown>) =>
  attempt.then(
    () => false,
    (error: Error) => error.message === 'duplicate_name',
  )
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
/** Creates a group, and then uses its id. */
const make =
  (name: string): Client =>
  async (send) => {
    const { group } = (await create(send, name)) as { group: Group }
    await send('PATCH', `/domaingroups?id=${group.id}`, { add_domains: ['b.example'] })
  }
const monitor =
  (...domains: string[]): Client =>
  async (send) =>
    void (await Promise.all(domains.map((each) => send('POST', '/domains', { domains: [each] }))))
const read: Client = async (send) => void (await send('GET', '/domaingroups'))

/** Clients that are right alone. Most of them are wrong beside another one. */
export const RACERS = {
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
  // Believes that the last group of a list is the one that it has created.
  async renameNewest(send: Send) {
    await create(send, 'Mine')
    const newest = (await groupsOf(send)).at(-1)
    await send('PATCH', `/domaingroups?id=${newest?.id}`, { name: `${newest?.name} 2` })
  },
  async makeForAMoment(send: Send) {
    const { group } = (await create(send, 'Moment')) as { group: Group }
    await send('DELETE', `/domaingroups?id=${group.id}`)
  },
  makeOne: make('One'),
  makeTwo: make('Two'),
  async createTwo(send: Send) {
    await Promise.all([create(send, 'One'), create(send, 'Two')])
  },
  monitorX: monitor('x.example'),
  monitorY: monitor('y.example'),
  monitorFour: monitor('1.example', '2.example', '3.example', '4.example'),
} satisfies Record<string, Client>
