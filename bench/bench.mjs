// Measures the service beside bare Express, bare node:http and other mock servers, in one run. README.md says how.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { judge } from './bars.mjs'
import { writeChart } from './chart.mjs'
import { measureRun, measureTrials } from './commands.mjs'
import { describeCommit } from './commit.mjs'
import { measureContract } from './contract-middleware.mjs'
import { measureDashboard } from './dashboard.mjs'
import { measureData } from './data.mjs'
import { measureDoors } from './doors.mjs'
import { measureFirstReads } from './first-read.mjs'
import { measureGrowth, measureStorm } from './growth.mjs'
import { measureJudging } from './judging.mjs'
import { measureKept } from './kept.mjs'
import { measureLarge } from './large.mjs'
import { CONNECTIONS } from './load.mjs'
import { measureAccounts, measureLoaded, measureMemory } from './memory.mjs'
import { installPeers, PEERS_FOLDER } from './peers.mjs'
import { pinThisProcess, stopAll } from './processes.mjs'
import { measureReplicas } from './replicas.mjs'
import { printBars, printResult } from './report.mjs'
import { measureLibrary, measureStarts } from './starts.mjs'
import { measureStoreMemory } from './store-memory.mjs'
import { measureSuites } from './suites.mjs'
import { measureThroughput } from './throughput.mjs'

const PLANS = {
  full: {
    rounds: 11,
    seconds: 0.6,
    warmUp: 2,
    runIn: 0.3,
    starts: 7,
    libraryStarts: 21,
    reads: 15,
    requests: 1_000_000,
    loads: 3,
    loaded: 60_000,
    emptyAccounts: 1_000,
    accounts: 10_000,
    pageLoads: 11,
    exchanges: 10_000,
    judgements: 3,
    suites: 5,
    tests: 200,
    runs: 11,
    trials: { vary: [], explore: ['--runs', '16'] },
    keptStarts: 5,
    questions: 9,
  },
  quick: {
    rounds: 5,
    seconds: 0.12,
    // Code that is not compiled yet is slower by more than any loss, so a busy machine may take longer.
    answers: 3_000,
    warmUpAnswers: 10_000,
    runInAnswers: 500,
    warmUp: 0.3,
    runIn: 0.05,
    starts: 3,
    libraryStarts: 5,
    reads: 3,
    requests: 40_000,
    loads: 1,
    loaded: 4_000,
    emptyAccounts: 200,
    accounts: 500,
    pageLoads: 2,
    exchanges: 500,
    judgements: 1,
    suites: 1,
    tests: 50,
    runs: 2,
    trials: { vary: undefined, explore: ['--runs', '4'] },
    keptStarts: 1,
    questions: 1,
  },
}

/** Part → how it is measured, in this order. */
const PARTS = {
  throughput: (plan, folder, peersFolder) => measureThroughput(plan, folder, peersFolder),
  firstReads: measureFirstReads,
  starts: measureStarts,
  library: measureLibrary,
  memory: measureMemory,
  loaded: measureLoaded,
  accounts: measureAccounts,
  growth: measureGrowth,
  storm: measureStorm,
  data: measureData,
  replicas: measureReplicas,
  storeMemory: measureStoreMemory,
  doors: measureDoors,
  contract: measureContract,
  judging: measureJudging,
  suites: measureSuites,
  run: measureRun,
  trials: measureTrials,
  kept: measureKept,
  large: measureLarge,
  dashboard: measureDashboard,
}

/** They have no bar that a quick run could be held to. */
const NOT_QUICK = ['replicas', 'storeMemory', 'doors', 'contract']

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    part: { type: 'string', multiple: true },
    peers: { type: 'string', default: PEERS_FOLDER },
    'no-peers': { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    output: { type: 'string' },
  },
})
const isThere = (part) => !options.quick || !NOT_QUICK.includes(part)
options.part ??= Object.keys(PARTS).filter(isThere)
const unknown = options.part.find((part) => !Object.hasOwn(PARTS, part))
if (unknown !== undefined) {
  console.error(`--part ${unknown}: there are ${Object.keys(PARTS).join(', ')}`)
  process.exit(2)
}
const plan = planOf(options)
const folder = mkdtempSync(join(tmpdir(), 'understudy-bench-'))

try {
  await main()
} finally {
  await stopAll()
  rmSync(folder, { recursive: true, force: true })
}

async function main() {
  const { quick } = options
  const peersFolder = quick || options['no-peers'] ? undefined : resolve(options.peers)
  if (peersFolder !== undefined && options.part.includes('throughput') && !installPeers(peersFolder)) {
    console.log('Not all of the peers could be installed; those that are not there are left out.')
  }
  const machine = describeMachine()
  const results = { ...describeCommit(), machine, plan: { ...plan, connections: CONNECTIONS } }
  for (const [part, measure] of Object.entries(PARTS)) {
    if (!options.part.includes(part)) continue
    results[part] = await measure(plan, folder, peersFolder)
    if (results[part] !== undefined) printResult(part, results[part])
    // A run that is interrupted loses only the part that it is in.
    if (options.output !== undefined) writeResults(results)
  }
  results.bars = judge(results, { quick })
  printBars(results.bars, { quick })
  writeResults(results)
  if (results.bars.some(({ met }) => met === false)) process.exitCode = 1
}

function planOf({ quick, rounds, seconds }) {
  const plan = { ...(quick ? PLANS.quick : PLANS.full) }
  if (rounds !== undefined) Object.assign(plan, { rounds: Number(rounds), starts: Number(rounds) })
  if (seconds !== undefined) Object.assign(plan, { seconds: Number(seconds), warmUp: 2 * Number(seconds) })
  return plan
}

function describeMachine() {
  const pinned = pinThisProcess()
  const [{ model }] = cpus()
  console.log(`${model}, ${cpus().length} cores, Node ${process.version}, ${CONNECTIONS} connections`)
  console.log(
    pinned ? 'Pinned: servers to core 0, load to core 1.\n' : 'Not pinned: servers and load share the cores.\n',
  )
  return { cpu: model, cores: cpus().length, node: process.version, pinned }
}

/** Rough or partial figures must not take the place of those that the README shows, unless somebody says where. */
function writeResults(results) {
  const { quick, rounds, seconds, part, output } = options
  const isWhole = part.length === Object.keys(PARTS).length && !options['no-peers']
  const isPlain = isWhole && !quick && rounds === undefined && seconds === undefined && output === undefined
  if (!isPlain && output === undefined) return
  const path = output ?? fileURLToPath(new URL('results.json', import.meta.url))
  writeFileSync(path, `${JSON.stringify(results, null, 2)}\n`)
  if (isPlain) writeChart(results)
}
