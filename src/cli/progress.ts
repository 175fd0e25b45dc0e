import { elapsed } from '../ground/clock.ts'
import { printable, shorten } from '../ground/show.ts'
import { clearTimeout, setTimeout } from '../ground/timers.ts'
import type { Terminal } from './terminal.ts'

/** The progress appears after this time, in milliseconds. */
const PATIENCE = 1_000
/** The shortest time between two updates of the line on a terminal, in milliseconds. */
const REFRESH = 100
/** The time between two lines where lines stay, such as in the log of a CI job, in milliseconds. */
const INTERVAL = 10_000
const CLEAR_LINE = '\r\u001b[K'

type ProgressScreen = Pick<Terminal, 'printError' | 'writeError' | 'screen'>

/**
 * Shows the progress of a command on standard error. A terminal has one line that changes; other outputs get a line
 * every ten seconds. Nothing is shown in the first second.
 */
export class Progress {
  readonly #terminal: ProgressScreen
  readonly #now: () => number
  #due: number
  #latest = ''
  #timer: NodeJS.Timeout | undefined
  /** Whether the terminal shows a line that must be cleared before other output. */
  #isShown = false

  /** `now` returns milliseconds. */
  constructor(terminal: ProgressScreen, now: () => number = elapsed) {
    this.#terminal = terminal
    this.#now = now
    this.#due = now() + PATIENCE
  }

  /** Sets the current step, such as `trial 3 of 12: success-status/1`. The caller may call it as often as it wants. */
  show(text: string): void {
    this.#latest = printable(text)
    const wait = this.#due - this.#now()
    if (wait <= 0) this.#draw()
    else if (this.#timer === undefined) {
      // The last text must appear even if no other text follows it.
      this.#timer = setTimeout(() => this.#draw(), wait).unref()
    }
  }

  /** Removes the line from the terminal. Nothing appears until the next `show`. */
  end(): void {
    this.#clear()
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#latest = ''
  }

  #draw(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { columns } = this.#terminal.screen
    if (columns === undefined) this.#terminal.printError(this.#latest)
    else {
      // A line that fills the last column would wrap, and the terminal would clear only its second part.
      this.#terminal.writeError(CLEAR_LINE + shorten(this.#latest, Math.max(1, columns - 1)))
      this.#isShown = true
    }
    this.#due = this.#now() + (columns === undefined ? INTERVAL : REFRESH)
  }

  #clear(): void {
    if (this.#isShown) this.#terminal.writeError(CLEAR_LINE)
    this.#isShown = false
  }
}
