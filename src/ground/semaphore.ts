/** Runs at most `limit` tasks at the same time. The others wait, and start in the order of their arrival. */
export class Semaphore {
  readonly #limit: number
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(limit: number) {
    this.#limit = limit
    this.#free = limit
  }

  run<Result>(task: () => Promise<Result>): Promise<Result> {
    return this.#run(1, task)
  }

  /** Runs a task while no other task runs. */
  runAlone<Result>(task: () => Promise<Result>): Promise<Result> {
    return this.#run(this.#limit, task)
  }

  async #run<Result>(places: number, task: () => Promise<Result>): Promise<Result> {
    await Promise.all(Array.from({ length: places }, () => this.#take()))
    try {
      return await task()
    } finally {
      for (let place = 0; place < places; place++) this.#give()
    }
  }

  async #take(): Promise<void> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#free--
  }

  #give(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}
