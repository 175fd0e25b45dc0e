// What a command costs from its start to its end, with all processes that it starts and waits for.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** The shell says what the system has counted, in seconds: only a parent is told what a child has used. */
const TIME = 'TIMEFORMAT="spent %R %U %S"; time "$@" >/dev/null 2>/dev/null'

/**
 * Milliseconds of wall time and of processor time of a program with these arguments, which is `node` unless it is said
 * otherwise. It may find fault: only a command that cannot do its work has a code above 1. @throws Error for such a one
 */
export async function spendOn(args, { folder, environment = {}, program = process.execPath } = {}) {
  const child = spawn('bash', ['-c', TIME, 'bash', program, ...args], {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let text = ''
  child.stderr.setEncoding('utf8').on('data', (chunk) => (text += chunk))
  const [code] = await once(child, 'close')
  if (code > 1) throw new Error(`${args.join(' ')} ended with ${code}`)
  const [wall, user, system] = /^spent (\S+) (\S+) (\S+)$/m.exec(text).slice(1).map(Number)
  return { milliseconds: wall * 1000, cpuMilliseconds: (user + system) * 1000 }
}
