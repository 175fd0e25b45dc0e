import type { ChildProcess } from 'node:child_process'
import { elapsed } from '../ground/clock.ts'
import { clearInterval, clearTimeout, pause, setInterval, setTimeout } from '../ground/timers.ts'
import { OutputTail } from './output-tail.ts'
import { Descendants, isInForeground, type ProcessFacts } from './processes.ts'

/** The end of a command. */
export interface CommandEnd {
  /** Absent if a signal ended it. */
  exitCode: number | undefined
  signal: NodeJS.Signals | undefined
  timedOut: boolean
  /** The signal that told this process to stop while the command ran. */
  interruptedBy: NodeJS.Signals | undefined
  /** Real time until the command itself ended. */
  seconds: number
  /** The end of its standard output and standard error, if they are not inherited. */
  output: string
  /** The names of its processes that outlived it and were then ended. */
  leftBehind: readonly string[]
}

/** How many bytes of the output are kept. */
const KEPT = 64 << 10
/** How long a command may take to end by default, in milliseconds. Then it is killed. */
const PATIENCE = 5_000
/** How long the wait for the other processes is silent, in milliseconds. */
const SILENCE = 1_000
/** The interval at which the end of all processes is checked, in milliseconds: at first, and later. */
const POLL = { first: 10, last: 200 }
/** How long killed processes may take to disappear, in milliseconds. A process on a broken disk never does. */
const DEATH = 2_000
/** How long the rest of the output may take to arrive after all writers have ended, in milliseconds. */
const DRAIN = 1_000
/** How long remaining processes may take to end by themselves, in milliseconds: a `tee` at the end of its input. */
const GRACE = 200
/** The end of the process of the command itself. */
type Exit = Pick<CommandEnd, 'exitCode' | 'signal' | 'seconds'>

interface Start {
  /** The text in the environment of the child. Only its descendants have it, too. */
  mark: string
  /** The ids of the processes that existed before the child. */
  before: readonly number[]
  /** The start of the child, from `elapsed`. */
  started: number
  inherits: boolean
  /** How long the command may take to end, in milliseconds. */
  patience: number | undefined
  waiting: ((names: readonly string[]) => void) | undefined
}

/** A command from its start until all of its processes have ended. */
export class RunningCommand {
  readonly #child: ChildProcess
  readonly #start: Start
  readonly #patience: number
  readonly #descendants: Descendants
  readonly #tail = new OutputTail(KEPT)
  readonly #exited: Promise<Exit>
  readonly #closed: Promise<void>
  readonly #looking: NodeJS.Timeout
  #noteExit: (exitCode: number | null, signal: NodeJS.Signals | null) => void = () => {}
  /** The processes that got SIGTERM: pid → start time. */
  readonly #told = new Map<number, string>()
  #timer: NodeJS.Timeout | undefined
  #isEnding = false
  #timedOut = false
  #interruptedBy: NodeJS.Signals | undefined
  /** The time of the last signal from the terminal. */
  #lastKey = Number.NEGATIVE_INFINITY

  constructor(child: ChildProcess, start: Start) {
    this.#child = child
    this.#start = start
    this.#patience = start.patience ?? PATIENCE
    this.#descendants = new Descendants(child.pid ?? 0, start.mark, start.before)
    this.#looking = setInterval(() => this.#descendants.look(), this.#descendants.interval)
    this.#exited = new Promise((resolve) => {
      this.#noteExit = (exitCode, signal) => {
        const seconds = (elapsed() - start.started) / 1000
        resolve({ exitCode: exitCode ?? undefined, signal: signal ?? undefined, seconds })
      }
      child.once('exit', this.#noteExit)
    })
    this.#closed = new Promise((resolve) => child.once('close', () => resolve()))
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (bytes: Buffer) => this.#tail.add(bytes))
    }
  }

  /** Resolves when the command and all of its processes have ended. */
  async untilGone(): Promise<CommandEnd> {
    const exit = await this.#exited
    clearInterval(this.#looking)
    const leftBehind = this.#isEnding ? [] : await this.#findLeftBehind()
    if (leftBehind.length > 0) this.end('SIGTERM')
    if (this.#isEnding) await this.#untilAllHaveEnded(elapsed() + this.#patience + DEATH)
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

  /** Whether all of its processes wait for something at the moment. */
  get isAsleep(): boolean {
    return this.#descendants.areAsleep()
  }

  timeOut(): void {
    this.#timedOut = true
    this.end('SIGTERM')
  }

  /** Takes a signal to this process. */
  receive(signal: NodeJS.Signals): void {
    this.#interruptedBy ??= signal
    // The command gets the signal of a key directly and decides what to do: a debugger goes on. A second key press ends
    // the command in any case.
    const isKey = this.#start.inherits && isOfTerminal(signal)
    if (this.#isEnding || (isKey && elapsed() - this.#lastKey < this.#patience)) this.kill()
    else if (isKey) this.#lastKey = elapsed()
    else this.end(signal)
  }

  /** Sends the signal to all processes, and kills the remaining ones after a while. */
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
    // A process of another user cannot be killed. This process does not wait for it.
    this.#timer = setTimeout(() => this.#noteExit(null, 'SIGKILL'), DEATH)
  }

  #tell(signal: NodeJS.Signals): ProcessFacts[] {
    const alive = this.#descendants.findAlive()
    this.#descendants.signal(signal, alive)
    // If the system does not list its processes, at least the command itself gets the signal.
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

  async #untilAllHaveEnded(deadline: number): Promise<void> {
    let unsaid = elapsed() + SILENCE
    for (let wait = POLL.first; elapsed() < deadline; wait = Math.min(2 * wait, POLL.last)) {
      const alive = this.#descendants.findAlive()
      if (alive.length === 0) return
      // These processes started while the others got the signal, or they ignore it. Shells let jobs ignore SIGINT.
      const untold = alive.filter(({ pid, start }) => this.#told.get(pid) !== start)
      this.#descendants.signal('SIGTERM', untold)
      this.#note(untold)
      if (elapsed() > unsaid) {
        this.#start.waiting?.(alive.map(({ name }) => name))
        unsaid = Number.POSITIVE_INFINITY
      }
      await pause(wait)
    }
    this.kill()
  }

  #note(told: readonly ProcessFacts[]): void {
    for (const { pid, start } of told) this.#told.set(pid, start)
  }

  /** The output is complete when the pipes are closed. An undetected process may keep them open for ever. */
  async #readRest(): Promise<void> {
    const isClosed = new AbortController()
    const late = pause(DRAIN, undefined, { signal: isClosed.signal }).catch(() => {})
    await Promise.race([this.#closed, late])
    isClosed.abort()
    this.#child.stdout?.destroy()
    this.#child.stderr?.destroy()
    this.#child.unref()
  }
}

/**
 * Whether a signal comes from a key such as Ctrl-C. Then every process of the foreground gets it. Node.js does not
 * report the sender of a signal. But a foreground process rarely gets a SIGINT from elsewhere.
 */
function isOfTerminal(signal: NodeJS.Signals): boolean {
  return (signal === 'SIGINT' || signal === 'SIGQUIT') && isInForeground()
}
