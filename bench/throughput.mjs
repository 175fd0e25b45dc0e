// Requests per second of processor time, of all candidates in turn.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { API_KEY, domainName, writeFixture } from './accounts.mjs'
import {
  controlRequest,
  EXPRESS,
  HTTP,
  OURS,
  OURS_WITHOUT_JOURNAL,
  serveCommand,
  serverCommand,
  serviceRequest,
  startCandidate,
} from './candidates.mjs'
import { always, ask, assembleRequest, drive } from './load.mjs'
import { startPeers } from './peers.mjs'
import { alone, cpuSeconds, fineCpuSeconds, stopAll } from './processes.mjs'
import { summarize, takeTurns } from './statistics.mjs'

const [DOMAINS, GROUPS] = [1000, 200]
/** How far, relatively, the length of a peer's answer may be from ours: it writes 100.0 as 100, or keys of its own. */
const PEER_TOLERANCE = 0.02

export const RESET = controlRequest('POST', '/accounts/default/reset')

/** Seconds that a JVM needs before it is as fast as it gets, however short the rounds are. */
const SLOW_WARM_UP = 16

/** Each request to each candidate; `peersFolder` is where the peers are installed, if they take part. */
export async function measureThroughput(plan, folder, peersFolder) {
  const fixture = writeFixture(join(folder, 'account.json'), { domains: DOMAINS, groups: GROUPS })
  const ours = await startCandidate(OURS, serveCommand(fixture))
  const { workloads, answersPath } = await prepareWorkloads(ours, folder)
  const withoutJournal = serveCommand(fixture, { options: ['--journal', '0'] })
  const candidates = [
    { ...ours, keepsState: true },
    { ...(await startCandidate(OURS_WITHOUT_JOURNAL, withoutJournal)), keepsState: true },
    await startCandidate(EXPRESS, serverCommand('express', answersPath)),
    await startCandidate(HTTP, serverCommand('http', answersPath)),
  ]
  const { peers, skipped } = await startPeers(peersFolder, { folder, answersPath, workloads })
  const rows = []
  for (const workload of workloads) rows.push(...(await compare(plan, workload, [...candidates, ...peers], skipped)))
  await stopAll()
  return { rows, skipped }
}

/** The requests, and what the service answers to them, for the others to answer the same. */
export async function prepareWorkloads({ port }, folder) {
  const groups = (await ask(port, serviceRequest('GET', '/domaingroups'))).toString()
  const { id } = JSON.parse(groups).data.groups[100]
  const body = { name: 'bench {ordinal}', domains: [10, 500, 999].map(domainName) }
  const workloads = [
    { key: 'group', name: 'GET /domaingroups?id=…', method: 'GET', path: `/domaingroups?id=${id}` },
    { key: 'dmarc', name: `GET /dmarc, ${DOMAINS.toLocaleString('en-US')} records`, method: 'GET', path: '/dmarc' },
    // Last, because each of its requests leaves a group behind.
    { key: 'created', name: 'POST /domaingroups, 3 members', method: 'POST', path: '/domaingroups', body, grows: true },
  ]
  const answers = { groups }
  for (const { key, method, path, body } of workloads) {
    answers[key] = (await ask(port, serviceRequest(method, path, body))).toString()
  }
  const answersPath = join(folder, 'answers.json')
  writeFileSync(answersPath, JSON.stringify(answers))
  return { workloads, answersPath }
}

async function compare(plan, workload, candidates, skipped) {
  const able = await thoseOfSameLength(workload, candidates, skipped)
  const sequences = able.map((candidate) => always(requestTo(candidate, workload)))
  for (const [index, { port, slowToWarm }] of able.entries()) {
    const seconds = slowToWarm ? SLOW_WARM_UP : plan.warmUp
    await drive(port, sequences[index], limitsOf(able[index], { seconds, answers: plan.warmUpAnswers }))
  }
  async function measureRound([index, candidate]) {
    // An account that has grown by all rounds before would be another one than the table says.
    if (workload.grows && candidate.keepsState) await ask(candidate.port, RESET)
    const { runIn, runInAnswers, seconds, answers } = plan
    await drive(candidate.port, sequences[index], limitsOf(candidate, { seconds: runIn, answers: runInAnswers }))
    return measureLoad(candidate, sequences[index], limitsOf(candidate, { seconds, answers }))
  }
  const results = await takeTurns([...able.entries()], plan.rounds, measureRound, withBest)
  return results.map((result, index) => ({
    request: workload.name,
    candidate: able[index].name,
    isPeer: able[index].isPeer,
    ...result,
  }))
}

/**
 * So many answers where the plan says how many, so that a busy machine measures for longer, and not less. Express would take too
 * long for them.
 */
function limitsOf({ name }, { seconds, answers }) {
  return answers === undefined || name === EXPRESS ? { seconds } : { answers }
}

/** The best round beside the median: it is the one that other work of the machine has disturbed least. */
function withBest(rounds) {
  return { ...summarize(rounds), bestPerCpuSecond: Math.max(...rounds.map(({ perCpuSecond }) => perCpuSecond)) }
}

export function requestTo({ basePath }, { method, path, body }) {
  return assembleRequest(method, basePath + path, API_KEY, body === undefined ? undefined : JSON.stringify(body))
}

/** Whose answer is as long as ours. A peer whose answer is not is left out and named; of the others it is an error. */
async function thoseOfSameLength(workload, candidates, skipped) {
  const lengths = await Promise.all(
    candidates.map(async (candidate) => {
      try {
        return (await ask(candidate.port, requestTo(candidate, workload))).length
      } catch (error) {
        if (!candidate.isPeer) throw error
        return `no success: ${error.message.slice(0, 200)}`
      }
    }),
  )
  const [expected] = lengths
  return candidates.filter(({ name, isPeer = false }, index) => {
    const length = lengths[index]
    if (Math.abs(length - expected) <= (isPeer ? PEER_TOLERANCE * expected : 0)) return true
    const why = `${workload.name}: its answer has ${length} bytes, ours ${expected}`
    if (!isPeer) throw new Error(`${name}: ${why}.`)
    skipped.push({ name, why })
    return false
  })
}

/** One round: what one core serves, and how far the figure can be trusted. */
export async function measureLoad({ port, child, isPeer = false }, sequences, limits) {
  // Peers may end threads, whose time the finer figure forgets.
  const spent = () => (isPeer ? cpuSeconds(child.pid) : fineCpuSeconds(child.pid))
  const [serverBefore, loadBefore] = [spent(), process.cpuUsage()]
  const { answers, wall, p99 } = await alone(child, () => drive(port, sequences, limits))
  const load = process.cpuUsage(loadBefore)
  const serverCpu = serverBefore === undefined ? wall : spent() - serverBefore
  return {
    perSecond: answers / wall,
    perCpuSecond: answers / serverCpu,
    p99,
    busy: serverCpu / wall,
    loadShare: (load.user + load.system) / 1e6 / serverCpu,
  }
}
