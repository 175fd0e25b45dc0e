/** A command: 0 is COMMAND, 1 is the one of `--beside`. */
export type CommandSide = 0 | 1
export const SIDES = [0, 1] as const

export function otherSide(side: CommandSide): CommandSide {
  return side === 0 ? 1 : 0
}

/** Whose request is next. Without a thread, it is the next one of the command as it goes on by itself. */
export interface Strand {
  side: CommandSide
  /** Only if the command has several requests under way. */
  thread?: number
}

/**
 * The order of the requests of two commands: whose turn it is, one request after the other. After its end, each command
 * goes on until it ends, beginning with the one that was the last.
 */
export type Schedule = readonly Strand[]

/** A part of a plan for people and files: so many requests of a command, or all until its end. */
export interface Turn {
  command: 1 | 2
  thread?: number
  requests?: number
}

/** The requests of the same thread in a row are one turn. The last turn has no end. */
export function writePlan(schedule: Schedule): Turn[] {
  const turns: (Turn & { requests: number })[] = []
  for (const { side, thread } of schedule) {
    const last = turns.at(-1)
    const command = side === 0 ? 1 : 2
    if (last !== undefined && last.command === command && last.thread === thread) last.requests++
    else turns.push({ command, ...(thread !== undefined && { thread }), requests: 1 })
  }
  return turns.map(({ requests, ...turn }, index) => ({ ...turn, ...(index < turns.length - 1 && { requests }) }))
}

/** The schedule of a plan. All turns but the last one have a number of requests. */
export function scheduleOf(plan: readonly Turn[]): Schedule {
  return plan.flatMap(({ command, thread, requests = 1 }): Strand[] => {
    const strand = { side: command === 1 ? 0 : 1, ...(thread !== undefined && { thread }) } as const
    return Array.from({ length: requests }, () => strand)
  })
}

/**
 * A walk along a schedule. It decides whose turn it is; the caller knows which requests there are. The same walk decides
 * in a run of the commands and in its prediction.
 */
export class Course {
  #plan: Schedule
  #step = 0
  #side: CommandSide = 0
  readonly #threads: [number, number] = [1, 1]
  /** Whether the requests came as the schedule says. */
  isFollowed = true

  constructor(plan: Schedule) {
    this.#plan = plan
  }

  /** The command whose turn it is. */
  get side(): CommandSide {
    return this.#plan[this.#step]?.side ?? this.#side
  }

  /** Whether the schedule is over, so that each command goes on by itself. */
  get isFree(): boolean {
    return this.#step >= this.#plan.length
  }

  /** Gives the turn to the other command, because this one has ended, or waits for the other one. */
  passOver(): void {
    this.#side = otherSide(this.side)
    if (!this.isFree) this.#abandon()
  }

  /** Takes the turn of one of these threads of the command whose turn it is. */
  take(threads: readonly number[]): Required<Strand> {
    const { side } = this
    const wanted = this.#plan[this.#step]?.thread
    if (wanted !== undefined && !threads.includes(wanted)) this.#abandon()
    const thread = wanted !== undefined && threads.includes(wanted) ? wanted : this.usualThread(side, threads)
    this.#step++
    this.#side = side
    this.#threads[side] = thread
    return { side, thread }
  }

  /** The thread that goes on by itself: the last one of the command, or the lowest. */
  usualThread(side: CommandSide, threads: readonly number[]): number {
    const last = this.#threads[side]
    return threads.includes(last) ? last : Math.min(...threads)
  }

  #abandon(): void {
    this.isFollowed = false
    this.#plan = []
  }
}

/** How often the turn changes in an order. */
export interface Changes {
  /** How often it goes to the other command before the one under way has ended. */
  switches: number
  /** How often it goes to another thread of a command, while the one that was under way has a request. */
  overtakings: number
}

/**
 * Counts the changes that a schedule makes in the requests of a run. Those after its end are not counted: then the turn
 * changes only because a command has ended, or waits.
 */
export function countChanges(
  { length }: Schedule,
  steps: readonly { strand: Required<Strand>; threads: readonly number[] }[],
): Changes {
  const changes: Changes = { switches: 0, overtakings: 0 }
  const last: [number, number] = [1, 1]
  for (const [index, { strand, threads }] of steps.slice(0, length).entries()) {
    const { side, thread } = strand
    const former = steps[index - 1]?.strand.side ?? side
    if (former !== side && steps.slice(index).some((later) => later.strand.side === former)) changes.switches++
    const usual = threads.includes(last[side]) ? last[side] : Math.min(...threads)
    if (thread !== usual) changes.overtakings++
    last[side] = thread
  }
  return changes
}
