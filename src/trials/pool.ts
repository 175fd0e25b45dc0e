import { setMaxListeners } from 'node:events'
import { Semaphore } from '../ground/semaphore.ts'

/** A piece of work, such as a trial. It ends soon after the signal is aborted. */
export type Task<Result> = (signal: AbortSignal) => Promise<Result>

/**
 * Runs tasks, at most `jobs` of them at the same time, in the order in which they are given. The first task that throws
 * ends the pool: the signal of the others is aborted, and no task is started any more. So does the signal that the pool is
 * given.
 */
export class Pool {
  readonly #room: Semaphore
  readonly #ending = new AbortController()
  /** What says that there is no more to do: a task that has thrown, or somebody outside. */
  readonly #signal: AbortSignal

  constructor(jobs: number, signal?: AbortSignal) {
    this.#room = new Semaphore(jobs)
    this.#signal = signal === undefined ? this.#ending.signal : AbortSignal.any([signal, this.#ending.signal])
    // Each task listens to it, and there may be many.
    setMaxListeners(0, this.#signal)
  }

  /**
   * The result of the task, once there was room for it.
   * @throws what the task throws; the reason why the pool has ended, where the task was not started
   */
  run<Result>(task: Task<Result>): Promise<Result> {
    return this.#room.run(async () => {
      this.#signal.throwIfAborted()
      try {
        return await task(this.#signal)
      } catch (error) {
        this.#ending.abort(error)
        throw error
      }
    })
  }

  /**
   * The results of all tasks, in the order of the tasks, however they ended.
   * @throws the reason why the pool has ended, such as the first error, once no task runs any more
   */
  async runAll<Result>(tasks: Iterable<Task<Result>>): Promise<Result[]> {
    const results = await Promise.allSettled(Array.from(tasks, (task) => this.run(task)))
    return results.map((result) => {
      if (result.status === 'fulfilled') return result.value
      throw this.#signal.reason
    })
  }
}
