import { printable, shorten } from '../ground/show.ts'
import { clearTimeout, elapsed, setTimeout } from '../ground/timers.ts'
import type { Terminal } from './terminal.ts'

/** The progress appears after this time, in milliseconds. */
const PATIENCE = 1_000
/** The shortest time between two updates of the line on a terminal, in milliseconds. */
const REFRESH = 100
/** The time between two lines where lines stay, such as in the log of a CI job, in milliseconds. */
const INTERVAL = 10_000
const CLEAR_LINE = '\r\u001b[K'

/**
 * Shows the progress of a command on standard error. A terminal has one line that changes; other outputs get a line
 * every ten seconds. Nothing is shown in the first second.
 */
export class Progress {
  readonly #terminal: Pick<Terminal, 'writeError' | 'screen'>
  #latest: string | undefined
  #timer: NodeJS.Timeout | undefined
  #due = 0
  /** Whether the terminal shows a line that must be cleared before other output. */
  #isShown = false

  constructor(terminal: Pick<Terminal, 'writeError' | 'screen'>) {
    this.#terminal = terminal
    this.#wait(PATIENCE)
  }

  /** Sets the current step, such as `trial 3 of 12: success-status/1`. The caller may call it as often as it wants. */
  show(text: string): void {
    this.#latest = printable(text)
    // No timer goes off while the command computes.
    if (this.#timer === undefined || elapsed() >= this.#due) this.#draw()
  }

  /** Removes the line from the terminal. Nothing appears until the next `show`. */
  end(): void {
    if (this.#isShown) this.#terminal.writeError(CLEAR_LINE)
    this.#isShown = false
    this.#latest = undefined
  }

  #wait(milliseconds: number): void {
    this.#due = elapsed() + milliseconds
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (this.#latest !== undefined) this.#draw()
    }, milliseconds).unref()
  }

  #draw(): void {
    const { columns } = this.#terminal.screen
    const text = this.#latest ?? ''
    // A line that fills the last column would wrap, and the terminal would clear only its second part.
    const line = columns === undefined ? `${text}\n` : CLEAR_LINE + shorten(text, Math.max(1, columns - 1))
    this.#terminal.writeError(line)
    this.#isShown = columns !== undefined
    this.#latest = undefined
    clearTimeout(this.#timer)
    this.#wait(columns === undefined ? INTERVAL : REFRESH)
  }
}
