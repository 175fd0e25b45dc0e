// Clients of a few lines that are right alone: `node races.mjs NAME [ARGUMENT]`. Most of them are wrong beside another one.
import { Refused, send as sendOnce } from './watch.mjs'

const send = (method, path, body) => sendOnce(method, path, body, { timeout: 0 })
const groups = async () => (await send('GET', '/domaingroups')).groups
const find = async (name) => (await groups()).find((group) => group.name === name)
const change = ({ id }, body) => send('PATCH', `/domaingroups?id=${id}`, body)

async function isTaken(attempt) {
  try {
    await attempt()
    return false
  } catch (error) {
    if (error instanceof Refused && error.code === 'duplicate_name') return true
    throw error
  }
}

/** Creates a group as a lock, and tries again for as long as it takes. */
async function lock(name) {
  while (await isTaken(() => send('POST', '/domaingroups', { name })));
}

async function unlock(name) {
  await send('DELETE', `/domaingroups?id=${(await find(name)).id}`)
}

/** Reads the members, and writes them all with one more. */
async function append(member) {
  const group = await find('Retail')
  await change(group, { domains: [...group.domains, member] })
}

const clients = {
  append,

  async appendTwo(first, second) {
    await Promise.all([append(first), append(second)])
  },

  // One request: nothing can come in between.
  async add(member) {
    await change(await find('Retail'), { add_domains: [member] })
  },

  async monitor(...domains) {
    await send('POST', '/domains', { domains })
  },

  async monitorAtOnce(...domains) {
    await Promise.all(domains.map((domain) => send('POST', '/domains', { domains: [domain] })))
  },

  async read() {
    await groups()
    await groups()
  },

  // Looks whether the group is there, and takes no for an answer.
  async ensure(name) {
    if ((await find(name)) === undefined) await send('POST', '/domaingroups', { name })
  },

  // Replaces the group by a new one with the same members.
  async recreate() {
    const { id, name, domains } = await find('Retail')
    await send('DELETE', `/domaingroups?id=${id}`)
    await send('POST', '/domaingroups', { name, domains })
  },

  // Believes what it read at the beginning.
  async appendAndReport(member) {
    const before = await groups()
    const group = before.find(({ name }) => name === 'Retail')
    await change(group, { domains: [...group.domains, member] })
    if (!before.some(({ name }) => name === 'Report')) await send('POST', '/domaingroups', { name: 'Report' })
  },

  async addAndReport(member) {
    await clients.add(member)
    await isTaken(() => send('POST', '/domaingroups', { name: 'Report' }))
  },

  // Takes the lock only if nobody has one, in two steps.
  async appendAlone(member) {
    while ((await groups()).some(({ name }) => name.startsWith('Busy ')));
    await send('POST', '/domaingroups', { name: `Busy ${member}` })
    await append(member)
    await unlock(`Busy ${member}`)
  },

  // The same with a lock that only one can have.
  async appendLocked(member) {
    await lock('Busy')
    await append(member)
    await unlock('Busy')
  },

  async lockBoth(first, second) {
    await lock(first)
    await lock(second)
    await unlock(second)
    await unlock(first)
  },

  // Reads the list, and then each group of it.
  async readEach() {
    for (const { id } of await groups()) await send('GET', `/domaingroups?id=${id}`)
  },
}

const [name, ...rest] = process.argv.slice(2)
await clients[name](...rest).catch((error) => {
  console.error(`${name} failed: ${error.message}`)
  process.exitCode = 1
})
