// What is kept of requests that were answered long ago, which should be no more than the journal holds; what remains in
// use after a load, beside Express; and what an account weighs.

import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { domainName, writeFixture } from './accounts.mjs'
import {
  controlRequest,
  EXPRESS,
  OURS,
  serveCommand,
  serverCommand,
  serviceRequest,
  startCandidate,
} from './candidates.mjs'
import { LIVE_MEMORY, liveBytes } from './live-memory.mjs'
import { always, ask, CONNECTIONS, drive } from './load.mjs'
import { residentMebibytes, stopProgram } from './processes.mjs'
import { takeTurns } from './statistics.mjs'
import { prepareWorkloads } from './throughput.mjs'

/** After so many, the journal of the account is full, and all that is made once is made. */
const FILLING = 20_000

/** What lives after a collection, and resident memory, when the journal is full and after many requests more. */
export async function measureMemory(plan) {
  const { child, port } = await startCandidate(OURS, serveCommand('demo', { flags: LIVE_MEMORY }))
  const { groups } = JSON.parse(await ask(port, serviceRequest('GET', '/domaingroups'))).data
  const path = `/domaingroups?id=${groups[0].id}`
  // A read and a write that leaves the account as large as it was.
  const sequence = [serviceRequest('GET', path), serviceRequest('PATCH', path, { name: 'bench {ordinal}' })]
  const sequences = Array.from({ length: CONNECTIONS }, () => sequence)
  const states = []
  for (const answers of [FILLING, plan.requests - FILLING]) {
    await drive(port, sequences, { answers })
    // Until the server has seen that the connections are closed.
    await setTimeout(200)
    states.push({ liveBytes: await liveBytes(child), residentMebibytes: residentMebibytes(child.pid) })
  }
  await stopProgram(child)
  const [before, after] = states
  return { requests: plan.requests, before, after, grownMebibytes: (after.liveBytes - before.liveBytes) / 2 ** 20 }
}

/** Resident memory of the service and of Express after the same load, which leaves the account as large as it was. */
export async function measureLoaded(plan, folder) {
  const fixture = writeFixture(join(folder, 'loaded.json'), { domains: 1000, groups: 200 })
  const asked = await startCandidate(OURS, serveCommand(fixture))
  const { workloads, answersPath } = await prepareWorkloads(asked, folder)
  await stopProgram(asked.child)
  const [{ path: group }, { path: dmarc }] = workloads
  const renamed = { name: 'bench {ordinal}', domains: [10, 500, 999].map(domainName) }
  // An answer of `dmarc` has 150 kB.
  const load = [
    { request: serviceRequest('GET', group), answers: plan.loaded },
    { request: serviceRequest('GET', dmarc), answers: plan.loaded / 10 },
    { request: serviceRequest('PATCH', group, renamed), answers: plan.loaded },
    { request: serviceRequest('GET', group), answers: plan.loaded },
  ]
  const candidates = [
    { name: OURS, command: serveCommand(fixture) },
    { name: EXPRESS, command: serverCommand('express', answersPath) },
  ]
  const results = await takeTurns(candidates, plan.loads, async ({ name, command }) => {
    const { child, port } = await startCandidate(name, command)
    const before = residentMebibytes(child.pid)
    for (const { request, answers } of load) await drive(port, always(request), { answers })
    await setTimeout(200)
    const after = residentMebibytes(child.pid)
    await stopProgram(child)
    return { before, after }
  })
  return results.map((result, index) => ({ candidate: candidates[index].name, ...result }))
}

/** The first accounts of a process also make what all accounts share. */
const FIRST_ACCOUNTS = 100

/** Live bytes for each of many accounts, which have never been asked anything. */
export async function measureAccounts(plan) {
  const rows = []
  for (const fixture of ['empty', 'demo']) {
    const { child, port } = await startCandidate(OURS, serveCommand('demo', { flags: LIVE_MEMORY }))
    const creations = always(controlRequest('POST', '/accounts', { id: 'bench-{ordinal}', fixture }), 1)
    await drive(port, creations, { answers: FIRST_ACCOUNTS })
    const before = await liveBytes(child)
    await drive(port, creations, { answers: plan.emptyAccounts })
    rows.push({ fixture, bytes: ((await liveBytes(child)) - before) / plan.emptyAccounts })
    await stopProgram(child)
  }
  return rows
}
