import { clearTimeout, setTimeout } from './timers.ts'

/** Callers that wait for something, each until its own time limit. */
export class Waiters<Subject = void> {
  readonly #waiting = new Map<(isWoken: boolean) => void, Subject>()

  /** Resolves to whether `wake` came within so many milliseconds. */
  wait(milliseconds: number, subject: Subject): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isWoken: boolean) => {
        clearTimeout(timer)
        this.#waiting.delete(end)
        resolve(isWoken)
      }
      const timer = setTimeout(end, milliseconds, false)
      this.#waiting.set(end, subject)
    })
  }

  /** Ends the wait of all callers whose subject is due. */
  wake(isDue: (subject: Subject) => boolean = () => true): void {
    for (const [end, subject] of [...this.#waiting]) if (isDue(subject)) end(true)
  }
}
