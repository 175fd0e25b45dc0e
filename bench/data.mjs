// Writes that are answered once they are on disk: `--data`, beside lowdb as one uses it at first.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeFixture } from './accounts.mjs'
import { OURS, serveCommand, serverCommand, serviceRequest, startCandidate } from './candidates.mjs'
import { always, ask, drive } from './load.mjs'
import { stopAll } from './processes.mjs'
import { takeTurns } from './statistics.mjs'
import { measureLoad } from './throughput.mjs'

/** Writes per second of wall time, because a disk is what they wait for. */
export async function measureData(plan, folder) {
  const fixture = writeFixture(join(folder, 'kept-account.json'), { domains: 1000, groups: 200 })
  const kept = await startCandidate(
    `${OURS} --data`,
    serveCommand(fixture, { options: ['--data', join(folder, 'data')] }),
  )
  const domains = JSON.parse(await ask(kept.port, serviceRequest('GET', '/domains'))).data.domains
  const { groups } = JSON.parse(await ask(kept.port, serviceRequest('GET', '/domaingroups'))).data
  const statePath = join(folder, 'lowdb-state.json')
  writeFileSync(statePath, JSON.stringify({ domains, groups }))
  const naive = await startCandidate('lowdb, one file', serverCommand('lowdb', join(folder, 'lowdb.json'), statePath))
  // A write that leaves the state as large as it was, so that the faster one does not get more to write.
  const rename = serviceRequest('PATCH', `/domaingroups?id=${groups[100].id}`, { name: 'bench {ordinal}' })
  const candidates = [kept, naive]
  for (const { port } of candidates) await drive(port, always(rename), { seconds: plan.warmUp })
  const results = await takeTurns(candidates, plan.rounds, (each) => measureLoad(each, always(rename), plan.seconds))
  await stopAll()
  return results.map((result, index) => ({ candidate: candidates[index].name, ...result }))
}
