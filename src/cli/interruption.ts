import type { StopSignal, Terminal } from './terminal.ts'

type Listener = (signal: StopSignal) => void

/** The reason of an abort: a signal told the program to stop. */
export class Interrupted extends Error {
  override name = 'Interrupted'
  readonly by: StopSignal

  constructor(by: StopSignal) {
    super(`stopped by ${by}`)
    this.by = by
  }
}

/**
 * Handles signals while a program runs commands of the user. A running command gets each signal, and the program
 * finishes its work. If no command runs, the first signal aborts `signal`, and the second one ends the program at once.
 */
export class Interruption {
  readonly #controller = new AbortController()
  readonly #commands = new Set<Listener>()
  readonly #isOver: boolean
  readonly #stopListening: () => void

  /**
   * `isOver`: whether a signal to a command ends the whole program, for example if the command is one of many. If not,
   * the command decides what the signal means.
   */
  constructor(terminal: Terminal, { isOver }: { isOver: boolean }) {
    this.#isOver = isOver
    this.#stopListening = terminal.onSignal((signal) => this.receive(signal))
  }

  /** The reason of its abort is an `Interrupted`. */
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

  /** Restores the default effect of signals. */
  release(): void {
    this.#stopListening()
  }

  #endAtOnce(signal: StopSignal): void {
    this.release()
    process.kill(process.pid, signal)
  }
}
