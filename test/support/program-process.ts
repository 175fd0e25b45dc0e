import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'
import { endOf, environmentWith, Output, type Result, type RunningProgram, type RunOptions } from './running-program.ts'

// What was built before is another program than the one of these sources.
if (inject('buildFailure') !== undefined) throw new Error(inject('buildFailure'))

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))
export const PROGRAM = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

/** A program that lives for a moment pays for optimized code and does not live to profit from it. */
const NODE = [process.execPath, '--no-opt']

/** Starts the built program as a process. */
export function spawnProgram(args: readonly string[], options?: RunOptions): RunningProgram {
  return spawnCommand([...NODE, PROGRAM, ...args], options)
}

export function runProcess(args: readonly string[], options?: RunOptions): Promise<Result> {
  return endOf(spawnProgram(args, options))
}

/** Runs a line as a person would type it. */
export function runShell(line: string, options?: RunOptions): Promise<Result> {
  return spawnCommand(['sh', '-c', line], options).ended
}

function spawnCommand(
  [command = '', ...args]: string[],
  { environment, folder = ROOT }: RunOptions = {},
): RunningProgram {
  const child = spawn(command, args, {
    cwd: folder,
    env: environmentWith(environment),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = new Output()
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8')
    child[name].on('data', (text: string) => output.add(name, text))
  }
  async function waitForEnd(): Promise<Result> {
    const [code] = await once(child, 'close')
    output.end()
    return { code, stdout: output.stdout, stderr: output.stderr }
  }
  return {
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    prints: (pattern) => output.prints(pattern),
    stop: (signal = 'SIGTERM') => void child.kill(signal),
    ended: waitForEnd(),
  }
}
