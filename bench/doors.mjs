// Measures each way to the service in one run: its size, the time from spawn to the first answer, and what one core serves.
// Writes the table in docs/speed.md. What is not there is left out, with a line; `npm run package` makes it.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { API_KEY, writeFixture } from './accounts.mjs'
import { serveCommand, serverCommand, serviceRequest } from './candidates.mjs'
import { replaceBetween } from './chart.mjs'
import { always, ask, drive } from './load.mjs'
import {
  ALL_CORES,
  fineCpuSeconds,
  firstAnswer,
  freePort,
  pinThisProcess,
  printed,
  startProgram,
  stopAll,
  stopProgram,
} from './processes.mjs'
import { median, takeTurns } from './statistics.mjs'
import { figure, printTable } from './table.mjs'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const ARTIFACTS = join(ROOT, 'artifacts')
const NO_FOLDER = { recursive: true, force: true }
const GROUPS = serviceRequest('GET', '/domaingroups')

const { values: given } = parseArgs({
  options: { rounds: { type: 'string', default: '7' }, seconds: { type: 'string', default: '0.6' } },
})
const plan = { rounds: Number(given.rounds), seconds: Number(given.seconds), warmUp: 1 }

/** The ways with a port. `open` prepares what is not part of the start, and `spawn` starts the program. */
function listDoors(fixture, folder) {
  const executable = findArtifact(/linux-x64$/)
  const image = findArtifact(/amd64\.tar$/)
  return [
    { name: 'npm package', size: packedSize(), spawn: (port) => startProgram(serveCommand(fixture, { port })) },
    {
      name: 'two servers on one Redis',
      isAbsent: !isThere('redis-server'),
      open: () => startRedis(join(folder, 'redis')),
      spawn(port, store) {
        // Both answer the same; the load is on the second one.
        const companion = startProgram(serveCommand(fixture, { options: store }), { stderr: 'ignore' })
        companion.stdout.resume()
        const child = startProgram(serveCommand(fixture, { port, options: store }), { stderr: 'ignore' })
        return Object.assign(child, { companion })
      },
    },
    {
      name: 'mounted in an Express application',
      spawn: (port) => startProgram(serverCommand('mount', fixture, API_KEY, port)),
    },
    {
      name: 'executable, Linux x64',
      isAbsent: executable === undefined,
      size: executable && statSync(executable).size,
      spawn: (port) => startProgram(argumentsFor(fixture, port), { program: executable }),
    },
    {
      name: 'container image, amd64',
      isAbsent: image === undefined || !isThere('buildah'),
      size: image && statSync(image).size,
      open: () => openImage(image, folder, fixture),
      spawn: (port, { run }) =>
        startProgram([...run, ...argumentsFor('/fixture.json', port), '--host', '127.0.0.1'], { program: 'buildah' }),
    },
  ]
}

function argumentsFor(fixture, port) {
  return serveCommand(fixture, { port }).slice(1)
}

function findArtifact(pattern) {
  const name = existsSync(ARTIFACTS) ? readdirSync(ARTIFACTS).find((each) => pattern.test(each)) : undefined
  return name === undefined ? undefined : join(ARTIFACTS, name)
}

function isThere(program) {
  return spawnSync(program, ['--version']).status === 0
}

/** In bytes, what npm would publish. */
function packedSize() {
  const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: ROOT })
  return JSON.parse(stdout)[0].size
}

async function startRedis(folder) {
  mkdirSync(folder)
  const port = await freePort()
  const settings = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder]
  const child = startProgram(settings, { program: 'redis-server', cores: ALL_CORES, isHeld: false })
  await printed(child, /(Ready to accept connections)/)
  child.stdout.resume()
  return ['--store', `redis://127.0.0.1:${port}`]
}

/** The image as a container that needs no daemon. */
function openImage(image, folder, fixture) {
  const root = ['--storage-driver', 'vfs', '--root', join(folder, 'images'), '--runroot', join(folder, 'run')]
  const { stdout, stderr, status } = spawnSync('buildah', [...root, 'from', `oci-archive:${image}`], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stderr)
  const volume = ['--volume', `${fixture}:/fixture.json:ro`]
  return { run: [...root, 'run', '--isolation', 'chroot', ...volume, stdout.trim(), '--', '/dmarc-understudy'] }
}

/** The processes that this one has started, itself included: a container's server is a child of another program. */
function familyOf(pid) {
  const threads = readdirSync(`/proc/${pid}/task`)
  const children = threads.flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  )
  return [pid, ...children.flatMap(familyOf)]
}

function spentBy(pid) {
  return familyOf(pid).reduce((sum, each) => sum + (fineCpuSeconds(each) ?? 0), 0)
}

/** From spawn to the first answer, in milliseconds, of a server that stays. */
async function startDoor({ spawn }, opened) {
  const port = await freePort()
  const began = performance.now()
  const child = spawn(port, opened)
  child.stdout.resume()
  await firstAnswer(port, GROUPS, child)
  return { child, port, milliseconds: performance.now() - began }
}

async function measureDoor(door) {
  const opened = await door.open?.()
  const starts = []
  for (let round = 1; round < plan.rounds; round++) {
    const { child, milliseconds } = await startDoor(door, opened)
    starts.push(milliseconds)
    for (const pid of familyOf(child.pid).reverse()) if (pid !== child.pid) process.kill(pid, 'SIGKILL')
    await stopProgram(child)
    if (child.companion !== undefined) await stopProgram(child.companion)
  }
  const { child, port, milliseconds } = await startDoor(door, opened)
  const { groups } = JSON.parse((await ask(port, GROUPS)).toString()).data
  const load = always(serviceRequest('GET', `/domaingroups?id=${groups[100].id}`))
  await drive(port, load, { seconds: plan.warmUp })
  async function measure() {
    const before = spentBy(child.pid)
    const { answers } = await drive(port, load, { seconds: plan.seconds })
    return { perCpuSecond: answers / (spentBy(child.pid) - before) }
  }
  return { name: door.name, size: door.size, milliseconds: median([...starts, milliseconds]), measure }
}

/** The way without a port: its process makes the load itself. */
async function measureFetch(fixture) {
  const starts = []
  let last
  for (let round = 0; round < plan.rounds; round++) {
    last = startProgram(serverCommand('fetch', fixture, API_KEY), { stdin: 'pipe' })
    starts.push(JSON.parse(await printed(last, /^(\{.*\})$/m)).milliseconds)
    if (round < plan.rounds - 1) await stopProgram(last)
  }
  async function measure(duration = plan.seconds) {
    const answer = printed(last, /^(\{.*\})$/m)
    last.stdin.write(`${duration}\n`)
    return JSON.parse(await answer)
  }
  await measure(plan.warmUp)
  return { name: '`service.fetch`, no port', milliseconds: median(starts), measure }
}

function describe(rows) {
  const lines = rows.map(({ name, size, milliseconds, perCpuSecond }) => {
    const mebibytes = size === undefined ? '' : `${figure(size / 2 ** 20)} MiB`
    return `| ${name} | ${mebibytes} | ${figure(milliseconds)} ms | ${figure(perCpuSecond)} |`
  })
  return [
    `Node ${process.versions.node}, medians of ${plan.rounds} rounds of ${plan.seconds} s, GET /domaingroups?id=….`,
    '',
    '| way | size | first answer after | requests per core and second |',
    '| --- | --- | --- | --- |',
    ...lines,
  ].join('\n')
}

const folder = mkdtempSync(join(tmpdir(), 'doors-'))
pinThisProcess()
try {
  const fixture = writeFixture(join(folder, 'account.json'), { domains: 1000, groups: 200 })
  const doors = listDoors(fixture, folder)
  for (const { name, isAbsent } of doors)
    if (isAbsent) console.log(`Left out: ${name}, because something for it is missing.`)
  const opened = [await measureFetch(fixture)]
  for (const door of doors) if (!door.isAbsent) opened.push(await measureDoor(door))
  const speeds = await takeTurns(opened, plan.rounds, ({ measure }) => measure())
  const rows = opened.map((door, index) => ({ ...door, ...speeds[index] }))
  printTable(rows.map(({ measure, ...row }) => row))
  replaceBetween(join(ROOT, 'docs/speed.md'), 'doors', describe(rows), 'doors')
} finally {
  await stopAll()
  rmSync(folder, NO_FOLDER)
}
