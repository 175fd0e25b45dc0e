// What is lost of acknowledged changes when Redis is killed, for each way in which it can keep its data, and when a replica
// of Redis takes over. Clients create groups until the kill; then the groups are listed. Needs a build and redis-server:
// npm run build; then node bench/losses.mjs [--rounds 5] [--program redis-server] [--without-strace]
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { freePort } from './processes.mjs'
import { median } from './statistics.mjs'
import { printTable } from './table.mjs'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    program: { type: 'string', default: 'redis-server' },
    'without-strace': { type: 'boolean', default: false },
  },
})
const SERVICE = new URL('../dist/cli.js', import.meta.url).pathname
const KEY = 'key_Bench001.000000000000000000000000000000000000000000000000'
const CLIENTS = 8
const SETTINGS = [
  ['AOF, `appendfsync always`', { appendonly: 'yes', appendfsync: 'always' }],
  ['AOF, `appendfsync everysec`', { appendonly: 'yes', appendfsync: 'everysec' }],
  ['AOF, `appendfsync no`', { appendonly: 'yes', appendfsync: 'no' }],
  ['RDB, `save 60 10000`', { save: '60 10000' }],
  ['nothing', {}],
]

/** Starts Redis, and resolves when it answers. */
async function startRedis(port, folder, options) {
  const given = Object.entries({ save: '', appendonly: 'no', ...options }).flatMap(([name, value]) => [
    `--${name}`,
    value,
  ])
  const more = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--repl-diskless-sync-delay', '0']
  const child = spawn(values.program, [...more, ...given], { stdio: 'ignore' })
  for (;;) {
    if ((await command(port, 'PING').catch(() => '')).startsWith('+PONG')) return child
    await pause(20)
  }
}

/** Sends one command, and resolves to the beginning of the reply as it came. */
function command(port, line) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${line}\r\n`))
    socket.once('data', (data) => {
      resolve(String(data))
      socket.destroy()
    })
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('The connection was closed.')))
  })
}

async function kill(child) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

async function startService(port) {
  const store = ['--store', `redis://127.0.0.1:${port}`]
  const options = [
    '--port',
    '0',
    '--fixture',
    'empty',
    '--api-key',
    KEY,
    '--no-quotas',
    '--log-level',
    'silent',
    '--now',
    '2026-03-01T00:00:00Z',
  ]
  const child = spawn(process.execPath, [SERVICE, 'serve', ...options, ...store], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  for await (const chunk of child.stdout) {
    printed += chunk
    const [, baseUrl] = /Base URL {3}(\S+)/.exec(printed) ?? []
    if (baseUrl !== undefined) return { child, baseUrl, agent: new Agent({ keepAlive: true }) }
  }
  throw new Error(printed)
}

function ask({ baseUrl, agent }, method, path, body) {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const sent = request(baseUrl + path, { agent, method, headers }, (response) => {
      const chunks = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () => resolve({ status: response.statusCode, text: String(Buffer.concat(chunks)) }))
    })
    sent.on('error', reject)
    sent.end(body && JSON.stringify(body))
  })
}

/** Creates groups until `ended` says so; the names of those that were acknowledged, with when that was. */
async function createGroups(service, isEnded) {
  const acknowledged = new Map()
  let number = 0
  async function work() {
    while (!isEnded()) {
      const name = `group ${++number}`
      const { status } = await ask(service, 'POST', '/domaingroups', { name })
      if (status === 200) acknowledged.set(name, performance.now())
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, work))
  return acknowledged
}

async function listGroups(service) {
  for (;;) {
    const { status, text } = await ask(service, 'GET', '/domaingroups')
    if (status === 200) return new Set(JSON.parse(text).data.groups.map(({ name }) => name))
    await pause(50)
  }
}

/** What was acknowledged and is gone, and how long before the kill the first of it was acknowledged, in milliseconds. */
function compare(acknowledged, present, killedAt) {
  const lost = [...acknowledged].filter(([name]) => !present.has(name))
  const since = lost.length === 0 ? 0 : killedAt - Math.min(...lost.map(([, at]) => at))
  return { acknowledged: acknowledged.size, lost: lost.length, since }
}

/** Redis is killed and started again on what it has kept. */
async function restartRound(options) {
  const folder = mkdtempSync(join(tmpdir(), 'understudy-losses-'))
  const port = await freePort()
  let redis = await startRedis(port, folder, options)
  const service = await startService(port)
  let killedAt = 0
  const creating = createGroups(service, () => killedAt > 0)
  await pause(1_500 + Math.random() * 1_000)
  killedAt = performance.now()
  await kill(redis)
  const acknowledged = await creating
  redis = await startRedis(port, folder, options)
  await untilReady(service)
  const outcome = compare(acknowledged, await listGroups(service), killedAt)
  await Promise.all([kill(service.child), kill(redis)])
  rmSync(folder, { recursive: true, force: true })
  return outcome
}

/** A port that leads to another one. What comes back is `delay()` milliseconds late, and lost when the other one ends. */
async function forward(target, delay = () => 0) {
  const server = createServer((near) => {
    const far = connect(target(), '127.0.0.1')
    near.pipe(far)
    far.on('data', (data) => {
      const late = delay()
      if (late === 0) near.write(data)
      else setTimeout(() => near.destroyed || near.write(data), late)
    })
    for (const [one, other] of [
      [near, far],
      [far, near],
    ]) {
      one.on('error', () => {})
      one.on('close', () => other.destroy())
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: server.address().port, close: () => server.close() }
}

/** The primary is killed, and its replica takes over behind the same address, as behind a sentinel. */
async function failoverRound(delay) {
  const folders = [0, 1].map(() => mkdtempSync(join(tmpdir(), 'understudy-losses-')))
  const ports = [await freePort(), await freePort()]
  const primary = await startRedis(ports[0], folders[0], {})
  const link = await forward(() => ports[0], delay)
  const replica = await startRedis(ports[1], folders[1], { replicaof: `127.0.0.1 ${link.port}` })
  while (!(await command(ports[1], 'INFO replication')).includes('master_link_status:up')) await pause(50)
  let target = ports[0]
  const address = await forward(() => target)
  const service = await startService(address.port)
  let killedAt = 0
  const creating = createGroups(service, () => killedAt > 0)
  await pause(1_500 + Math.random() * 1_000)
  killedAt = performance.now()
  await kill(primary)
  const acknowledged = await creating
  await command(ports[1], 'REPLICAOF NO ONE')
  target = ports[1]
  await untilReady(service)
  const outcome = compare(acknowledged, await listGroups(service), killedAt)
  await Promise.all([kill(service.child), kill(replica)])
  for (const each of [address, link]) each.close()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  return outcome
}

async function untilReady(service) {
  const admin = { ...service, baseUrl: new URL(service.baseUrl).origin }
  while ((await ask(admin, 'GET', '/__admin/ready')).status !== 200) await pause(50)
}

/** The longest time between two writes to the disk itself while changes come: so much a power cut takes at most. */
async function measureSyncs(options, seconds = 8) {
  const folder = mkdtempSync(join(tmpdir(), 'understudy-losses-'))
  const port = await freePort()
  const redis = await startRedis(port, folder, options)
  const service = await startService(port)
  let isOver = false
  const creating = createGroups(service, () => isOver)
  await pause(1_000)
  const tracer = spawn('strace', ['-f', '-ttt', '-e', 'trace=fdatasync,fsync', '-p', `${redis.pid}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let text = ''
  tracer.stderr.on('data', (chunk) => {
    text += chunk
  })
  await pause(seconds * 1_000)
  tracer.kill('SIGINT')
  await once(tracer, 'exit')
  isOver = true
  await creating
  await Promise.all([kill(service.child), kill(redis)])
  rmSync(folder, { recursive: true, force: true })
  const times = [...text.matchAll(/(\d+\.\d+) (?:fdatasync|fsync)\(/g)].map(([, time]) => Number(time) * 1_000)
  const gaps = times.slice(1).map((time, index) => time - times[index])
  return { count: times.length, longest: Math.max(...gaps) }
}

const rows = []
for (const [name, options] of SETTINGS) {
  const rounds = []
  for (let round = 0; round < Number(values.rounds); round++) rounds.push(await restartRound(options))
  rows.push(describe(`killed and restarted; ${name}`, rounds))
}
for (const delay of [0, 200]) {
  const rounds = []
  for (let round = 0; round < Number(values.rounds); round++) rounds.push(await failoverRound(() => delay))
  rows.push(describe(`killed, and its replica takes over, ${delay} ms behind`, rounds))
}
printTable(rows)

if (!values['without-strace'] && spawnSync('strace', ['-V']).status === 0) {
  const synced = []
  for (const [name, options] of SETTINGS.slice(0, 2)) {
    const { count, longest } = await measureSyncs(options)
    synced.push({ setting: name, 'syncs in 8 s': count, 'longest time between two, ms': Math.round(longest) })
  }
  printTable(synced)
}

function describe(name, rounds) {
  const lost = rounds.map((round) => round.lost)
  const most = Math.max(...rounds.map(({ since }) => since))
  return {
    'Redis is': name,
    rounds: rounds.length,
    'acknowledged, median': median(rounds.map((round) => round.acknowledged)),
    'lost, median': median(lost),
    'lost, most': Math.max(...lost),
    'of the last ms, most': Math.round(most),
  }
}
