// Measures the service beside bare node:http, bare Express and other mock servers, in one run. RESULTS.md says how.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { measureJudging, measureTrials } from './commands.mjs'
import { pin, stopAll } from './processes.mjs'
import { measureGrowth, measureRequests, measureWaits } from './requests.mjs'
import { measureLibrary, measureStarts } from './starts.mjs'

const RESULTS = fileURLToPath(new URL('RESULTS.md', import.meta.url))
/** In RESULTS.md, what a run writes is below this line. */
const MARK = '<!-- written by npm run bench -->'

const PLANS = {
  full: { rounds: 7, seconds: 1.5, peers: true, requests: 100_000, exchanges: 20_000, runs: 24 },
  quick: { rounds: 2, seconds: 0.3, peers: false, requests: 10_000, exchanges: 1_000, runs: 4 },
}

/** Part → its title, how it is measured, and the columns of its table. */
const PARTS = {
  requests: {
    title: 'Requests',
    measure: measureRequests,
    columns: {
      ...{ request: 'request', server: 'server', perCpuSecond: 'per processor second', toHttp: 'to node:http' },
      ...{ perSecond: 'per second', p99: 'p99 ms' },
    },
  },
  starts: {
    title: 'Start, until the first answer',
    measure: measureStarts,
    columns: { server: 'server', milliseconds: 'ms', cpuMilliseconds: 'ms of processor time', mebibytes: 'MiB' },
  },
  library: {
    title: '`startUnderstudy()` in a process that has imported it',
    measure: measureLibrary,
    columns: { start: 'start', milliseconds: 'ms' },
  },
  growth: {
    title: 'Growth: a group is renamed again and again',
    measure: measureGrowth,
    columns: {
      ...{ answered: 'answered', perCpuSecond: 'per processor second' },
      ...{ longest: 'longest wait, ms', mebibytes: 'MiB' },
    },
  },
  waits: {
    title: 'Longest wait of another client',
    measure: measureWaits,
    columns: { burden: 'meanwhile', longest: 'ms' },
  },
  judging: {
    title: 'Judging a recording',
    measure: measureJudging,
    columns: {
      ...{
        command: 'command',
        exchanges: 'exchanges',
        seconds: 'seconds of processor time',
        start: 'of these, the start',
      },
      perCpuSecond: 'exchanges per processor second, after the start',
    },
  },
  trials: {
    title: 'Trials of a small client',
    measure: measureTrials,
    columns: { command: 'command', trials: 'runs of the client', seconds: 'seconds', perMinute: 'runs per minute' },
  },
}

const { values: options } = parseArgs({
  options: { quick: { type: 'boolean' }, part: { type: 'string', multiple: true }, 'no-peers': { type: 'boolean' } },
})
const parts = options.part ?? Object.keys(PARTS)
const unknown = parts.find((part) => !Object.hasOwn(PARTS, part))
if (unknown !== undefined) {
  console.error(`--part ${unknown}: there are ${Object.keys(PARTS).join(', ')}`)
  process.exit(2)
}
const plan = { ...(options.quick ? PLANS.quick : PLANS.full), ...(options['no-peers'] && { peers: false }) }
const folder = mkdtempSync(join(tmpdir(), 'understudy-bench-'))
try {
  const sections = [describeMachine()]
  for (const part of parts) {
    const { title, measure, columns } = PARTS[part]
    sections.push(`## ${title}\n\n${tableOf(columns, await measure(plan, folder))}`)
    console.log(`\n${sections.at(-1)}`)
  }
  // Rough or partial figures must not take the place of whole ones.
  if (!options.quick && options.part === undefined && plan.peers) writeResults(sections)
} finally {
  await stopAll()
  rmSync(folder, { recursive: true, force: true })
}

function describeMachine() {
  const git = (...args) => spawnSync('git', args, { encoding: 'utf8' }).stdout?.trim()
  const changed = git('status', '--porcelain', '--untracked-files=no', '--', 'src') ? ', with changes' : ''
  const pinned = pin() ? 'servers on core 0, load on core 1' : 'servers and load share the cores'
  const [{ model }] = cpus()
  const text = `Commit ${git('rev-parse', '--short=10', 'HEAD')}${changed}, ${new Date().toISOString().slice(0, 10)}, ${model}, ${cpus().length} cores, Node ${process.version}; ${pinned}.`
  console.log(text)
  return text
}

function tableOf(columns, rows) {
  const names = Object.keys(columns)
  const lines = rows.map((row) => names.map((name) => format(row[name])).join(' | '))
  return [Object.values(columns).join(' | '), names.map(() => '---').join(' | '), ...lines]
    .map((line) => `| ${line} |`)
    .join('\n')
}

function format(value) {
  if (typeof value !== 'number') return value
  return value.toLocaleString('en-US', { maximumFractionDigits: value < 10 ? 2 : value < 1000 ? 1 : 0 })
}

function writeResults(sections) {
  const [introduction] = readFileSync(RESULTS, 'utf8').split(MARK)
  writeFileSync(RESULTS, `${introduction}${MARK}\n\n${sections.join('\n\n')}\n`)
}
