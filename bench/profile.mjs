// Where the time of a request goes: the service under load, with Node's profiler on.
// node bench/profile.mjs [group|dmarc|created] --seconds 5 --keep group.cpuprofile
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { writeFixture } from './accounts.mjs'
import { OURS, serveCommand, startCandidate } from './candidates.mjs'
import { always, drive } from './load.mjs'
import { pinThisProcess, stopAll } from './processes.mjs'
import { printTable } from './table.mjs'
import { prepareWorkloads, requestTo } from './throughput.mjs'

const ROWS = 25
/** Microseconds between two samples. */
const INTERVAL = 100

/** What runs → whose it is. The first that fits counts. */
const OWNERS = [
  [/^\((idle|program|garbage collector)\)/, ([, name]) => name],
  [/^(writev|writeLatin1String|writeUtf8String|writeBuffer) /, () => 'system call: write'],
  [/ dist\//, () => 'the service'],
  [/ node_modules\/((?:@[^/]+\/)?[^/]+)/, ([, name]) => name],
  [/ node:(internal\/)?(_?http|net|stream|streams|events|timers|buffer)/, () => 'node: http, net, streams, timers'],
  [/ node:/, () => 'node: other'],
  [/^validate\d+/, () => 'the service'],
  [/./, () => 'built into the engine'],
]

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '5' }, keep: { type: 'string' } },
})
const folder = mkdtempSync(join(tmpdir(), 'understudy-profile-'))
try {
  await main(positionals[0] ?? 'group', Number(options.seconds))
} finally {
  await stopAll()
  rmSync(folder, { recursive: true, force: true })
}

async function main(key, seconds) {
  pinThisProcess()
  const fixture = writeFixture(join(folder, 'account.json'), { domains: 1000, groups: 200 })
  const flags = ['--cpu-prof', `--cpu-prof-interval=${INTERVAL}`, `--cpu-prof-dir=${folder}`]
  const candidate = await startCandidate(OURS, serveCommand(fixture, { flags }))
  const { workloads } = await prepareWorkloads(candidate, folder)
  const workload = workloads.find((each) => each.key === key)
  if (workload === undefined) {
    console.error(`${key}: there are ${workloads.map((each) => each.key).join(', ')}`)
    process.exitCode = 2
    return
  }
  const requests = always(requestTo(candidate, workload))
  await drive(candidate.port, requests, { seconds: 1 })
  const { answers, wall } = await drive(candidate.port, requests, { seconds })
  const stopped = new Promise((resolve) => candidate.child.once('exit', resolve))
  candidate.child.kill('SIGTERM')
  await stopped
  const path = join(
    folder,
    readdirSync(folder).find((name) => name.endsWith('.cpuprofile')),
  )
  if (options.keep !== undefined) copyFileSync(path, options.keep)
  const { owners, functions } = summarise(JSON.parse(readFileSync(path, 'utf8')), wall * 1e6)
  console.log(`${workload.name}: ${answers} answers in ${wall.toFixed(1)} s, with the profiler on\n`)
  printShares('whose time it is', owners, answers)
  printShares('the functions', functions, answers)
  if (options.keep !== undefined) console.log(`${basename(options.keep)} opens as a flame graph in Chrome's DevTools.`)
}

/** Microseconds by owner and by function, of the last so many microseconds. */
function summarise({ nodes, samples, timeDeltas }, until) {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]))
  const [owners, functions] = [new Map(), new Map()]
  let left = until
  for (let index = samples.length - 1; index >= 0 && left > 0; index--) {
    const name = names.get(samples[index])
    const time = timeDeltas[index]
    left -= time
    functions.set(name, (functions.get(name) ?? 0) + time)
    const owner = ownerOf(name)
    owners.set(owner, (owners.get(owner) ?? 0) + time)
  }
  return { owners, functions }
}

function nameOf({ functionName, url, lineNumber }) {
  const where = url.replace(/^.*\/(dist|node_modules)\//, '$1/')
  return where === '' ? `${functionName} ` : `${functionName || '(anonymous)'}:${lineNumber + 1} ${where}`
}

function ownerOf(name) {
  for (const [pattern, owner] of OWNERS) {
    const found = pattern.exec(name)
    if (found !== null) return owner(found)
  }
  return 'unknown'
}

function printShares(title, times, answers) {
  const total = [...times.values()].reduce((sum, time) => sum + time, 0)
  const rows = [...times].sort(([, one], [, other]) => other - one).slice(0, ROWS)
  printTable(
    rows.map(([name, time]) => ({
      'µs a request': (time / answers).toFixed(2),
      share: `${((100 * time) / total).toFixed(1)} %`,
      [title]: name.trim(),
    })),
  )
}
