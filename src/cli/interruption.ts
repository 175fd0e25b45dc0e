import type { StopSignal, Terminal } from './terminal.ts'

type Listener = (signal: StopSignal) => void

/** Says why nothing more is done: a signal told the program to stop. */
export class Interrupted extends Error {
  override name = 'Interrupted'
  readonly by: StopSignal

  constructor(by: StopSignal) {
    super(`stopped by ${by}`)
    this.by = by
  }
}

/**
 * Signals while a program runs commands of the user's. A command gets them; the program goes on, and ends what it has
 * begun. Where no command runs, the first signal aborts `signal`, and the next one ends the program at once.
 */
export class Interruption {
  readonly #controller = new AbortController()
  readonly #commands = new Set<Listener>()
  readonly #isOver: boolean
  readonly #stopListening: () => void

  /**
   * `isOver` says whether a signal that a command gets ends everything, as where it is one command of many. Otherwise the
   * command decides what the signal means.
   */
  constructor(terminal: Terminal, { isOver }: { isOver: boolean }) {
    this.#isOver = isOver
    this.#stopListening = terminal.onSignal((signal) => this.receive(signal))
  }

  /** Its reason is `Interrupted`. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** For `runCommand`. */
  readonly onSignal = (listener: Listener): (() => void) => {
    this.#commands.add(listener)
    return () => void this.#commands.delete(listener)
  }

  receive(signal: StopSignal): void {
    const commands = [...this.#commands]
    for (const listener of commands) listener(signal)
    if (commands.length > 0 && !this.#isOver) return
    if (commands.length === 0 && this.signal.aborted) this.#endAtOnce(signal)
    this.#controller.abort(new Interrupted(signal))
  }

  /** From now on, a signal does what it does in any program. */
  release(): void {
    this.#stopListening()
  }

  #endAtOnce(signal: StopSignal): void {
    this.release()
    process.kill(process.pid, signal)
  }
}
