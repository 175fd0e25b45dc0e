/** Runs at most `limit` tasks at the same time. The others wait, and start in the order of their arrival. */
export class Semaphore {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(limit: number) {
    this.#free = limit
  }

  async run<Result>(task: () => Promise<Result>): Promise<Result> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#free--
    try {
      return await task()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }
}
