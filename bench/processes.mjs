// Starts programs, and reads what they have used of the processor and of memory.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { availableParallelism } from 'node:os'
import { ask } from './load.mjs'

const started = new Set()
let isPinned = false

/** Gives this process, which makes the load, core 1, and servers core 0. @returns Whether that could be done. */
export function pin() {
  if (availableParallelism() < 2) return false
  isPinned = spawnSync('taskset', ['-a', '-c', '-p', '1', `${process.pid}`]).status === 0
  return isPinned
}

/** Starts `node` with these arguments, as a server; its standard error is shown. */
export function startProgram(args, { stderr = 'inherit' } = {}) {
  const [program, ...rest] = [...(isPinned ? ['taskset', '-c', '0'] : []), process.execPath, ...args]
  const child = spawn(program, rest, { stdio: ['ignore', 'pipe', stderr] })
  started.add(child)
  child.once('exit', () => started.delete(child))
  return child
}

/** Resolves to the first group of the pattern in what the process prints. */
export async function printed(child, pattern) {
  let text = ''
  for await (const chunk of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    text += chunk
    const found = pattern.exec(text)?.[1]
    if (found === undefined) continue
    // A pipe that nobody reads would fill up and hold the server up.
    child.stdout.resume()
    return found
  }
  throw new Error(`${child.spawnargs.join(' ')} ended: ${text}`)
}

/** Resolves to the port of the first URL that the process prints. */
export async function portOf(child) {
  return Number(await printed(child, /http:\/\/127\.0\.0\.1:(\d+)/))
}

/** A port that nobody listens on. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

/** Asks again at once for as long as nobody listens, and resolves to the first answer. */
export async function firstAnswer(port, request, child) {
  for (;;) {
    try {
      return await ask(port, request)
    } catch (error) {
      if (error.code !== 'ECONNREFUSED' || child.exitCode !== null) throw error
    }
  }
}

export async function stopProgram(child) {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

export function stopAll() {
  return Promise.all([...started].map(stopProgram))
}

/** Does something while all programs but this one are held: what they do beside their turn would disturb it. */
export async function alone(child, act) {
  const others = [...started].filter((each) => each !== child)
  for (const other of others) other.kill('SIGSTOP')
  try {
    return await act()
  } finally {
    for (const other of others) other.kill('SIGCONT')
  }
}

/** Seconds of processor time that a process has used, all its threads together. Needs /proc. */
export function cpuSeconds(pid) {
  // The command's name stands in brackets and may hold anything, so fields are counted from behind it.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

const TICKS_PER_SECOND = Number(spawnSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }).stdout) || 100

/** Resident memory in MiB. */
export function residentMebibytes(pid) {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024
}

/**
 * Wall time and processor time, in seconds, of `node` with these arguments and of all processes that it waits for. Only a
 * parent is told what a child has used, so the shell says it. @throws Error for an exit code above 1
 */
export async function spendOn(args, { folder, environment = {} }) {
  const timed = 'TIMEFORMAT="spent %R %U %S"; time "$@" >/dev/null 2>/dev/null'
  const child = spawn('bash', ['-c', timed, 'bash', process.execPath, ...args], {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const closed = once(child, 'close')
  const text = Buffer.concat(await child.stderr.toArray()).toString()
  const [code] = await closed
  if (code > 1) throw new Error(`${args.join(' ')} ended with ${code}`)
  const [wall, user, system] = /^spent (\S+) (\S+) (\S+)$/m.exec(text).slice(1).map(Number)
  return { wall, cpu: user + system }
}
