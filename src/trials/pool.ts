import { setMaxListeners } from 'node:events'
import { Semaphore } from '../ground/semaphore.ts'

/** A piece of work, such as a trial. It ends soon after an abort of the signal. */
export type Task<Result> = (signal: AbortSignal) => Promise<Result>

/**
 * Runs tasks in the given order, at most `jobs` at the same time. The pool ends when a task throws, or when its signal
 * is aborted. Then the signal of the other tasks is aborted, and no more tasks start.
 */
export class Pool {
  readonly #room: Semaphore
  readonly #ending = new AbortController()
  /** Aborted when a task has thrown, or by the caller. */
  readonly #signal: AbortSignal

  constructor(jobs: number, signal?: AbortSignal) {
    this.#room = new Semaphore(jobs)
    this.#signal = signal === undefined ? this.#ending.signal : AbortSignal.any([signal, this.#ending.signal])
    // Each of the tasks adds a listener, and there may be many.
    setMaxListeners(0, this.#signal)
  }

  /**
   * The result of the task, which starts when there is room for it.
   * @throws the error of the task, or the reason why the pool has ended if the task was not started
   */
  run<Result>(task: Task<Result>): Promise<Result> {
    return this.#room.run(() => this.#start(task))
  }

  /** Like `run`, but no other task runs at the same time. */
  runAlone<Result>(task: Task<Result>): Promise<Result> {
    return this.#room.runAlone(() => this.#start(task))
  }

  /**
   * The results of all tasks in the order of the tasks.
   * @throws the reason why the pool has ended, such as the first error, after all running tasks have ended
   */
  async runAll<Result>(tasks: Iterable<Task<Result>>): Promise<Result[]> {
    const results = await Promise.allSettled(Array.from(tasks, (task) => this.run(task)))
    return results.map((result) => {
      if (result.status === 'fulfilled') return result.value
      throw this.#signal.reason
    })
  }

  async #start<Result>(task: Task<Result>): Promise<Result> {
    this.#signal.throwIfAborted()
    try {
      return await task(this.#signal)
    } catch (error) {
      this.#ending.abort(error)
      throw error
    }
  }
}
