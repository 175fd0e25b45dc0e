// Everything at once for a while: `npm run bench:soak -- --minutes 10`. Fails at any 5xx, at an answer that nobody expects, and
// when the server becomes slower or larger. Two servers are under the same load: one in memory, one with a data folder.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { PROGRAM } from './candidates.mjs'
import { ALL_CORES, portOf, startProgram, stopAll } from './processes.mjs'
import { figure, printTable } from './table.mjs'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    accounts: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    // How much slower and larger the last third may be than the second.
    tolerance: { type: 'string', default: '0.1' },
  },
})
const [MINUTES, ACCOUNTS, SEED, TOLERANCE] = ['minutes', 'accounts', 'seed', 'tolerance'].map((name) => {
  const value = Number(values[name])
  if (!Number.isFinite(value) || value <= 0) {
    console.error(`--${name} ${values[name]}: must be a number greater than 0.`)
    process.exit(2)
  }
  return value
})

const WORKERS = 12
const LISTENERS = 5
/** Milliseconds that a worker waits between two requests: the servers should be busy, but not overloaded. */
const PAUSE = 5
/** Keys of sandboxes, of which only so many have room at a time. */
const SANDBOXES = 600
const ROOM = 200
/** What any request may be answered. A fault answers 429, and the rest depends on what the account holds by then. */
const EXPECTED = new Set([200, 201, 400, 404, 409, 429])
/** The time is divided into so many windows. The first third is for filling caches and journals. */
const WINDOWS = 12

async function open(name, options) {
  const limits = ['--max-accounts', `${ACCOUNTS + ROOM + 1}`, '--max-memory', '400MiB', '--journal', '100']
  const settings = ['--port', '0', '--log-level', 'error', '--no-quotas', '--fixture', 'demo', ...limits, ...options]
  const child = startProgram([PROGRAM, 'serve', ...settings], { cores: ALL_CORES })
  return { name, child, port: await portOf(child) }
}

async function soak(server) {
  const { name, child, port } = server
  const random = createRandom(SEED)
  const agent = new Agent({ keepAlive: true, maxSockets: WORKERS + 2 })
  const send = (method, path, body, key) => exchange(agent, port, { method, path, body, key })
  const complaints = []
  const counts = { requests: 0, statuses: new Map() }
  const accounts = Array.from({ length: ACCOUNTS }, (_, index) => ({ id: `soak-${index}`, key: `soak-key-${index}` }))
  for (let index = 0; index < accounts.length; index += 20) {
    const some = accounts.slice(index, index + 20)
    await Promise.all(some.map(({ id, key }) => send('POST', '/__admin/accounts', { id, api_key: key })))
  }
  for (let index = 0; index < LISTENERS; index++) listen(port, accounts[index]?.id)
  const until = performance.now() + MINUTES * 60_000

  async function work() {
    while (performance.now() < until) {
      const step = choose(random, STEPS)(random, choose(random, accounts))
      const status = await send(step.method, step.path, step.body, step.key)
      counts.requests++
      counts.statuses.set(status, (counts.statuses.get(status) ?? 0) + 1)
      if (!EXPECTED.has(status) && complaints.length < 10) {
        complaints.push(`${name}: ${step.method} ${step.path} was answered ${status}.`)
      }
      await setTimeout(PAUSE)
    }
  }

  async function watch() {
    const windows = []
    for (let window = 0; window < WINDOWS; window++) {
      const end = performance.now() + (until - performance.now()) / (WINDOWS - window)
      const waits = []
      let memory = Number.POSITIVE_INFINITY
      while (performance.now() < end) {
        const began = performance.now()
        await send('GET', '/api/v1/domaingroups', undefined, 'sandbox_watch')
        waits.push(performance.now() - began)
        // The least of a window is what is left after a collection.
        memory = Math.min(memory, residentBytes(child.pid) / 2 ** 20)
        await setTimeout(PAUSE)
      }
      waits.sort((one, other) => one - other)
      windows.push({ p99: waits[Math.floor(waits.length * 0.99)], median: waits[waits.length >> 1], memory })
    }
    return windows
  }

  const [windows] = await Promise.all([watch(), ...Array.from({ length: WORKERS }, work)])
  const third = WINDOWS / 3
  const [second, last] = [windows.slice(third, 2 * third), windows.slice(2 * third)]
  const change = (pick) => middle(last.map(pick)) / middle(second.map(pick))
  const [slower, larger] = [change(({ p99 }) => p99), change(({ memory }) => memory)]
  if (slower > 1 + TOLERANCE) complaints.push(`${name}: p99 of the last third is ${figure(slower)} × the second.`)
  if (larger > 1 + TOLERANCE) complaints.push(`${name}: memory of the last third is ${figure(larger)} × the second.`)
  if (child.exitCode !== null) complaints.push(`${name}: the server has ended with ${child.exitCode}.`)
  agent.destroy()
  const statuses = [...counts.statuses].toSorted().map(([status, count]) => `${count} × ${status}`)
  const rows = windows.map(({ p99, median, memory }, index) => ({
    server: name,
    third: Math.floor(index / third) + 1,
    'median ms': figure(median),
    'p99 ms': figure(p99),
    'resident MiB': figure(memory),
  }))
  console.log(`${name}: ${figure(counts.requests)} requests (${statuses.join(', ')})`)
  return { rows, complaints }
}

/** What a worker may do, as often as it stands here. All of it leaves an account about as large as it was. */
const STEPS = [
  ...Array(6).fill(() => (_, { key }) => ({ method: 'GET', path: '/api/v1/domains', key })),
  ...Array(4).fill(() => (_, { key }) => ({ method: 'GET', path: '/api/v1/dmarc', key })),
  ...Array(4).fill(() => (_, { key }) => ({ method: 'GET', path: '/api/v1/domaingroups', key })),
  ...Array(4).fill(() => (random, { key }) => ({
    method: choose(random, ['POST', 'DELETE']),
    path: '/api/v1/domains',
    key,
    body: { domains: [`soak-${Math.floor(random() * 20)}.example`] },
  })),
  ...Array(2).fill(() => (random, { key }) => ({
    method: 'POST',
    path: '/api/v1/domaingroups',
    key,
    body: { name: `Group ${Math.floor(random() * 20)}`, domains: [] },
  })),
  () =>
    (_, { key }) => ({ method: 'POST', path: '/api/v1/domains', key, body: { domains: 'wrong' } }),
  () => (random) => ({ method: 'GET', path: '/api/v1/domains', key: `sandbox_${Math.floor(random() * SANDBOXES)}` }),
  () =>
    (random, { id }) =>
      control('POST', id, '/faults', {
        ...choose(random, [{ respond: { error: 'rate_limited' } }, { delay_ms: 5 }, { corrupt: 'extra-field' }]),
        times: 2,
      }),
  () =>
    (_, { id }) =>
      control('DELETE', id, '/faults'),
  () =>
    (_, { id }) =>
      control('POST', id, '/snapshots', { name: 'soak', replace: true }),
  () =>
    (_, { id }) =>
      control('POST', id, '/snapshots/soak/restore'),
  () =>
    (_, { id }) =>
      control('PATCH', id, '/clock', { advance: 'PT1H' }),
  () =>
    (_, { id }) =>
      control('POST', id, '/reset'),
  () =>
    (_, { id }) =>
      control('GET', id, '/requests'),
  () =>
    (_, { id }) =>
      control('GET', id, '/coverage'),
  () =>
    (_, { id }) =>
      control('GET', id, '/state'),
  () =>
    (random, { id }) =>
      control('POST', id, '/keys', { key: `soak-more-${id}-${Math.floor(random() * 3)}` }),
].map((make) => make())

function control(method, id, path, body) {
  return { method, path: `/__admin/accounts/${id}${path}`, body }
}

function exchange(agent, port, { method, path, body, key }) {
  const text = body === undefined ? undefined : JSON.stringify(body)
  const headers = {
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    ...(text !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
  }
  return new Promise((resolve) => {
    const request = httpRequest({ agent, port, host: '127.0.0.1', method, path, headers }, (response) => {
      response.resume()
      response.once('end', () => resolve(response.statusCode))
      response.once('error', () => resolve('an error'))
    })
    request.once('error', (error) => resolve(error.code))
    request.end(text)
  })
}

function listen(port, account) {
  const path = account === undefined ? '/__admin/events' : `/__admin/accounts/${account}/events`
  const request = httpRequest({ port, host: '127.0.0.1', path }, (response) => {
    response.on('error', () => {})
    response.resume()
  })
  request.on('error', () => {})
  request.end()
}

function choose(random, list) {
  return list[Math.floor(random() * list.length)]
}

/** A sequence of numbers from 0 to 1 that depends on the seed alone (mulberry32). */
function createRandom(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function residentBytes(pid) {
  const [, pages] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')
  return Number(pages) * 4096
}

function middle(numbers) {
  return numbers.toSorted((one, other) => one - other)[numbers.length >> 1]
}

const folder = mkdtempSync(join(tmpdir(), 'understudy-soak-'))
try {
  const servers = await Promise.all([
    open('in memory', []),
    open('with a data folder', ['--data', join(folder, 'data')]),
  ])
  const reports = await Promise.all(servers.map(soak))
  printTable(reports.flatMap(({ rows }) => rows))
  const complaints = reports.flatMap((report) => report.complaints)
  for (const complaint of complaints) console.error(complaint)
  if (complaints.length > 0) process.exitCode = 1
} finally {
  await stopAll()
  rmSync(folder, { recursive: true, force: true })
}
