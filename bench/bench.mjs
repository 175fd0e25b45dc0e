// Measures the service beside bare Express and bare node:http, in one run. README.md says how each figure is made.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { ask, assembleRequest, drive } from './load.mjs'
import {
  ALL_CORES,
  cpuSeconds,
  pinThisProcess,
  portOf,
  residentMebibytes,
  startNode,
  stopAll,
  stopProcess,
} from './processes.mjs'

const { values: options } = parseArgs({
  options: { quick: { type: 'boolean', default: false } },
})
const PLAN = options.quick
  ? { rounds: 3, seconds: 0.4, warmUp: 0.6, starts: 3 }
  : { rounds: 9, seconds: 1, warmUp: 2, starts: 7 }
const CONNECTIONS = 32

const DOMAINS = 1000
const GROUPS = 200
const MANY_DOMAINS = 10_000
const API_KEY = `key_benchkey.${'0'.repeat(48)}`
const HERE = fileURLToPath(new URL('.', import.meta.url))
const pinned = pinThisProcess()
const folder = mkdtempSync(join(tmpdir(), 'understudy-bench-'))

try {
  await main()
} finally {
  await stopAll()
  rmSync(folder, { recursive: true, force: true })
}

async function main() {
  describeMachine()
  const fixture = writeFixture()
  const ours = await startCandidate('dmarc-understudy', serveCommand(fixture))
  const { workloads, answersPath } = await prepareWorkloads(ours)
  const http = await startCandidate('node:http', httpCommand(answersPath))
  const express = await startCandidate('Express', expressCommand(answersPath))
  const candidates = [ours, express, http]

  const throughput = []
  for (const workload of workloads) throughput.push(...(await compare(workload, candidates)))
  await stopAll()
  const { firstReads, rows } = await compareLargeAccount()
  throughput.push(...rows)
  printTable(throughput.map(throughputRow))
  printTable([firstReadRow(firstReads)])

  const starts = await compareStarts([
    { name: 'dmarc-understudy', path: '/api/v1/domains', commandAt: (port) => serveCommand('demo', port) },
    { name: 'Express', path: '/api/v1/domaingroups', commandAt: (port) => [...expressCommand(answersPath), port] },
    { name: 'node:http', path: '/api/v1/domaingroups', commandAt: (port) => [...httpCommand(answersPath), port] },
  ])
  printTable(starts.map(startRow))
  // Rough figures must not take the place of those that the README shows.
  if (!options.quick) writeResults(throughput, firstReads, starts)
}

function serveCommand(fixture, port = '0') {
  const settings = ['--log-level', 'silent', '--no-quotas', '--api-key', API_KEY, '--fixture', fixture]
  return [join(HERE, '../dist/cli.js'), 'serve', '--port', port, ...settings]
}

function expressCommand(answersPath) {
  return [join(HERE, 'express.mjs'), answersPath]
}

function httpCommand(answersPath) {
  return [join(HERE, 'http.mjs'), answersPath]
}

function domainName(index) {
  return `domain-${String(index).padStart(4, '0')}.example`
}

/** The first GET /dmarc of an account with many domains, in new processes, and then those that follow it. */
async function compareLargeAccount() {
  const fixture = join(folder, 'large.json')
  writeFileSync(
    fixture,
    JSON.stringify({ domains: Array.from({ length: MANY_DOMAINS }, (_, index) => domainName(index)) }),
  )
  const request = get('/dmarc')
  const reads = []
  for (let start = 0; start < PLAN.starts; start++) {
    // On all cores, as a person runs it: a new process compiles and collects beside its work.
    const child = startNode(serveCommand(fixture), pinned, ALL_CORES)
    const port = await portOf(child)
    // Whatever else a first request costs is not what is measured here.
    await ask(port, get('/domaingroups'))
    const [began, cpuBefore] = [performance.now(), cpuSeconds(child.pid) ?? Number.NaN]
    await ask(port, request)
    reads.push({
      milliseconds: performance.now() - began,
      cpuMilliseconds: ((cpuSeconds(child.pid) ?? Number.NaN) - cpuBefore) * 1000,
    })
    await stopProcess(child)
  }
  const ours = await startCandidate('dmarc-understudy', serveCommand(fixture))
  const answersPath = join(folder, 'large-answers.json')
  const dmarc = (await ask(ours.port, request)).toString()
  writeFileSync(answersPath, JSON.stringify({ group: dmarc, dmarc, created: dmarc }))
  const express = await startCandidate('Express', expressCommand(answersPath))
  const http = await startCandidate('node:http', httpCommand(answersPath))
  const rows = await compare({ name: `GET /dmarc, ${MANY_DOMAINS} domains`, request }, [ours, express, http])
  await stopAll()
  return { firstReads: { domains: MANY_DOMAINS, ...summarize(reads) }, rows }
}

function writeFixture() {
  const domains = Array.from({ length: DOMAINS }, (_, index) => domainName(index))
  const groups = Array.from({ length: GROUPS }, (_, index) => ({
    name: `Group ${index}`,
    domains: [domainName(index), domainName(index + 1), domainName(index + 2)],
  }))
  const path = join(folder, 'account.json')
  writeFileSync(path, JSON.stringify({ domains, groups }))
  return path
}

async function startCandidate(name, args) {
  const child = startNode(args, pinned)
  return { name, child, port: await portOf(child) }
}

/** The requests, and what the service answers to them, for the others to answer the same. */
async function prepareWorkloads({ port }) {
  const list = assembleRequest('GET', '/api/v1/domaingroups', API_KEY)
  const { id } = JSON.parse(await ask(port, list)).data.groups[100]
  const body = JSON.stringify({ name: 'bench {ordinal}', domains: [domainName(10), domainName(500), domainName(999)] })
  const workloads = [
    { key: 'group', name: 'GET /domaingroups?id=…', request: get(`/domaingroups?id=${id}`) },
    { key: 'dmarc', name: `GET /dmarc, ${DOMAINS} domains`, request: get('/dmarc') },
    // Last, because each of its requests leaves a group behind.
    {
      key: 'created',
      name: 'POST /domaingroups, 3 members',
      request: assembleRequest('POST', '/api/v1/domaingroups', API_KEY, body),
    },
  ]
  const answers = {}
  for (const { key, request } of workloads) answers[key] = (await ask(port, request)).toString()
  const answersPath = join(folder, 'answers.json')
  writeFileSync(answersPath, JSON.stringify(answers))
  return { workloads, answersPath }
}

function get(path) {
  return assembleRequest('GET', `/api/v1${path}`, API_KEY)
}

/** Measures the candidates in turn, round after round, so that a slow moment of the machine hits all of them. */
async function compare(workload, candidates) {
  await proveSameLength(workload, candidates)
  for (const { port } of candidates) await drive(port, workload.request, CONNECTIONS, PLAN.warmUp)
  const rounds = candidates.map(() => [])
  for (let round = 0; round < PLAN.rounds; round++) {
    for (const [index, candidate] of candidates.entries()) rounds[index].push(await measure(workload, candidate))
  }
  const results = candidates.map(({ name }, index) => ({
    workload: workload.name,
    candidate: name,
    ...summarize(rounds[index]),
  }))
  const rate = (name) => results.find(({ candidate }) => candidate === name).perCpuSecond
  return results.map((result) => ({
    ...result,
    toExpress: result.perCpuSecond / rate('Express'),
    toHttp: result.perCpuSecond / rate('node:http'),
  }))
}

async function proveSameLength({ name, request }, candidates) {
  const lengths = await Promise.all(candidates.map(async ({ port }) => (await ask(port, request)).length))
  if (new Set(lengths).size > 1) throw new Error(`${name}: the bodies are ${lengths.join(', ')} bytes long.`)
}

async function measure({ request }, { port, child }) {
  const [serverBefore, loadBefore] = [cpuSeconds(child.pid), process.cpuUsage()]
  const { answers, wall, p99 } = await drive(port, request, CONNECTIONS, PLAN.seconds)
  const load = process.cpuUsage(loadBefore)
  const loadCpu = (load.user + load.system) / 1e6
  const serverCpu = serverBefore === undefined ? wall : cpuSeconds(child.pid) - serverBefore
  return {
    perSecond: answers / wall,
    perCpuSecond: answers / serverCpu,
    p99,
    busy: serverCpu / wall,
    loadShare: loadCpu / serverCpu,
  }
}

function summarize(rounds) {
  const names = Object.keys(rounds[0])
  return Object.fromEntries(names.map((name) => [name, median(rounds.map((round) => round[name]))]))
}

/** Of an odd number of values. */
function median(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)]
}

/** Starts the candidates in turn, again and again. */
async function compareStarts(candidates) {
  const rounds = candidates.map(() => [])
  for (let round = 0; round < PLAN.starts; round++) {
    for (const [index, candidate] of candidates.entries()) rounds[index].push(await measureStart(candidate))
  }
  return candidates.map(({ name }, index) => ({ candidate: name, ...summarize(rounds[index]) }))
}

async function measureStart({ path, commandAt }) {
  const request = assembleRequest('GET', path, API_KEY)
  const port = await freePort()
  const began = performance.now()
  const child = startNode(commandAt(`${port}`), pinned)
  await firstAnswer(port, request)
  const milliseconds = performance.now() - began
  const cpuMilliseconds = (cpuSeconds(child.pid) ?? Number.NaN) * 1000
  const mebibytes = residentMebibytes(child.pid)
  await stopProcess(child)
  return { milliseconds, cpuMilliseconds, mebibytes }
}

/** A port that nobody listens on, below those that systems hand out, so that no other process is given it meanwhile. */
function freePort() {
  const port = 20_000 + Math.floor(Math.random() * 10_000)
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(freePort()))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(port)))
  })
}

async function firstAnswer(port, request) {
  const patience = performance.now() + 30_000
  for (;;) {
    try {
      return await ask(port, request)
    } catch (error) {
      if (error.code !== 'ECONNREFUSED' || performance.now() > patience) throw error
    }
  }
}

function describeMachine() {
  const [{ model }] = cpus()
  console.log(`${model}, ${cpus().length} cores, Node ${process.version}, ${CONNECTIONS} connections`)
  console.log(
    pinned ? 'Pinned: servers to core 0, load to core 1.\n' : 'Not pinned: servers and load share the cores.\n',
  )
}

function throughputRow(result) {
  return {
    request: result.workload,
    candidate: result.candidate,
    'req/s': Math.round(result.perSecond),
    'req/CPU s': Math.round(result.perCpuSecond),
    '÷ Express': result.toExpress.toFixed(2),
    '÷ node:http': result.toHttp.toFixed(2),
    'p99 ms': result.p99.toFixed(1),
    busy: `${Math.round(result.busy * 100)} %`,
    load: `${Math.round(result.loadShare * 100)} %`,
  }
}

function firstReadRow({ domains, milliseconds, cpuMilliseconds }) {
  return {
    'first read of': `${domains} domains`,
    ms: milliseconds.toFixed(1),
    'CPU ms': Math.round(cpuMilliseconds),
  }
}

function startRow({ candidate, milliseconds, cpuMilliseconds, mebibytes }) {
  return {
    start: candidate,
    'first answer ms': Math.round(milliseconds),
    'CPU ms': Math.round(cpuMilliseconds),
    'resident MiB': Math.round(mebibytes),
  }
}

/** Texts to the left, figures to the right. */
function printTable(rows) {
  const names = Object.keys(rows[0])
  const lines = [names, ...rows.map((row) => names.map((name) => `${row[name]}`))]
  const widths = names.map((_, column) => Math.max(...lines.map((line) => line[column].length)))
  const isText = names.map((name) => ['request', 'candidate', 'start', 'first read of'].includes(name))
  for (const line of lines) {
    const cells = line.map((cell, column) =>
      isText[column] ? cell.padEnd(widths[column]) : cell.padStart(widths[column]),
    )
    console.log(cells.join('  ').trimEnd())
  }
  console.log()
}

function writeResults(throughput, firstReads, starts) {
  const machine = { cpu: cpus()[0].model, cores: cpus().length, node: process.version, pinned }
  const results = { machine, plan: { ...PLAN, connections: CONNECTIONS }, throughput, firstReads, starts }
  writeFileSync(join(HERE, 'results.json'), `${JSON.stringify(results, null, 2)}\n`)
}
