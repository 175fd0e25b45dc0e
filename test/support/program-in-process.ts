import { tmpdir } from 'node:os'
import { runProgram } from '../../src/cli/program.ts'
import type { StopSignal, Terminal } from '../../src/cli/terminal.ts'
import { SILENT } from '../../src/http/log.ts'
import { endOf, environmentWith, Output, type Result, type RunningProgram, type RunOptions } from './running-program.ts'

/** Resolves when no program is in the working folder of another one any more. */
let folderIsFree: Promise<unknown> = Promise.resolve()

/**
 * Runs the program of the sources in this process, which takes a tenth of the time of a process. It has no log, and it
 * reads relative paths only until it is ready: then the working folder of the process is another one.
 */
export function startInProcess(
  args: readonly string[],
  { environment, folder = tmpdir() }: RunOptions = {},
): RunningProgram {
  const output = new Output()
  let stop = () => {}
  const stopped = new Promise<void>((resolve) => {
    stop = resolve
  })
  const listeners = new Set<(signal: StopSignal) => void>()
  function listenTo(listener: (signal: StopSignal) => void): () => void {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  function tellToStop(signal: NodeJS.Signals = 'SIGTERM'): void {
    stop()
    for (const listener of listeners) listener(signal as StopSignal)
  }
  const terminal: Terminal = {
    environment: environmentWith(environment),
    write: (text: string) => output.add('stdout', text),
    print: (line: string) => output.add('stdout', `${line}\n`),
    printError: (line: string) => output.add('stderr', `${line}\n`),
    writeError: (text: string) => output.add('stderr', text),
    screen: { size: undefined, colours: false },
    openLog: async () => ({ log: SILENT, close: async () => {} }),
    untilStopped: () => stopped,
    onSignal: listenTo,
    endAtNextSignal: () => {},
    untilParentEnded: () => new Promise<void>(() => {}),
  }
  const prints = (pattern: RegExp) => output.prints(pattern)

  async function run(): Promise<Result> {
    const before = folderIsFree
    let leave = () => {}
    folderIsFree = new Promise<void>((resolve) => {
      leave = resolve
    })
    await before
    const home = process.cwd()
    process.chdir(folder)
    function goHome(): void {
      process.chdir(home)
      leave()
    }
    prints(/is ready\.\n/).then(goHome, goHome)
    const code = await runProgram(args, terminal).finally(() => output.end())
    return { code, stdout: output.stdout, stderr: output.stderr }
  }

  return { stdout: () => output.stdout, stderr: () => output.stderr, prints, stop: tellToStop, ended: run() }
}

export function runInProcess(args: readonly string[], options?: RunOptions): Promise<Result> {
  return endOf(startInProcess(args, options))
}
