import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import { inject, TestRunner } from 'vitest'
import { endOf, environmentWith, follow, type Result, type RunningProgram, type RunOptions } from './running-program.ts'

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

/** Starts a line as a person would type it. */
export function spawnShell(line: string, options?: RunOptions): RunningProgram {
  return spawnCommand(['sh', '-c', line], options)
}

/** The same to its end. */
export function runShell(line: string, options?: RunOptions): Promise<Result> {
  return spawnShell(line, options).ended
}

/** Starts any program as a process. */
export function spawnCommand(
  [command = '', ...args]: string[],
  { environment, folder = ROOT }: RunOptions = {},
): RunningProgram {
  // Planted mistakes are in the sources that a thread has loaded, and not in what was built.
  if (!isMainThread) TestRunner.getCurrentTest()?.context.skip('starts the built program')
  // What was built before is another program than the one of these sources.
  const failure = inject('buildFailure')
  if (failure !== undefined) throw new Error(failure)
  const child = spawn(command, args, {
    cwd: folder,
    env: environmentWith(environment),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return follow(child)
}
