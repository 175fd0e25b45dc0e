// Where the time of a request goes, by stage of its path, beside bare node:http: both under load, with Node's profiler on.
// node bench/profile.mjs [group|dmarc|created] --seconds 5 --functions --keep FOLDER
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { writeFixture } from './accounts.mjs'
import { HTTP, OURS, serveCommand, serverCommand, startCandidate } from './candidates.mjs'
import { always, ask, drive } from './load.mjs'
import { fineCpuSeconds, pinThisProcess, stopAll } from './processes.mjs'
import { compareStages, ELSEWHERE, stageOf } from './stages.mjs'
import { printTable } from './table.mjs'
import { prepareWorkloads, RESET, requestTo } from './throughput.mjs'

/** Microseconds between two samples. */
const INTERVAL = 100
/** How many functions are shown of each server. */
const FUNCTIONS = 30
/** Bare node:http would end without a profile. */
const STOPPABLE = ['--import', 'data:text/javascript,process.once("SIGTERM",()=>process.exit())']

/**
 * For each request: microseconds of processor time of one request by stage, in the service and in bare node:http. The
 * profiler makes both slower, so each stage gets its share of the time that a request takes without the profiler.
 */
export async function measureProfile({ profileSeconds: duration }, folder, { keys, keep } = {}) {
  const fixture = writeFixture(join(folder, 'account.json'), { domains: 1000, groups: 200 })
  const first = await startCandidate(OURS, serveCommand(fixture))
  const { workloads, answersPath } = await prepareWorkloads(first, folder)
  await stopAll()
  const servers = [
    { name: OURS, command: (flags) => serveCommand(fixture, { flags }) },
    { name: HTTP, command: (flags) => [...flags, ...STOPPABLE, ...serverCommand('http', answersPath)] },
  ]
  const results = []
  for (const workload of workloads.filter(({ key }) => keys === undefined || keys.includes(key))) {
    const sides = []
    for (const server of servers) sides.push(await profileServer(server, workload, { duration, folder, keep }))
    const [ours, http] = sides
    results.push({ key: workload.key, request: workload.name, ours, http })
  }
  return results
}

async function profileServer({ name, command }, workload, { duration, folder, keep }) {
  const plain = await spendOn(await startCandidate(name, command([])), workload, duration)
  const profiles = mkdtempSync(join(folder, 'profile-'))
  const flags = ['--cpu-prof', `--cpu-prof-interval=${INTERVAL}`, `--cpu-prof-dir=${profiles}`]
  const profiled = await spendOn(await startCandidate(name, command(flags)), workload, duration)
  const path = join(
    profiles,
    readdirSync(profiles).find((file) => file.endsWith('.cpuprofile')),
  )
  const kept = `${workload.key}-${name.replace(':', '-')}.cpuprofile`
  if (keep !== undefined) copyFileSync(path, join(keep, kept))
  const { stages, functions } = summarise(JSON.parse(readFileSync(path, 'utf8')), profiled)
  const scale = plain.each / profiled.each
  return { each: plain.each, stages: scaled(stages, scale), functions: scaled(functions, scale) }
}

/** Microseconds of processor time of a request, under load for so many seconds; then the server is stopped. */
async function spendOn(candidate, workload, seconds) {
  const requests = always(requestTo(candidate, workload))
  await drive(candidate.port, requests, { seconds: 1 })
  // Each of these requests leaves a group behind.
  if (workload.grows && candidate.name === OURS) await ask(candidate.port, RESET)
  const before = fineCpuSeconds(candidate.child.pid)
  const { answers, wall } = await drive(candidate.port, requests, { seconds })
  const each = ((fineCpuSeconds(candidate.child.pid) - before) * 1e6) / answers
  const stopped = new Promise((resolve) => candidate.child.once('exit', resolve))
  candidate.child.kill('SIGTERM')
  await stopped
  return { each, answers, wall }
}

/** Microseconds of a request by stage and by function, of the time under load, which is the end of the profile. */
function summarise({ nodes, samples, timeDeltas }, { each, answers, wall }) {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  for (const node of nodes) for (const child of node.children ?? []) byId.get(child).parent = node
  const stageById = new Map(nodes.map((node) => [node.id, stageOf(node)]))
  const [stages, functions] = [{}, {}]
  let left = wall * 1e6
  for (let index = samples.length - 1; index >= 0 && left > 0; index--) {
    const time = timeDeltas[index] / answers
    left -= timeDeltas[index]
    const stage = stageById.get(samples[index])
    if (stage === ELSEWHERE) continue
    stages[stage] = (stages[stage] ?? 0) + time
    const name = `${nameOf(byId.get(samples[index]))} (${stage})`
    functions[name] = (functions[name] ?? 0) + time
  }
  // What the engine does not see: the system while it waits and reads, and the threads that collect garbage.
  stages[ELSEWHERE] = Math.max(0, each - sum(stages))
  return { stages, functions }
}

function scaled(times, by) {
  return Object.fromEntries(Object.entries(times).map(([name, time]) => [name, time * by]))
}

function sum(times) {
  return Object.values(times).reduce((total, time) => total + time, 0)
}

function nameOf({ callFrame: { functionName, url, lineNumber } }) {
  const where = url.replace(/^.*\/(dist|node_modules|servers)\//, '$1/')
  return where === '' ? functionName : `${functionName || 'anonymous'} ${where}:${lineNumber + 1}`
}

/** The stages of one request as rows of the table on the terminal. */
export function rowsOf({ request, ours, http }) {
  return [...compareStages({ ours, http }), { name: 'all of it', own: ours.each, bare: http.each }].map(
    ({ name, own, bare }) => ({
      request,
      stage: name,
      'µs a request': own.toFixed(2),
      'node:http': bare.toFixed(2),
      above: (own - bare).toFixed(2),
    }),
  )
}

function printProfile(results, { functions }) {
  printTable(results.flatMap(rowsOf))
  for (const { ours, http } of functions ? results : []) {
    printFunctions('the service', ours)
    printFunctions('node:http', http)
  }
}

function printFunctions(title, { functions }) {
  const rows = Object.entries(functions).sort(([, one], [, other]) => other - one)
  printTable(rows.slice(0, FUNCTIONS).map(([name, time]) => ({ 'µs a request': time.toFixed(2), [title]: name })))
}

async function main() {
  const { values: options, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seconds: { type: 'string', default: '4' },
      functions: { type: 'boolean', default: false },
      keep: { type: 'string' },
    },
  })
  const known = ['group', 'dmarc', 'created']
  const wrong = positionals.find((key) => !known.includes(key))
  const seconds = Number(options.seconds)
  if (wrong !== undefined || !(seconds > 0)) {
    console.error(
      wrong === undefined
        ? `--seconds ${options.seconds}: must be a number above 0`
        : `${wrong}: there are ${known.join(', ')}`,
    )
    process.exitCode = 2
    return
  }
  pinThisProcess()
  const folder = mkdtempSync(join(tmpdir(), 'understudy-profile-'))
  try {
    const keys = positionals.length === 0 ? undefined : positionals
    const results = await measureProfile({ profileSeconds: seconds }, folder, { keys, keep: options.keep })
    printProfile(results, options)
    if (options.keep !== undefined)
      console.log(`The files in ${options.keep} open as flame graphs in Chrome's DevTools.`)
  } finally {
    await stopAll()
    rmSync(folder, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
