// Requests per second of processor time, of all contestants in turn; and how they change over many requests.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  API_KEY,
  domainName,
  EXPRESS,
  HTTP,
  OURS,
  serveCommand,
  serverCommand,
  serviceRequest,
  startContestant,
  startPeers,
  writeFixture,
} from './contestants.mjs'
import { ask, assembleRequest, drive } from './load.mjs'
import { alone, cpuSeconds, residentMebibytes, stopAll, stopProgram } from './processes.mjs'
import { median, takeTurns } from './statistics.mjs'

const [DOMAINS, GROUPS] = [1000, 200]
/** How far, relatively, a peer's answer may be longer or shorter than ours: it writes 100.0 as 100. */
const PEER_TOLERANCE = 0.02

/** An account takes 5,000 groups, and has 200. */
const MOST_GROUPS = 4_500

/**
 * Each request to each contestant, in an account of 1,000 domains and 200 groups. Each POST leaves a group behind, so the
 * account is reset before each round of them.
 */
export async function measureRequests({ rounds, seconds, peers }, folder) {
  const ours = await startContestant(OURS, serveCommand(writeFixture(join(folder, 'account.json'), size())))
  const { workloads, answersPath } = await prepareWorkloads(ours.port, folder)
  const contestants = [
    ours,
    await startContestant(EXPRESS, serverCommand('express', answersPath)),
    await startContestant(HTTP, serverCommand('http', answersPath)),
    ...(peers ? await startPeers(folder, answersPath) : []),
  ]
  const rows = []
  for (const workload of workloads) {
    const able = await thatAnswerAlike(workload, contestants)
    const limits = workload.method === 'POST' ? { answers: MOST_GROUPS } : { seconds }
    const measure = async (contestant) => {
      if (workload.method === 'POST' && contestant === ours) await ask(ours.port, RESET)
      return measureLoad(contestant, requestTo(contestant, workload), limits)
    }
    // What comes first runs before the code is compiled.
    for (let warmUp = 0; warmUp < 3; warmUp++) for (const contestant of able) await measure(contestant)
    const measured = await takeTurns(able, rounds, measure)
    for (const [index, figures] of measured.entries()) {
      rows.push({ request: workload.name, server: able[index].name, ...figures })
    }
  }
  await stopAll()
  return rows.map((row) => ({ ...row, toHttp: row.perCpuSecond / rowOf(rows, row.request, HTTP).perCpuSecond }))
}

function size() {
  return { domains: DOMAINS, groups: GROUPS }
}

const RESET = assembleRequest('POST', '/__admin/accounts/default/reset', API_KEY)

function rowOf(rows, request, server) {
  return rows.find((row) => row.request === request && row.server === server)
}

/** The requests, and what the service answers to them, for the others to answer the same. */
async function prepareWorkloads(port, folder) {
  const groups = (await ask(port, serviceRequest('GET', '/domaingroups'))).toString()
  const { id } = JSON.parse(groups).data.groups[100]
  const body = { name: 'bench {ordinal}', domains: [10, 500, 999].map(domainName) }
  const workloads = [
    { key: 'group', name: 'GET /domaingroups?id=…', method: 'GET', path: `/domaingroups?id=${id}` },
    { key: 'dmarc', name: 'GET /dmarc, 1,000 records', method: 'GET', path: '/dmarc' },
    { key: 'created', name: 'POST /domaingroups', method: 'POST', path: '/domaingroups', body },
  ]
  const answers = { groups }
  for (const { key, method, path, body } of workloads) {
    answers[key] = (await ask(port, serviceRequest(method, path, body))).toString()
  }
  const answersPath = join(folder, 'answers.json')
  writeFileSync(answersPath, JSON.stringify(answers))
  return { workloads, answersPath }
}

function requestTo({ basePath }, { method, path, body }) {
  return assembleRequest(method, basePath + path, API_KEY, body)
}

/** Those whose answer is as long as ours. A peer whose answer is not is left out; of the others it is an error. */
async function thatAnswerAlike(workload, contestants) {
  const able = []
  let expected
  for (const contestant of contestants) {
    const { name, isPeer = false } = contestant
    const length = (await ask(contestant.port, requestTo(contestant, workload)).catch((error) => error)).length
    expected ??= length
    if (Math.abs(length - expected) <= (isPeer ? PEER_TOLERANCE * expected : 0)) {
      able.push(contestant)
      continue
    }
    const why = `${workload.name}: ${name} answers ${length} bytes, and we ${expected}`
    if (!isPeer) throw new Error(why)
    console.log(`${why}; it is left out.`)
  }
  return able
}

/** One round: what one core serves. */
async function measureLoad({ port, child }, request, limits) {
  const before = cpuSeconds(child.pid)
  const { answers, wall, p99, longest } = await alone(child, () => drive(port, request, limits))
  return { perCpuSecond: answers / (cpuSeconds(child.pid) - before), perSecond: answers / wall, p99, longest }
}

/** Memory and speed of one server over many requests that leave the account as large as it was. */
export async function measureGrowth({ requests }, folder) {
  const ours = await startContestant(OURS, serveCommand(writeFixture(join(folder, 'account.json'), size())))
  const { groups } = JSON.parse(await ask(ours.port, serviceRequest('GET', '/domaingroups'))).data
  const rename = serviceRequest('PATCH', `/domaingroups?id=${groups[0].id}`, { name: 'bench {ordinal}' })
  const rows = []
  for (let part = 1; part <= 5; part++) {
    const { perCpuSecond, longest } = await measureLoad(ours, rename, { answers: requests / 5 })
    rows.push({ answered: (part * requests) / 5, perCpuSecond, longest, mebibytes: residentMebibytes(ours.child.pid) })
  }
  await stopProgram(ours.child)
  return rows
}

/**
 * How long a client waits at most that has one request open at a time, while another one asks for something expensive about
 * another account: milliseconds, the median of the rounds.
 */
export async function measureWaits({ rounds }) {
  const ours = await startContestant(OURS, serveCommand('demo'))
  const control = (method, path, body) => assembleRequest(method, `/__admin${path}`, API_KEY, body)
  const domains = Array.from({ length: 10_000 }, (_, index) => domainName(index))
  await ask(ours.port, control('POST', '/accounts', { id: 'large', api_key: 'key-of-large', fixture: { domains } }))
  const add = control('POST', '/accounts/large/domains', { domains: ['one-more-{ordinal}.example'] })
  const burdens = {
    nothing: undefined,
    'GET /dmarc of 10,000 domains, after a change': assembleRequest('GET', '/api/v1/dmarc', 'key-of-large'),
    'the overview of 10,000 domains, after a change': control('GET', '/accounts/large/overview'),
    'an export of 10,000 domains': control('GET', '/accounts/large/state'),
  }
  const read = serviceRequest('GET', '/domaingroups')
  const rows = []
  for (const [burden, request] of Object.entries(burdens)) {
    const longest = []
    for (let round = 0; round < rounds; round++) {
      if (request !== undefined) await ask(ours.port, add)
      longest.push(await longestWait(ours.port, read, request))
    }
    rows.push({ burden, longest: median(longest) })
  }
  await stopProgram(ours.child)
  return rows
}

async function longestWait(port, read, burden) {
  let [isDone, longest, asked] = [burden === undefined, 0, 0]
  const done = burden && ask(port, burden).finally(() => (isDone = true))
  while (!isDone || asked < 50) {
    const began = performance.now()
    await ask(port, read)
    asked += 1
    longest = Math.max(longest, performance.now() - began)
  }
  await done
  return longest
}
