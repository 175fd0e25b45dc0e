import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

/** Servers run on one core and the load on another, so that neither takes time from the other. */
const SERVER_CORE = '0'
const LOAD_CORE = '1'

const started = new Set()

/** Gives this process, which makes the load, a core of its own. Answers whether that could be done. */
export function pinThisProcess() {
  if (availableParallelism() < 2) return false
  const { status } = spawnSync('taskset', ['-a', '-c', '-p', LOAD_CORE, `${process.pid}`])
  return status === 0
}

/**
 * Starts `node ...args`; what it says on standard error is shown. Where this process is pinned, and the child would
 * share its core, the child gets `cores`.
 */
export function startNode(args, pinned, cores = SERVER_CORE) {
  const command = pinned ? ['taskset', '-c', cores, process.execPath] : [process.execPath]
  const [program, ...rest] = [...command, ...args]
  const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'inherit'] })
  started.add(child)
  child.once('exit', () => started.delete(child))
  return child
}

/** All cores, as `taskset` writes them. */
export const ALL_CORES = `0-${availableParallelism() - 1}`

/** Resolves to the port of the first URL that the process prints. */
export function portOf(child) {
  return new Promise((resolve, reject) => {
    let printed = ''
    child.stdout.on('data', (chunk) => {
      printed += chunk
      const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(printed)?.[1]
      if (port !== undefined) resolve(Number(port))
    })
    child.once('exit', (code) => reject(new Error(`${child.spawnargs.join(' ')} ended with ${code}: ${printed}`)))
  })
}

export function stopProcess(child) {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once('exit', resolve)
    child.kill('SIGKILL')
  })
}

export function stopAll() {
  return Promise.all([...started].map(stopProcess))
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
