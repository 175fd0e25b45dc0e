import { type ChildProcess, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { elapsed } from '../ground/clock.ts'
import { OutputTail } from './output-tail.ts'
import { Descendants, type ProcessFacts } from './processes.ts'

/** How a command ended. */
export interface CommandEnd {
  /** Absent where a signal ended it. */
  exitCode: number | undefined
  signal: NodeJS.Signals | undefined
  timedOut: boolean
  /** The signal by which this process was told to stop while the command ran, if it was. */
  interruptedBy: NodeJS.Signals | undefined
  /** Of real time, until the command itself ended. */
  seconds: number
  /** The end of its output and error, where they are not inherited. */
  output: string
  /** The names of the processes that it had started, that outlived it, and that were ended. */
  leftBehind: readonly string[]
}

/** How many bytes of the output are kept. */
const KEPT = 64 << 10
/** How long a command that was told to end may take by default, in milliseconds. Then it is killed. */
const PATIENCE = 5_000
/** How long nothing is said while the others end, in milliseconds. */
const SILENCE = 1_000
/** How often is looked whether all have ended, in milliseconds: at first, and when it takes longer. */
const POLL = { first: 10, last: 200 }
/** How long killed processes may take to disappear, in milliseconds. One that waits for a broken disk never does. */
const DEATH = 2_000
/** How long the last of the output may take to arrive once nobody writes any more, in milliseconds. */
const DRAIN = 1_000
/** How long what the command leaves behind may take to end by itself, in milliseconds: a `tee` that has seen the end. */
const GRACE = 200
/** How the process of the command itself ended. */
type Exit = Pick<CommandEnd, 'exitCode' | 'signal' | 'seconds'>

interface Start {
  /** Is in the environment of the child, and of no other process but its descendants. */
  mark: string
  /** The ids of the processes that were there before the child. */
  before: readonly number[]
  /** When the child was started, by `elapsed`. */
  started: number
  inherits: boolean
  /** How long a command that was told to end may take, in milliseconds. */
  patience: number | undefined
  waiting: ((names: readonly string[]) => void) | undefined
}

/** A command from its start until everything that it has started is gone. */
export class RunningCommand {
  readonly #child: ChildProcess
  readonly #inherits: boolean
  readonly #patience: number
  readonly #waiting: Start['waiting']
  readonly #descendants: Descendants
  readonly #tail = new OutputTail(KEPT)
  readonly #started: number
  readonly #exited: Promise<Exit>
  readonly #closed: Promise<void>
  readonly #looking: NodeJS.Timeout
  #noteExit: (exitCode: number | null, signal: NodeJS.Signals | null) => void = () => {}
  /** Those that have got SIGTERM: when they began, by pid. */
  readonly #told = new Map<number, string>()
  #timer: NodeJS.Timeout | undefined
  #isEnding = false
  #timedOut = false
  #interruptedBy: NodeJS.Signals | undefined
  /** When the terminal sent a signal last. */
  #lastKey = Number.NEGATIVE_INFINITY

  constructor(child: ChildProcess, { mark, before, started, inherits, patience = PATIENCE, waiting }: Start) {
    this.#child = child
    this.#started = started
    this.#inherits = inherits
    this.#patience = patience
    this.#waiting = waiting
    this.#descendants = new Descendants(child.pid ?? 0, mark, before)
    this.#looking = setInterval(() => this.#descendants.look(), this.#descendants.interval)
    this.#exited = new Promise((resolve) => {
      this.#noteExit = (exitCode, signal) => {
        const seconds = (elapsed() - this.#started) / 1000
        resolve({ exitCode: exitCode ?? undefined, signal: signal ?? undefined, seconds })
      }
      child.once('exit', this.#noteExit)
    })
    this.#closed = new Promise((resolve) => child.once('close', () => resolve()))
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (bytes: Buffer) => this.#tail.add(bytes))
    }
  }

  /** Resolves when the command has ended, and nothing is left of it. */
  async untilGone(): Promise<CommandEnd> {
    const exit = await this.#exited
    clearInterval(this.#looking)
    const leftBehind = this.#isEnding ? [] : await this.#findLeftBehind()
    if (leftBehind.length > 0) this.end('SIGTERM')
    if (this.#isEnding) await this.#untilNobodyIsAlive(elapsed() + this.#patience + DEATH)
    clearTimeout(this.#timer)
    await this.#readRest()
    return {
      ...exit,
      timedOut: this.#timedOut,
      interruptedBy: this.#interruptedBy,
      output: `${this.#tail}`,
      leftBehind: leftBehind.map(({ name }) => name),
    }
  }

  timeOut(): void {
    this.#timedOut = true
    this.end('SIGTERM')
  }

  /** Passes on a signal that this process was given. */
  receive(signal: NodeJS.Signals): void {
    this.#interruptedBy ??= signal
    // The command has got what comes from a key, and decides what it means: a debugger goes on. Who wants to end it,
    // whatever it decides, presses the key again.
    const isKey = this.#inherits && isOfTerminal(signal)
    if (this.#isEnding || (isKey && elapsed() - this.#lastKey < this.#patience)) this.kill()
    else if (isKey) this.#lastKey = elapsed()
    else this.end(signal)
  }

  /** Tells all to end, and kills those that have not ended after a while. */
  end(signal: NodeJS.Signals): void {
    if (this.#isEnding) return
    this.#isEnding = true
    const told = this.#tell(signal)
    if (signal === 'SIGTERM') this.#note(told)
    this.#timer = setTimeout(() => this.kill(), this.#patience)
  }

  kill(): void {
    this.#isEnding = true
    this.#tell('SIGKILL')
    clearTimeout(this.#timer)
    // Who runs as another user does not end for us. This process does not wait for it.
    this.#timer = setTimeout(() => this.#noteExit(null, 'SIGKILL'), DEATH)
  }

  #tell(signal: NodeJS.Signals): ProcessFacts[] {
    const alive = this.#descendants.findAlive()
    this.#descendants.signal(signal, alive)
    // Where the system does not list its processes, at least the command itself is told.
    if (alive.every(({ pid }) => pid !== this.#child.pid)) this.#child.kill(signal)
    return alive
  }

  async #findLeftBehind(): Promise<ProcessFacts[]> {
    const deadline = elapsed() + GRACE
    for (;;) {
      const alive = this.#descendants.findAlive()
      if (alive.length === 0 || elapsed() >= deadline) return alive
      await pause(POLL.first)
    }
  }

  async #untilNobodyIsAlive(deadline: number): Promise<void> {
    let unsaid = elapsed() + SILENCE
    for (let wait = POLL.first; elapsed() < deadline; wait = Math.min(2 * wait, POLL.last)) {
      const alive = this.#descendants.findAlive()
      if (alive.length === 0) return
      // Who was started while the others were told, or ignores the signal that they got, as shells let jobs ignore SIGINT.
      const untold = alive.filter(({ pid, start }) => this.#told.get(pid) !== start)
      this.#descendants.signal('SIGTERM', untold)
      this.#note(untold)
      if (elapsed() > unsaid) {
        this.#waiting?.(alive.map(({ name }) => name))
        unsaid = Number.POSITIVE_INFINITY
      }
      await pause(wait)
    }
    this.kill()
  }

  #note(told: readonly ProcessFacts[]): void {
    for (const { pid, start } of told) this.#told.set(pid, start)
  }

  /** The output is whole when the pipes are closed. A process that was not found may keep them open for ever. */
  async #readRest(): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, DRAIN)
    })
    await Promise.race([this.#closed, late])
    clearTimeout(timer)
    this.#child.stdout?.destroy()
    this.#child.stderr?.destroy()
    this.#child.unref()
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

/**
 * Whether a signal comes from a key such as Ctrl-C: then every process of the foreground has got it. Node.js does not say
 * who has sent a signal. But the foreground of a terminal gets hardly any SIGINT from elsewhere.
 */
function isOfTerminal(signal: NodeJS.Signals): boolean {
  if (signal !== 'SIGINT' && signal !== 'SIGQUIT') return false
  try {
    const [, rest = ''] = /^\d+ \(.*\) (.*)/s.exec(readFileSync('/proc/self/stat', 'latin1')) ?? []
    const [, , group, , terminal, foreground] = rest.split(' ')
    return terminal !== '0' && group === foreground
  } catch {
    return isInForeground()
  }
}

function isInForeground(): boolean {
  try {
    const args = ['-o', 'stat=', '-p', `${process.pid}`]
    return execFileSync('ps', args, { encoding: 'utf8', timeout: PATIENCE }).includes('+')
  } catch {
    return false
  }
}
