import { elapsed } from '../ground/clock.ts'
import { clearTimeout, setTimeout } from '../ground/timers.ts'

/** In milliseconds: the timer delay that shows a busy process, and how long a reply is then awaited. */
const [BUSY, GRACE] = [25, 100]
/** How often the wait is extended while the process stays busy. */
const MAX_GRACES = 5

/** A command that waits for its reply. Times are in milliseconds, by `elapsed`. */
export interface Awaited {
  until: number
  deadline: number
  /** Whether the deadline is longer than usual. */
  isLong: boolean
}

/** Notices that a reply does not come in time. One timer serves all commands of a connection: a timer costs much. */
export class ReplyWatch {
  readonly #awaited = new Set<Awaited>()
  readonly #expire: (deadline: number) => void
  #timer: NodeJS.Timeout | undefined
  /** When the timer fires; infinite if there is none. */
  #due = Number.POSITIVE_INFINITY
  #graces = 0

  /** `expire` is called with the deadline that is over. */
  constructor(expire: (deadline: number) => void) {
    this.#expire = expire
  }

  add(call: Awaited): void {
    this.#awaited.add(call)
    if (call.until < this.#due) this.#wait(call.until)
  }

  /** The timer stays, because the next command needs it. */
  remove(call: Awaited): void {
    this.#awaited.delete(call)
    this.#graces = 0
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#awaited.clear()
  }

  #wait(due: number): void {
    clearTimeout(this.#timer)
    this.#due = due
    this.#timer = setTimeout(() => this.#look(), Math.max(1, due - elapsed()))
    // The connection keeps the process alive.
    this.#timer.unref()
  }

  #look(): void {
    const now = elapsed()
    const isBusy = now - this.#due > BUSY
    this.#due = Number.POSITIVE_INFINITY
    let first: Awaited | undefined
    let longest = 0
    for (const call of this.#awaited) {
      if (first === undefined || call.until < first.until) first = call
      // Replies come in order, so the other commands also wait for those that may take longer.
      if (call.isLong && call.until > longest) longest = call.until
    }
    if (first === undefined) return
    const due = Math.max(first.until, longest)
    if (due > now) this.#wait(due)
    // If the process itself was busy, it may not have sent the command, or not have read the reply.
    else if (isBusy && this.#graces++ < MAX_GRACES) this.#wait(now + GRACE)
    else this.#expire(first.deadline)
  }
}
