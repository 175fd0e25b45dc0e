import { clearTimeout, setTimeout } from './timers.ts'

/** Callers that wait for something, each until its own time limit. */
export class Waiters {
  readonly #waiting = new Set<() => void>()

  /** Resolves when `wake` comes, or after so many milliseconds. */
  wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        this.#waiting.delete(end)
        resolve()
      }
      const timer = setTimeout(end, milliseconds)
      this.#waiting.add(end)
    })
  }

  wake(): void {
    for (const end of [...this.#waiting]) end()
  }
}
