// Each way to the service: its size, the time from spawn to the first answer, and what one core serves. What is not there is
// left out, with a line.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { API_KEY, writeFixture } from './accounts.mjs'
import { serveCommand, serverCommand, serviceRequest } from './candidates.mjs'
import { always, ask, drive } from './load.mjs'
import { fineCpuSeconds, firstAnswer, freePort, printed, startProgram, stopAll, stopProgram } from './processes.mjs'
import { startRedis } from './redis.mjs'
import { median, takeTurns } from './statistics.mjs'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const GROUPS = serviceRequest('GET', '/domaingroups')

/** The ways with a port. `open` prepares what is not part of the start, and `spawn` starts the program. */
function listDoors(fixture, folder) {
  return [
    { name: 'npm package', size: packedSize(), spawn: (port) => startProgram(serveCommand(fixture, { port })) },
    {
      name: 'two servers on one Redis',
      isAbsent: !isThere('redis-server'),
      open: async () => (await startRedis(join(folder, 'redis-of-doors'))).options,
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
  ]
}

function isThere(program) {
  return spawnSync(program, ['--version']).status === 0
}

/** In bytes, what npm would publish. */
function packedSize() {
  const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: ROOT })
  // A list before npm 12, and since then an object with the names of the packages.
  return Object.values(JSON.parse(stdout))[0].size
}

/** The processes that this one has started, itself included. */
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

async function stopDoor(child) {
  for (const pid of familyOf(child.pid).reverse()) if (pid !== child.pid) process.kill(pid, 'SIGKILL')
  await stopProgram(child)
  if (child.companion !== undefined) await stopProgram(child.companion)
}

async function openDoor(door, plan) {
  const opened = await door.open?.()
  const starts = []
  for (let round = 1; round < plan.starts; round++) {
    const { child, milliseconds } = await startDoor(door, opened)
    starts.push(milliseconds)
    await stopDoor(child)
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
  return { name: door.name, size: door.size, milliseconds: median([...starts, milliseconds]), measure, child }
}

/** The way without a port: its process makes the load itself. */
async function openFetch(fixture, plan) {
  const starts = []
  let last
  for (let round = 0; round < plan.starts; round++) {
    last = startProgram(serverCommand('fetch', fixture, API_KEY), { stdin: 'pipe' })
    starts.push(JSON.parse(await printed(last, /^(\{.*\})$/m)).milliseconds)
    if (round < plan.starts - 1) await stopProgram(last)
  }
  async function measure(duration = plan.seconds) {
    const answer = printed(last, /^(\{.*\})$/m)
    last.stdin.write(`${duration}\n`)
    return JSON.parse(await answer)
  }
  await measure(plan.warmUp)
  return { name: '`service.fetch`, no port', milliseconds: median(starts), measure }
}

/** Each way with a port, and the one without, beside each other. */
export async function measureDoors(plan, folder) {
  const fixture = writeFixture(join(folder, 'account-of-doors.json'), { domains: 1000, groups: 200 })
  const doors = listDoors(fixture, folder)
  const [absent, there] = [true, false].map((wanted) => doors.filter(({ isAbsent = false }) => isAbsent === wanted))
  const opened = [await openFetch(fixture, plan)]
  for (const door of there) opened.push(await openDoor(door, plan))
  const speeds = await takeTurns(opened, plan.rounds, ({ measure }) => measure())
  for (const { child } of opened) if (child !== undefined) await stopDoor(child)
  await stopAll()
  const rows = opened.map(({ name, size, milliseconds }, index) => ({ name, size, milliseconds, ...speeds[index] }))
  return { rows, absent: absent.map(({ name }) => name) }
}
