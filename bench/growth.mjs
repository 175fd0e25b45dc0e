// How the cost of a write grows with what there is, and whether the writes of one account hold up the reads of another.
import { join } from 'node:path'
import { domainName, writeFixture } from './accounts.mjs'
import { OURS, serveCommand, serviceRequest, startCandidate } from './candidates.mjs'
import { always, ask, CONNECTIONS, drive } from './load.mjs'
import { stopAll } from './processes.mjs'
import { takeTurns } from './statistics.mjs'
import { measureLoad } from './throughput.mjs'

/** Cost of a write in microseconds of processor time. */
export async function measureGrowth(plan, folder) {
  return [...(await growByAccounts(plan, folder)), ...(await growByDomains(plan, folder))]
}

async function growByAccounts(plan, folder) {
  const fixture = writeFixture(join(folder, 'small-account.json'), { domains: 10, groups: 2 })
  const [alone, among] = [
    await startCandidate(OURS, serveCommand(fixture)),
    await startCandidate(OURS, serveCommand(fixture)),
  ]
  const count = `${plan.accounts.toLocaleString('en-US')} accounts`
  // A key of this kind opens an account of its own; with `default`, they are as many as the plan says.
  const sandboxes = await openSandboxes(among.port, plan.accounts - 1)
  const cases = [
    { size: '1 account', candidate: alone, sequences: always(await renaming(alone.port)) },
    { size: count, candidate: among, sequences: always(await renaming(among.port)) },
    { size: `${count}, each in its turn`, candidate: among, sequences: sandboxes },
  ]
  const rows = await measureCases('rename a group', cases, plan)
  await stopAll()
  return rows
}

async function growByDomains(plan, folder) {
  const candidates = []
  for (const domains of [100, 10_000]) {
    const fixture = writeFixture(join(folder, `domains-${domains}.json`), { domains, groups: 20 })
    const size = `${domains.toLocaleString('en-US')} domains`
    candidates.push({ size, candidate: await startCandidate(OURS, serveCommand(fixture)) })
  }
  const to = (write) =>
    Promise.all(candidates.map(async (each) => ({ ...each, sequences: await write(each.candidate.port) })))
  const rows = [
    ...(await measureCases('rename a group', await to(async (port) => always(await renaming(port))), plan)),
    ...(await measureCases("replace a group's 3 members", await to(replaceMembers), plan)),
    ...(await measureCases('add or remove a domain', await to(addAndRemove), plan)),
  ]
  await stopAll()
  return rows
}

async function measureCases(write, cases, plan) {
  for (const { candidate, sequences } of cases) await drive(candidate.port, sequences, { seconds: plan.warmUp })
  const results = await takeTurns(cases, plan.rounds, ({ candidate, sequences }) =>
    measureLoad(candidate, sequences, { seconds: plan.seconds }),
  )
  return results.map(({ perCpuSecond, p99 }, index) => ({
    write,
    size: cases[index].size,
    cpuMicroseconds: 1e6 / perCpuSecond,
    p99,
    toFirst: results[0].perCpuSecond / perCpuSecond,
  }))
}

/** The path of the first group of the account that the key belongs to. */
async function firstGroup(port, key) {
  const answer = await ask(port, serviceRequest('GET', '/domaingroups', undefined, key))
  return `/domaingroups?id=${JSON.parse(answer).data.groups[0].id}`
}

async function renaming(port, key) {
  return serviceRequest('PATCH', await firstGroup(port, key), { name: 'bench {ordinal}' }, key)
}

async function replaceMembers(port) {
  return always(serviceRequest('PATCH', await firstGroup(port), { domains: [10, 50, 99].map(domainName) }))
}

/** Each connection adds a domain of its own and removes it, so that the account stays as large as it is. */
function addAndRemove() {
  return Array.from({ length: CONNECTIONS }, (_, index) => {
    const body = { domains: [`one-more-${index}.example`] }
    return [serviceRequest('POST', '/domains', body), serviceRequest('DELETE', '/domains', body)]
  })
}

/** Opens so many accounts, and gives for each connection the writes to its share of them. */
function openSandboxes(port, count) {
  const keys = Array.from({ length: count }, (_, index) => `sandbox_bench_${index}`)
  const shares = Array.from({ length: CONNECTIONS }, (_, at) => keys.filter((_, index) => index % CONNECTIONS === at))
  return Promise.all(
    shares.map(async (share) => {
      const writes = []
      for (const key of share) writes.push(await renaming(port, key))
      return writes
    }),
  )
}

/** p99 of reads while as many connections again read, or write, in another account. */
export async function measureStorm(plan, folder) {
  const fixture = writeFixture(join(folder, 'storm.json'), { domains: 1000, groups: 200 })
  const { port } = await startCandidate(OURS, serveCommand(fixture))
  const half = CONNECTIONS / 2
  const key = 'sandbox_neighbour'
  const reads = always(serviceRequest('GET', await firstGroup(port)), half)
  const neighbours = [
    { sequences: always(serviceRequest('GET', await firstGroup(port, key), undefined, key), half) },
    { sequences: always(await renaming(port, key), half) },
  ]
  async function measure({ sequences }) {
    const [{ p99, answers, wall }] = await Promise.all([
      drive(port, reads, { seconds: plan.seconds }),
      drive(port, sequences, { seconds: plan.seconds }),
    ])
    return { p99, perSecond: answers / wall }
  }
  for (const neighbour of neighbours) await measure(neighbour)
  const [calm, storm] = await takeTurns(neighbours, plan.rounds, measure)
  await stopAll()
  return { calm, storm, ratio: storm.p99 / calm.p99 }
}
