// Writes that are answered once they are on disk: `--data`, beside lowdb as one uses it at first.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeFixture } from './accounts.mjs'
import { OURS, serveCommand, serverCommand, serviceRequest, startCandidate } from './candidates.mjs'
import { always, drive } from './load.mjs'
import { stopAll } from './processes.mjs'
import { takeTurns } from './statistics.mjs'
import { measureLoad } from './throughput.mjs'

/** Writes per second of wall time, because a disk is what they wait for. */
export async function measureData(plan, folder) {
  const fixture = writeFixture(join(folder, 'kept-account.json'), { domains: 1000, groups: 200 })
  const data = join(folder, 'data')
  const kept = await startCandidate(`${OURS} --data`, serveCommand(fixture, { options: ['--data', data] }))
  // What lowdb is to keep: the same records, or no more than their names.
  const { domains, groups } = JSON.parse(readFileSync(join(data, 'account-default.json'), 'utf8')).account
  const names = domains.map(({ name }) => name)
  const same = await startLowdb('lowdb, one file', { domains, groups }, folder)
  const bare = await startLowdb('lowdb, names only', { domains: names, groups }, folder)
  // A write that leaves the state as large as it was, so that the faster one does not get more to write.
  const rename = serviceRequest('PATCH', `/domaingroups?id=${groups[100].id}`, { name: 'bench {ordinal}' })
  const candidates = [kept, same, bare]
  for (const { port } of candidates) await drive(port, always(rename), { seconds: plan.warmUp })
  const results = await takeTurns(candidates, plan.rounds, (each) =>
    measureLoad(each, always(rename), { seconds: plan.seconds }),
  )
  await stopAll()
  return results.map((result, index) => ({ candidate: candidates[index].name, ...result }))
}

function startLowdb(name, state, folder) {
  const statePath = join(folder, `${name}.state.json`)
  writeFileSync(statePath, JSON.stringify(state))
  return startCandidate(name, serverCommand('lowdb', join(folder, `${name}.json`), statePath))
}
