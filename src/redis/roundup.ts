import { Waiters } from '../ground/waiters.ts'
import type { StoreConnection } from './connection.ts'

/** In milliseconds, how long to wait for the answers. A killed server gives none. */
const PATIENCE = 50

export interface RoundupOptions {
  connection: StoreConnection
  /** The beginning of all keys. */
  base: string
  /** Names this server. */
  server: string
  /** How many other servers there are, as far as is known. */
  others(): number
  /** Called with the number of servers that have not answered, if there are any. */
  missed(servers: number): void
  /** Resolves when the store has everything that this server has taken so far. */
  flush(): Promise<void>
}

/** Asks the other servers to send what they have taken, because clients do not wait until the store has it. */
export class Roundup {
  readonly #options: RoundupOptions
  /** The callers, by their question, with the number of missing answers. */
  readonly #waiters = new Waiters<{ question: string; missing: number }>()
  #asked = 0

  constructor(options: RoundupOptions) {
    this.#options = options
  }

  /**
   * Resolves when each of the other servers has sent its data, or after a time limit, to the time of the question, if it
   * was asked: later exchanges may still come.
   */
  async ask(): Promise<string | undefined> {
    const { connection, base, server, others, missed } = this.#options
    const missing = others()
    if (missing <= 0) return undefined
    const asked = { question: `${server} ${++this.#asked}`, missing }
    const answered = this.#waiters.wait(PATIENCE * connection.patience, asked)
    const time = connection.call('say', base, ['question', asked.question]).catch(() => {
      // Without the question, there are no answers.
      this.#waiters.wake((each) => each === asked)
      return undefined
    })
    if (!(await answered)) missed(asked.missing)
    return (await time) as string | undefined
  }

  /** Takes a question or an answer, also one of this server itself. */
  hear(fields: ReadonlyMap<string, string>): void {
    const question = fields.get('question')
    if (question !== undefined && question.split(' ')[0] !== this.#options.server) void this.#answer(question)
    const answer = fields.get('answer')
    this.#waiters.wake((asked) => asked.question === answer && --asked.missing === 0)
  }

  async #answer(question: string): Promise<void> {
    const { connection, base, flush } = this.#options
    try {
      await flush()
      await connection.call('say', base, ['answer', question])
    } catch {
      // The server that has asked goes on after the time limit.
    }
  }
}
