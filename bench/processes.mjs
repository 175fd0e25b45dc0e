import { spawn, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { availableParallelism } from 'node:os'
import { ask } from './load.mjs'

/** Servers run on one core and the load on another, so that neither takes time from the other. */
const SERVER_CORE = '0'
const LOAD_CORE = '1'
/** All cores, as `taskset` writes them. */
export const ALL_CORES = `0-${availableParallelism() - 1}`

const started = new Set()
const neverHeld = new WeakSet()
let pinned = false

/** Gives this process, which makes the load, a core of its own. Answers whether that could be done. */
export function pinThisProcess() {
  if (availableParallelism() < 2) return false
  const { status } = spawnSync('taskset', ['-a', '-c', '-p', LOAD_CORE, `${process.pid}`])
  pinned = status === 0
  return pinned
}

/**
 * Starts a program, which is `node` unless it is said otherwise; what it says on standard error is shown. Where this
 * process is pinned, and the child would share its core, the child gets `cores`. `isHeld`: whether it is held while
 * another program has its turn.
 */
export function startProgram(
  args,
  { program = process.execPath, cores = SERVER_CORE, stdin = 'ignore', stderr = 'inherit', isHeld = true } = {},
) {
  const [first, ...rest] = [...(pinned ? ['taskset', '-c', cores] : []), program, ...args]
  const child = spawn(first, rest, { stdio: [stdin, 'pipe', stderr] })
  child.stdout.setEncoding('utf8')
  started.add(child)
  if (!isHeld) neverHeld.add(child)
  child.once('exit', () => started.delete(child))
  return child
}

/** Resolves to the first group of the pattern in what the process prints from now on. */
export function printed(child, pattern) {
  return new Promise((resolve, reject) => {
    let text = ''
    const take = (chunk) => {
      text += chunk
      const found = pattern.exec(text)?.[1]
      if (found === undefined) return
      child.stdout.off('data', take)
      child.off('exit', complain)
      resolve(found)
    }
    const complain = (code) => reject(new Error(`${child.spawnargs.join(' ')} ended with ${code}: ${text}`))
    child.stdout.on('data', take)
    child.once('exit', complain)
  })
}

/** Resolves to the port of the first URL that the process prints. */
export async function portOf(child) {
  const port = Number(await printed(child, /http:\/\/127\.0\.0\.1:(\d+)/))
  // A pipe that nobody reads would fill up and hold the server up.
  child.stdout.resume()
  return port
}

/** A port that nobody listens on, below those that systems hand out, so that no other process is given it meanwhile. */
export function freePort() {
  const port = 20_000 + Math.floor(Math.random() * 10_000)
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(freePort()))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(port)))
  })
}

/** Asks again at once for as long as nobody listens, and resolves to the first answer. */
export async function firstAnswer(port, request, child) {
  const patience = performance.now() + 30_000
  for (;;) {
    try {
      return await ask(port, request)
    } catch (error) {
      const isOver = performance.now() > patience || child.exitCode !== null
      if (error.code !== 'ECONNREFUSED' || isOver) throw error
    }
  }
}

export function stopProgram(child) {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once('exit', resolve)
    child.kill('SIGKILL')
  })
}

/** Does something while all programs but this one are held: what they do beside their turn would disturb it. */
export async function alone(child, act) {
  const others = [...started].filter((each) => each !== child && !neverHeld.has(each))
  for (const other of others) other.kill('SIGSTOP')
  try {
    return await act()
  } finally {
    for (const other of others) other.kill('SIGCONT')
  }
}

export function stopAll() {
  return Promise.all([...started].map(stopProgram))
}

/** Seconds of processor time that the process has used, all its threads together; `undefined` where nobody says. */
export function cpuSeconds(pid) {
  try {
    // The command's name stands in brackets and may hold anything, so fields are counted from behind it.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ')
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond()
  } catch {
    return undefined
  }
}

/** The same to the microsecond, but only of the threads that run still; `undefined` where nobody says. */
export function fineCpuSeconds(pid) {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    const spent = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0])
    return spent.reduce((sum, nanoseconds) => sum + Number(nanoseconds) / 1e9, 0)
  } catch {
    return undefined
  }
}

let ticks

function ticksPerSecond() {
  ticks ??= Number(spawnSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }).stdout) || 100
  return ticks
}

/** Resident memory in MiB. */
export function residentMebibytes(pid) {
  const { stdout } = spawnSync('ps', ['-o', 'rss=', '-p', `${pid}`], { encoding: 'utf8' })
  return Number(stdout) / 1024
}
