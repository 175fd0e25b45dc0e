import { tmpdir } from 'node:os'
import { Readable, Writable } from 'node:stream'
import { isMainThread } from 'node:worker_threads'
import { TestRunner } from 'vitest'
import { runProgram } from '../../src/cli/program.ts'
import type { StopSignal, Terminal } from '../../src/cli/terminal.ts'
import { SILENT } from '../../src/ground/log.ts'
import { endOf, environmentWith, Output, type Result, type RunningProgram, type RunOptions } from './running-program.ts'

/** Programs that have the same working folder and so may run at the same time. */
interface Stay {
  folder: string
  /** How many programs are in the folder, or wait to be. */
  count: number
  /** Resolves when the working folder is this one. */
  begun: Promise<void>
  /** Resolves when no program needs the folder any more. */
  over: Promise<void>
  end: () => void
}

/** The stay that began last, or is to begin last. */
let stay: Stay | undefined

/** Makes a folder the working folder of this process, as soon as nobody needs another one; gives what ends that. */
async function enter(folder: string): Promise<() => void> {
  if (stay?.folder !== folder || stay.count === 0) stay = planStay(folder, stay?.over)
  const own = stay
  own.count++
  const leave = () => {
    if (--own.count === 0) own.end()
  }
  await own.begun.catch((error) => {
    leave()
    throw error
  })
  return leave
}

function planStay(folder: string, before: Promise<void> = Promise.resolve()): Stay {
  let home: string | undefined
  let end = () => {}
  const begun = before.then(() => {
    home = process.cwd()
    process.chdir(folder)
  })
  const over = new Promise<void>((resolve) => {
    end = () => {
      if (home !== undefined) process.chdir(home)
      resolve()
    }
  })
  return { folder, count: 0, begun, over, end }
}

/**
 * Runs the program of the sources in this process, which takes a tenth of the time of a process. It has no log, and it
 * reads relative paths only until it is ready: then the working folder of the process is another one.
 */
export function startInProcess(
  args: readonly string[],
  { environment, folder, input = [] }: RunOptions = {},
): RunningProgram {
  // A thread has the working folder of its process: the tests of planted mistakes run in one.
  if (!isMainThread && folder !== undefined)
    TestRunner.getCurrentTest()?.context.skip('needs a working folder of its own')
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
    writeError: (text: string) => output.add('stderr', text),
    streams: {
      input: Readable.from(input.map((line) => Buffer.from(line))),
      output: new Writable({
        write(chunk, _, done) {
          output.add('stdout', `${chunk}`)
          done()
        },
      }),
    },
    screen: { columns: undefined, colours: false },
    openLog: () => ({ log: SILENT, close: async () => {} }),
    untilStopped: () => stopped,
    onSignal: listenTo,
    untilEnded: () => [],
  }
  const prints = (pattern: RegExp) => output.prints(pattern)

  async function run(): Promise<Result> {
    const leave = isMainThread ? await enter(folder ?? tmpdir()) : () => {}
    prints(/is ready\.\n/).then(leave, leave)
    const code = await runProgram(args, terminal).finally(() => output.end())
    return { code, stdout: output.stdout, stderr: output.stderr }
  }

  return { stdout: () => output.stdout, stderr: () => output.stderr, prints, stop: tellToStop, ended: run() }
}

export function runInProcess(args: readonly string[], options?: RunOptions): Promise<Result> {
  return endOf(startInProcess(args, options))
}
