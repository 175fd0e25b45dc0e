// What is kept of requests that were answered long ago, which should be no more than the journal holds.
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { OURS, serveCommand, serviceRequest, startCandidate } from './candidates.mjs'
import { ask, CONNECTIONS, drive } from './load.mjs'
import { printed, residentMebibytes, stopProgram } from './processes.mjs'

const LIVE_BYTES = fileURLToPath(new URL('servers/live-bytes.mjs', import.meta.url))
/** After so many, the journal of the account is full, and all that is made once is made. */
const FILLING = 20_000

/** What lives after a collection, and resident memory, when the journal is full and after many requests more. */
export async function measureMemory(plan) {
  const flags = ['--expose-gc', '--import', LIVE_BYTES]
  const { child, port } = await startCandidate(OURS, serveCommand('demo', { flags }))
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

async function liveBytes(child) {
  const answer = printed(child, /live bytes: (\d+)/)
  child.kill('SIGUSR2')
  return Number(await answer)
}
