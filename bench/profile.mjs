// Where the time of a request goes: the service under load with Node's profiler on.
//   node bench/profile.mjs [group|dmarc|created] [--seconds 5] [--against node:http] [--keep FILE.cpuprofile]
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { writeFixture } from './accounts.mjs'
import { OURS, serveCommand, startCandidate } from './candidates.mjs'
import { always, drive } from './load.mjs'
import { pinThisProcess } from './processes.mjs'
import { prepareWorkloads, requestTo } from './throughput.mjs'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '5' },
    rows: { type: 'string', default: '40' },
    keep: { type: 'string' },
  },
})
pinThisProcess()
const folder = mkdtempSync(join(tmpdir(), 'understudy-profile-'))
const fixture = writeFixture(join(folder, 'account.json'), { domains: 1000, groups: 200 })
const flags = ['--cpu-prof', '--cpu-prof-interval', '200', '--cpu-prof-dir', folder]
const candidate = await startCandidate(OURS, serveCommand(fixture, { flags }))
const { workloads } = await prepareWorkloads(candidate, folder)
const workload = workloads.find(({ key }) => key === (positionals[0] ?? 'group'))
const { answers } = await drive(candidate.port, always(requestTo(candidate, workload)), {
  seconds: Number(options.seconds),
})
const gone = new Promise((resolve) => candidate.child.once('exit', resolve))
candidate.child.kill('SIGTERM')
await gone
const file = join(
  folder,
  readdirSync(folder).find((name) => name.endsWith('.cpuprofile')),
)
if (options.keep) copyFileSync(file, options.keep)
const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8'))
const byId = new Map(nodes.map((node) => [node.id, node]))
const self = new Map()
const modules = new Map()
for (const [index, id] of samples.entries()) {
  const { functionName, url, lineNumber } = byId.get(id).callFrame
  const where = url.replace(/^.*\/(dist|node_modules)\//, '$1/')
  add(self, `${functionName || '(anonymous)'} ${where}:${lineNumber + 1}`, timeDeltas[index])
  add(modules, where || functionName, timeDeltas[index])
}
for (const table of [modules, self]) {
  console.log()
  for (const [name, time] of [...table].sort((one, other) => other[1] - one[1]).slice(0, Number(options.rows)))
    console.log(`${(time / answers).toFixed(3).padStart(8)} µs  ${name}`)
}
rmSync(folder, { recursive: true })
function add(map, key, value) {
  map.set(key, (map.get(key) ?? 0) + value)
}
