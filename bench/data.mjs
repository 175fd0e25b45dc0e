// Measures acknowledged changes a second of an account that is kept on disk, beside the obvious way with lowdb, and
// of one account alone beside one among thousands. Prints one JSON object. README.md says how each figure is made.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { ask, assembleRequest, drive } from './load.mjs'
import { cpuSeconds, pinThisProcess, portOf, startNode, stopAll } from './processes.mjs'

const CONNECTIONS = 32
const DOMAINS = 1000
const GROUPS = 200
const OTHERS = 10_000
const API_KEY = `key_benchkey.${'0'.repeat(48)}`
const HERE = fileURLToPath(new URL('.', import.meta.url))

/** @param {{ rounds: number, seconds: number, warmUp: number }} plan */
export async function measureData({ rounds, seconds, warmUp }, pinned) {
  const folder = mkdtempSync(join(tmpdir(), 'understudy-bench-data-'))
  try {
    const candidates = await startCandidates(folder, pinned)
    for (const { port, request } of candidates) await drive(port, request, CONNECTIONS, warmUp)
    const measured = candidates.map(() => [])
    // In turn, round after round, so that a slow moment of the machine hits all of them.
    for (let round = 0; round < rounds; round++) {
      for (const [index, candidate] of candidates.entries()) measured[index].push(await measure(candidate, seconds))
    }
    const results = candidates.map(({ name }, index) => ({ candidate: name, ...summarize(measured[index]) }))
    const rate = (name) => results.find(({ candidate }) => candidate === name).perSecond
    return {
      connections: CONNECTIONS,
      domains: DOMAINS,
      groups: GROUPS,
      accounts: OTHERS,
      plan: { rounds, seconds, warmUp },
      results,
      toLowdb: rate('--data') / rate('lowdb'),
      aloneToAmongMany: rate('--data') / rate(`--data, ${OTHERS} accounts`),
    }
  } finally {
    await stopAll()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function startCandidates(folder, pinned) {
  const domains = Array.from({ length: DOMAINS }, (_, index) => `domain-${String(index).padStart(4, '0')}.example`)
  const groups = Array.from({ length: GROUPS }, (_, index) => ({
    name: `Group ${String(index).padStart(3, '0')}`,
    domains: [0, 1, 2, 3, 4].map((member) => domains[(index * 5 + member) % DOMAINS]),
  }))
  const fixture = join(folder, 'fixture.json')
  writeFileSync(fixture, JSON.stringify({ domains, groups }))
  const serve = (data, ...more) => {
    const settings = ['--log-level', 'silent', '--no-quotas', '--api-key', API_KEY, '--max-accounts', `${OTHERS + 1}`]
    const args = [join(HERE, '../dist/cli.js'), 'serve', '--port', '0', '--data', data, ...settings, ...more]
    return startCandidate(args, pinned)
  }
  const ours = await serve(join(folder, 'alone'), '--fixture', fixture)
  const { data } = JSON.parse(await ask(ours.port, assembleRequest('GET', '/api/v1/domaingroups', API_KEY)))
  const crowd = join(folder, 'crowd')
  fillWithOthers(crowd, readFileSync(join(folder, 'alone', 'account-default.json'), 'utf8'))
  const among = await serve(crowd)
  const flushed = await serve(join(folder, 'flushed'), '--fixture', fixture, '--durability', 'fsync')

  const record = ({ id, name, domains }) => ({ id, name, domains })
  const state = join(folder, 'state.json')
  const monitored = domains.map((name) => ({ name, addedAt: 1_768_467_600_000, features: [] }))
  writeFileSync(state, JSON.stringify({ domains: monitored, groups: data.groups.map(record) }))
  const lowdb = await startCandidate([join(HERE, 'lowdb.mjs'), join(folder, 'db.json'), state], pinned)

  const path = `/api/v1/domaingroups?id=${data.groups[100].id}`
  const request = assembleRequest('PATCH', path, API_KEY, JSON.stringify({ name: 'bench {ordinal}' }))
  return [
    { name: '--data', ...ours, request },
    { name: `--data, ${OTHERS} accounts`, ...among, request },
    { name: '--data --durability fsync', ...flushed, request },
    { name: 'lowdb', ...lowdb, request },
  ]
}

/** Small accounts beside the large one, as a store would have written them. */
function fillWithOthers(folder, file) {
  mkdirSync(folder)
  writeFileSync(join(folder, 'account-default.json'), file)
  const { account, ...rest } = JSON.parse(file)
  const small = { ...account, origin: { ...account.origin, fixture: 'empty' }, keys: [], domains: [], groups: [] }
  for (let other = 0; other < OTHERS; other++) {
    const id = `other-${other}`
    writeFileSync(join(folder, `account-${id}.json`), JSON.stringify({ ...rest, account: { ...small, id } }))
  }
}

async function startCandidate(args, pinned) {
  const child = startNode(args, pinned)
  return { child, port: await portOf(child) }
}

async function measure({ port, child, request }, seconds) {
  const before = cpuSeconds(child.pid)
  const { answers, wall, p99 } = await drive(port, request, CONNECTIONS, seconds)
  return { perSecond: answers / wall, perCpuSecond: answers / (cpuSeconds(child.pid) - before), p99 }
}

function summarize(rounds) {
  const median = (values) => values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)]
  return Object.fromEntries(Object.keys(rounds[0]).map((name) => [name, median(rounds.map((round) => round[name]))]))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
  const plan = values.quick ? { rounds: 3, seconds: 0.5, warmUp: 0.5 } : { rounds: 9, seconds: 1, warmUp: 2 }
  console.log(JSON.stringify(await measureData(plan, pinThisProcess()), null, 2))
}
