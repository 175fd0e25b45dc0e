import { execFile, spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'
import { inject } from 'vitest'
import { ROOT } from './program-process.ts'
import { environmentWith, follow, type RunningProgram, type RunOptions } from './running-program.ts'

/** Whether an executable for this machine can be tried. */
export const HAS_EXECUTABLE = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch)

let made: Promise<string> | undefined

/** The path of the executable of these sources. All tests share one, which is made if it is not there yet. */
export function executable(): Promise<string> {
  made ??= make()
  return made
}

async function make(): Promise<string> {
  const failure = inject('buildFailure')
  if (failure !== undefined) throw new Error(failure)
  const { stdout } = await promisify(execFile)(process.execPath, ['packaging/current-executable.mjs'], { cwd: ROOT })
  return stdout.trim()
}

/** Starts it where no file of the package is near. */
export async function spawnExecutable(args: readonly string[], options: RunOptions = {}): Promise<RunningProgram> {
  return spawnAlone(await executable(), args, options)
}

/** Starts a program in the folder of temporary files. */
export function spawnAlone(
  program: string,
  args: readonly string[],
  { environment, folder = tmpdir() }: RunOptions = {},
): RunningProgram {
  const env = environmentWith(environment)
  return follow(spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] }))
}
