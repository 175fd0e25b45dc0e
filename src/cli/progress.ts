import { elapsed } from '../ground/clock.ts'
import { printable, shorten } from '../ground/show.ts'
import type { Terminal } from './terminal.ts'

/** What takes less time than this needs no progress. In milliseconds. */
const PATIENCE = 1_000
/** How often a line on a terminal changes at most. In milliseconds. */
const REFRESH = 100
/** How often a line is printed where each line stays, as in the log of a CI job. In milliseconds. */
const INTERVAL = 10_000
const CLEAR_LINE = '\r\u001b[K'

type Screen = Pick<Terminal, 'printError' | 'writeError' | 'screen'>

/**
 * Shows on standard error how far a command has come: on a terminal one line that changes, elsewhere a line every ten
 * seconds. What ends within a second shows nothing.
 */
export class Progress {
  readonly #terminal: Screen
  readonly #now: () => number
  #due: number
  #latest = ''
  #timer: NodeJS.Timeout | undefined
  /** Whether a line stands on the terminal that must be cleared before something else is written. */
  #isShown = false

  /** `now` counts milliseconds. */
  constructor(terminal: Screen, now: () => number = elapsed) {
    this.#terminal = terminal
    this.#now = now
    this.#due = now() + PATIENCE
  }

  /** Says what is being done, such as `trial 3 of 12: success-status/1`. It may be called as often as one likes. */
  show(text: string): void {
    this.#latest = printable(text)
    const wait = this.#due - this.#now()
    if (wait <= 0) this.#draw()
    else if (this.#timer === undefined) {
      // The last thing that was said is shown, also when nothing is said after it.
      this.#timer = setTimeout(() => this.#draw(), wait).unref()
    }
  }

  /** Prints a line that stays, above that of the progress. */
  print(line: string): void {
    this.#clear()
    this.#terminal.printError(line)
    if (this.#latest !== '') this.show(this.#latest)
  }

  /** Removes the line from the terminal. Nothing is shown any more until something is said again. */
  end(): void {
    this.#clear()
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#latest = ''
  }

  #draw(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { size } = this.#terminal.screen
    if (size === undefined) this.#terminal.printError(this.#latest)
    else {
      // A line that fills the last column would be broken, and only its end cleared.
      this.#terminal.writeError(CLEAR_LINE + shorten(this.#latest, Math.max(1, size.columns - 1)))
      this.#isShown = true
    }
    this.#due = this.#now() + (size === undefined ? INTERVAL : REFRESH)
  }

  #clear(): void {
    if (this.#isShown) this.#terminal.writeError(CLEAR_LINE)
    this.#isShown = false
  }
}
