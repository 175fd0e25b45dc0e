import { elapsed } from '../../ground/clock.ts'
import { nextTurn, pause } from '../../ground/timers.ts'
import { bytesOf, type Entry, PAST } from '../../journal/entry.ts'
import { type CommandSide, Course, otherSide, type Schedule, type Strand } from './schedule.ts'
import type { Turnstile } from './turnstile.ts'

/** A request that was let through. */
export interface Step {
  strand: Required<Strand>
  /** The threads of the command that had a request at the door then. */
  threads: readonly number[]
  entry: Entry
}

/** Why a run was ended before both commands had ended. */
export interface Halt {
  /** The command that waits. */
  side: CommandSide
  /** `unfinished`: it does not end the body of its request. */
  reason: 'silent' | 'unfinished' | 'repeats'
  /** How long it was silent, in seconds. */
  seconds: number
}

/** A command of a run, as the conductor sees it. */
export interface ConductedCommand {
  /** Whether all of its processes wait; absent before its start. */
  isAsleep?: (() => boolean) | undefined
  hasEnded: boolean
}

export interface ConductorDeps {
  turnstile: Turnstile
  commands: readonly [ConductedCommand, ConductedCommand]
  schedule: Schedule
  /** Whether the second command starts only after the end of the first one. */
  isSerial: boolean
  /** How often a thread repeats one request in the serial orders, while nothing changes. */
  repeats: number
  /** See `SILENCE`, in milliseconds. */
  silence: number
  /** Whether the threads of a command are known to never sleep in time. Then nobody waits for that. */
  restless: readonly [boolean, boolean]
  /** Lets a request through, and resolves to its exchange. */
  pass(strand: Required<Strand>): Promise<Entry>
  /** Aborted when the run is over before its end. */
  signal: AbortSignal
}

/**
 * A command that sends nothing for this time, and does not compute, waits for something that only the other command can
 * do. In milliseconds. This is the only time limit by which the turn is given to somebody.
 */
export const SILENCE = 10_000
/** How often the processes are looked at, in milliseconds: while they compute, and while they wait. */
const LOOK = { awake: 1, asleep: 20 }
/** In turns of the event loop: so many send an answer, and read the requests that have arrived. */
const TURNS = 5
/**
 * A thread that repeats a request so much more often than in the serial orders, while nothing changes, waits for the
 * other command to change something.
 */
const POLLS = 5
/** If it goes on, the other command has ended, or waits, too. Then they wait for ever. */
export const HOPELESS = 50
/** A thread that repeats a request so often in a serial order waits for the other command. */
const HOPELESS_ALONE = 1_000

/**
 * Lets the requests of two commands through, one at a time, in the order of a schedule. It never waits for a fixed time:
 * the command whose turn it is has sent its next request, has ended, or waits for the other one.
 */
export class Conductor {
  readonly #deps: ConductorDeps
  readonly #course: Course
  readonly #steps: Step[] = []
  /** How often each thread has sent each request since the last change of the account. */
  readonly #polls = new Map<string, number>()
  /** The number of polls of a command at the time when it last gave the turn away. */
  readonly #yielded: [number, number] = [0, 0]
  #repeats = 0
  readonly #restless: [boolean, boolean]
  #quiet = 0

  constructor(deps: ConductorDeps) {
    this.#deps = deps
    this.#restless = [...deps.restless]
    this.#course = new Course(deps.schedule)
  }

  get steps(): readonly Step[] {
    return this.#steps
  }

  get isFollowed(): boolean {
    return this.#course.isFollowed
  }

  /** How often a thread has repeated one request while nothing changed. */
  get repeats(): number {
    return this.#repeats
  }

  /** The longest time for which a command did nothing and went on by itself, in milliseconds. */
  get quiet(): number {
    return this.#quiet
  }

  /** See `ConductorDeps`, with what this run has shown. */
  get restless(): readonly [boolean, boolean] {
    return this.#restless
  }

  /** Resolves when both commands have ended, or to the reason why they never will. */
  async conduct(): Promise<Halt | undefined> {
    /** The command that gave the turn away because it was silent, if nothing has happened since. */
    let silent: CommandSide | undefined
    while (!this.#deps.signal.aborted) {
      const { side } = this.#course
      const state = await this.#untilReady(side)
      if (state === 'over') return undefined
      if (state === 'asks') {
        silent = undefined
        const halt = await this.#letThrough(side)
        if (halt !== undefined) return halt
        continue
      }
      const hasOtherEnded = this.#deps.commands[otherSide(side)].hasEnded
      if (state === 'ended') {
        if (hasOtherEnded) return undefined
      } else {
        // The other one was silent before, but it may have sent a request meanwhile.
        const isOtherSilent = silent === otherSide(side) && !this.#deps.turnstile.isAsking(otherSide(side))
        if (this.#deps.isSerial || hasOtherEnded || isOtherSilent) return this.#halt(side, 'silent')
        silent = side
      }
      this.#course.passOver()
    }
    return undefined
  }

  async #letThrough(side: CommandSide): Promise<Halt | undefined> {
    const threads = this.#deps.turnstile.threadsOf(side)
    const strand = this.#course.take(threads)
    const entry = await this.#pass(strand)
    if (entry === undefined) return this.#halt(side, 'unfinished')
    this.#steps.push({ strand, threads, entry })
    await this.#turn()
    const { isSerial, commands, repeats } = this.#deps
    const polls = this.#countPolls(strand, entry) - repeats
    if (polls >= (isSerial ? HOPELESS_ALONE : HOPELESS)) return this.#halt(side, 'repeats')
    const mayYield = !isSerial && this.#course.isFree && !commands[otherSide(side)].hasEnded
    if (mayYield && polls - this.#yielded[side] >= POLLS) {
      this.#yielded[side] = polls
      this.#course.passOver()
    }
    return undefined
  }

  /** Lets a request through. Resolves to `undefined` if its command sleeps and leaves its body unfinished. */
  async #pass(strand: Required<Strand>): Promise<Entry | undefined> {
    const { turnstile, commands, silence } = this.#deps
    const isWhole = turnstile.watchBody(strand)
    const passing = this.#deps.pass(strand)
    if (isWhole()) return passing
    const leaving = new AbortController()
    const watch = async () => {
      for (let since = elapsed(); elapsed() - since < silence; ) {
        await pause(LOOK.asleep)
        if (leaving.signal.aborted) return
        if (isWhole() || commands[strand.side].isAsleep?.() !== true) since = elapsed()
      }
    }
    // After a halt, nobody needs the exchange.
    passing.catch(() => {})
    try {
      return await Promise.race([passing, watch().then(() => undefined)])
    } finally {
      leaving.abort()
    }
  }

  #halt(side: CommandSide, reason: Halt['reason']): Halt {
    return { side, reason, seconds: this.#deps.silence / 1000 }
  }

  /** How often the thread has sent this request since the last change of the account. */
  #countPolls({ side, thread }: Required<Strand>, { method, target, body, [PAST]: past }: Entry): number {
    if (past?.after !== undefined) {
      this.#polls.clear()
      this.#yielded.fill(0)
      return 0
    }
    const request = `${side}/${thread} ${method} ${target} ${body === undefined ? '' : bytesOf(body)}`
    const count = (this.#polls.get(request) ?? 0) + 1
    this.#polls.set(request, count)
    this.#repeats = Math.max(this.#repeats, count)
    return count
  }

  /** Waits until the command has sent what it can send, has ended, or is silent for too long. */
  async #untilReady(side: CommandSide): Promise<'asks' | 'ended' | 'silent' | 'over'> {
    const { turnstile, commands, silence, signal } = this.#deps
    const command = commands[side]
    let since = elapsed()
    let quiet = 0
    const note = () => {
      this.#quiet = Math.max(this.#quiet, quiet)
    }
    while (!signal.aborted) {
      if (command.hasEnded) {
        note()
        return 'ended'
      }
      const isAsking = turnstile.isAsking(side)
      const { news } = turnstile
      const isAsleep = command.isAsleep?.() ?? false
      if (isAsking && (isAsleep || this.#restless[side])) {
        // What it sent before it slept may have arrived only now.
        await this.#turn()
        if (turnstile.news !== news) continue
        note()
        return 'asks'
      }
      if (isAsking && elapsed() - since >= Math.min(silence, SILENCE)) this.#restless[side] = true
      if (!isAsking && !isAsleep) since = elapsed()
      if (!isAsking) quiet = Math.max(quiet, elapsed() - since)
      if (!isAsking && elapsed() - since >= silence) return 'silent'
      if (isAsleep) await turnstile.untilNews(LOOK.asleep)
      else await pause(LOOK.awake)
    }
    return 'over'
  }

  async #turn(): Promise<void> {
    for (let turn = 0; turn < TURNS; turn++) await nextTurn()
  }
}
