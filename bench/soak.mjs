// Everything at once for a while: `npm run bench:soak -- --minutes 60`. Fails at any 5xx, at an answer that nobody expects, and
// when the server becomes slower or larger, or nobody can say so. Two servers are under the same load: one in memory, one
// with a data folder.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { PROGRAM, serverCommand } from './candidates.mjs'
import { describeCommit } from './commit.mjs'
import { LIVE_MEMORY, liveBytes } from './live-memory.mjs'
import { ALL_CORES, fineCpuSeconds, portOf, residentMebibytes, startProgram, stopAll } from './processes.mjs'
import { judgeSoak } from './soak-bars.mjs'
import { writeSoak } from './soak-chart.mjs'
import { chooseStep, createRandom, EXPECTED, exchange, listen, ROOM } from './soak-work.mjs'
import { summarize } from './statistics.mjs'
import { figure, printTable } from './table.mjs'

const RESULTS = fileURLToPath(new URL('soak-results.json', import.meta.url))
/** Shorter ones do not show what an hour shows, so the results that documents show are not replaced by theirs. */
const SHOWN_FROM = 60

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    accounts: { type: 'string' },
    seed: { type: 'string', default: '1' },
    // Milliseconds that a worker waits between two requests: the servers should be busy, but not overloaded.
    pause: { type: 'string', default: '50' },
    output: { type: 'string' },
  },
})
const MINUTES = positive('minutes')
// Their journals and snapshots are to be full after the first third.
const ACCOUNTS = Math.round(
  values.accounts === undefined ? Math.max(20, Math.min(720, 12 * MINUTES)) : positive('accounts'),
)
const [SEED, PAUSE] = [positive('seed'), positive('pause')]

const WORKERS = 12
const LISTENERS = 5
/** Milliseconds between two requests that are timed. */
const WATCH_PAUSE = 8
/** Requests that the journal of an account keeps. */
const JOURNAL = 100
/** The time is divided into so many windows. The first third of them is for filling caches and journals. */
const WINDOWS = 12 * Math.ceil(Math.min(60, Math.max(4, MINUTES)) / 4)

function positive(name) {
  const value = Number(values[name])
  if (Number.isFinite(value) && value > 0) return value
  console.error(`--${name} ${values[name]}: must be a number greater than 0.`)
  process.exit(2)
}

async function open(name, options) {
  const limits = ['--max-accounts', `${ACCOUNTS + ROOM + 1}`, '--journal', `${JOURNAL}`]
  const settings = ['--port', '0', '--log-level', 'error', '--no-quotas', '--fixture', 'demo', ...limits, ...options]
  const child = startProgram([...LIVE_MEMORY, PROGRAM, 'serve', ...settings], { cores: ALL_CORES })
  return { name, child, port: await portOf(child) }
}

/** What can become neither slower nor larger: only the machine makes its answers late. */
async function openReference() {
  const path = join(folder, 'answers.json')
  writeFileSync(path, JSON.stringify({ group: '{}', created: '{}', dmarc: '{}' }))
  const child = startProgram(serverCommand('http', path), { cores: ALL_CORES })
  return { child, port: await portOf(child) }
}

async function soak({ name, child, port }) {
  const random = createRandom(SEED)
  const reference = await openReference()
  const agent = new Agent({ keepAlive: true, maxSockets: WORKERS + 2 })
  const send = (request, to = port) => exchange(agent, to, request)
  const complaints = []
  const counts = { requests: 0, statuses: new Map() }
  const accounts = Array.from({ length: ACCOUNTS }, (_, index) => ({ id: `soak-${index}`, key: `soak-key-${index}` }))
  for (let index = 0; index < accounts.length; index += 20) {
    const some = accounts.slice(index, index + 20)
    await Promise.all(
      some.map(({ id, key }) => send({ method: 'POST', path: '/__admin/accounts', body: { id, api_key: key } })),
    )
  }
  for (let index = 0; index < LISTENERS; index++) listen(port, accounts[index]?.id)
  const until = performance.now() + MINUTES * 60_000

  async function work() {
    while (performance.now() < until) {
      const step = chooseStep(random, accounts)
      const status = await send(step)
      counts.requests++
      counts.statuses.set(status, (counts.statuses.get(status) ?? 0) + 1)
      if (!EXPECTED.has(status) && complaints.length < 10) {
        complaints.push(`${name}: ${step.method} ${step.path} was answered ${status}.`)
      }
      await setTimeout(PAUSE)
    }
  }

  async function timed(to) {
    const began = performance.now()
    await send({ method: 'GET', path: '/api/v1/domaingroups', key: 'sandbox_watch' }, to)
    return performance.now() - began
  }

  async function watchOneWindow(end) {
    const [waits, references] = [[], []]
    const before = {
      requests: counts.requests,
      cpu: fineCpuSeconds(child.pid),
      reference: fineCpuSeconds(reference.child.pid),
    }
    // At least once: where the machine stood still, a window may be over before it begins.
    do {
      waits.push(await timed(port))
      references.push(await timed(reference.port))
      await setTimeout(WATCH_PAUSE)
    } while (performance.now() < end)
    const served = counts.requests - before.requests + waits.length
    const cpu = (of, since, requests) => ((fineCpuSeconds(of.pid) - since) * 1e6) / requests
    return {
      medianMs: quantile(waits, 0.5),
      p99Ms: quantile(waits, 0.99),
      referenceP99Ms: quantile(references, 0.99),
      cpuMicroseconds: cpu(child, before.cpu, served),
      referenceCpuMicroseconds: cpu(reference.child, before.reference, references.length),
    }
  }

  async function watch() {
    const windows = []
    const began = performance.now()
    for (let window = 0; window < WINDOWS; window++) {
      const measured = await watchOneWindow(performance.now() + (until - performance.now()) / (WINDOWS - window))
      // Nothing is timed during the collection. What is resident after it is not what waits for one.
      const live = (await liveBytes(child)) / 2 ** 20
      windows.push({
        minute: (performance.now() - began) / 60_000,
        ...measured,
        liveMebibytes: live,
        residentMebibytes: residentMebibytes(child.pid),
      })
      if (window === WINDOWS / 3 - 1 && counts.requests < 2 * JOURNAL * ACCOUNTS) {
        complaints.push(`${name}: the journals may not be full yet after the first third. Ask for fewer --accounts.`)
      }
    }
    return windows
  }

  const [windows] = await Promise.all([watch(), ...Array.from({ length: WORKERS }, work)])
  if (child.exitCode !== null) complaints.push(`${name}: the server has ended with ${child.exitCode}.`)
  agent.destroy()
  const statuses = Object.fromEntries([...counts.statuses].toSorted())
  return { server: { name, requests: counts.requests, statuses, windows: windows.map(round) }, complaints }
}

function quantile(values, share) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length * share)]
}

/** Four digits are more than is certain of any of the figures. */
function round(window) {
  return Object.fromEntries(Object.entries(window).map(([name, value]) => [name, Number(value.toPrecision(4))]))
}

/** In twelve rows for each server: the medians of the windows that follow each other. */
function print({ servers }) {
  for (const { name, requests, statuses } of servers) {
    const counted = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`)
    console.log(`${name}: ${figure(requests)} requests (${counted.join(', ')})`)
  }
  const row = (name, { minute, medianMs, p99Ms, referenceP99Ms, cpuMicroseconds, ...memory }) => ({
    server: name,
    minute: figure(minute),
    'median ms': figure(medianMs),
    'p99 ms': figure(p99Ms),
    'p99 of node:http': figure(referenceP99Ms),
    'CPU µs': figure(cpuMicroseconds),
    'live MiB': figure(memory.liveMebibytes),
    'resident MiB': figure(memory.residentMebibytes),
  })
  const size = WINDOWS / 12
  const parts = (windows) => Array.from({ length: 12 }, (_, part) => windows.slice(part * size, (part + 1) * size))
  printTable(servers.flatMap(({ name, windows }) => parts(windows).map((part) => row(name, summarize(part)))))
}

/** Each window in a line. */
function writeResults(path, results) {
  const text = JSON.stringify(results, null, 2)
  writeFileSync(
    path,
    `${text.replaceAll(/\{\s+("minute"[^}]*?)\s+\}/g, (_, inner) => `{ ${inner.replaceAll(/\s+/g, ' ')} }`)}\n`,
  )
}

const folder = mkdtempSync(join(tmpdir(), 'understudy-soak-'))
try {
  const origin = describeCommit()
  const opened = await Promise.all([
    open('in memory', []),
    open('with a data folder', ['--data', join(folder, 'data')]),
  ])
  const reports = await Promise.all(opened.map(soak))
  const results = {
    ...origin,
    machine: { cpu: cpus()[0].model, cores: cpus().length, node: process.version },
    plan: { minutes: MINUTES, accounts: ACCOUNTS, seed: SEED, pause: PAUSE, workers: WORKERS },
    servers: reports.map(({ server }) => server),
  }
  print(results)
  const judged = judgeSoak(results)
  printTable(
    judged.map(({ server, work, growth, least, most, limit, word }) => ({
      server,
      'last two thirds': work,
      grew: percent(growth),
      'at least': percent(least),
      'at most': percent(most),
      limit: percent(limit),
      '': word,
    })),
  )
  const complaints = reports.flatMap((report) => report.complaints)
  for (const complaint of complaints) console.error(complaint)
  if (complaints.length > 0 || judged.some(({ word }) => word !== 'flat')) process.exitCode = 1
  const path = values.output ?? (MINUTES >= SHOWN_FROM ? RESULTS : undefined)
  if (path !== undefined) writeResults(path, results)
  if (path === RESULTS) writeSoak(results)
} finally {
  await stopAll()
  rmSync(folder, { recursive: true, force: true })
}

function percent(share) {
  return `${(share * 100).toFixed(1)} %`
}
