// One replica on Redis, beside the service with its accounts in memory and in a folder.
import { join } from 'node:path'
import { writeFixture } from './accounts.mjs'
import { OURS, serveCommand, serviceRequest, startCandidate } from './candidates.mjs'
import { always, ask, drive } from './load.mjs'
import { fineCpuSeconds, stopAll } from './processes.mjs'
import { startRedis } from './redis.mjs'
import { takeTurns } from './statistics.mjs'
import { measureLoad } from './throughput.mjs'

/** Requests per second of wall time, because it is Redis that they wait for. Without Redis, there are no figures of it. */
export async function measureReplicas(plan, folder) {
  const fixture = writeFixture(join(folder, 'shared-account.json'), { domains: 1000, groups: 200 })
  const redis = await startRedis(join(folder, 'redis'))
  const candidates = [
    await startCandidate(`${OURS}, in memory`, serveCommand(fixture)),
    await startCandidate(
      `${OURS} --data`,
      serveCommand(fixture, { options: ['--data', join(folder, 'replica-data')] }),
    ),
    ...(redis === undefined
      ? []
      : [await startCandidate(`${OURS} --store`, serveCommand(fixture, { options: redis.options }))]),
  ]
  const rows = []
  for (const [request, method, body] of [
    ['GET /domaingroups?id=…', 'GET'],
    // A write that leaves the state as large as it was.
    ['PATCH /domaingroups?id=…', 'PATCH', { name: 'bench {ordinal}' }],
  ]) {
    const loads = await Promise.all(candidates.map(async (each) => always(await toGroup(each, method, body))))
    for (const [index, { port }] of candidates.entries()) await drive(port, loads[index], { seconds: plan.warmUp })
    const results = await takeTurns([...candidates.entries()], plan.rounds, ([index, each]) =>
      measureWithRedis(each, loads[index], plan.seconds, redis?.pid),
    )
    rows.push(...results.map((result, index) => ({ request, candidate: candidates[index].name, ...result })))
  }
  await stopAll()
  return rows
}

async function toGroup({ port }, method, body) {
  const { groups } = JSON.parse((await ask(port, serviceRequest('GET', '/domaingroups'))).toString()).data
  return serviceRequest(method, `/domaingroups?id=${groups[100].id}`, body)
}

/** The figures of a round, with the processor time that Redis took for each request, in microseconds. */
async function measureWithRedis(candidate, load, seconds, redisPid) {
  const spent = () => (redisPid === undefined ? undefined : fineCpuSeconds(redisPid)) ?? 0
  const before = spent()
  const figures = await measureLoad(candidate, load, { seconds })
  return { ...figures, redisMicroseconds: ((spent() - before) * 1e6) / (figures.perSecond * seconds) }
}
