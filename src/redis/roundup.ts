import { Waiters } from '../ground/waiters.ts'
import type { StoreConnection } from './connection.ts'

/** In milliseconds, how long to wait for the answers. A killed replica gives none. */
export const PATIENCE = 50
/** About how many questions and answers the store keeps. */
const KEPT = 1_000

export interface RoundupOptions {
  connection: StoreConnection
  /** The stream of questions and answers. */
  key: string
  /** Names this replica. */
  replica: string
  /** How many other replicas there are, as far as is known. */
  others(): number
  /** Called with the number of replicas that have not answered, if there are any. */
  missed(replicas: number): void
  /** Resolves when the store has everything that this replica has taken so far. */
  flush(): Promise<void>
}

/** Asks the other replicas to send what they have taken, because clients do not wait until the store has it. */
export class Roundup {
  readonly #options: RoundupOptions
  /** The callers, by their question, with the number of missing answers. */
  readonly #waiters = new Waiters<{ question: string; missing: number }>()
  #asked = 0

  constructor(options: RoundupOptions) {
    this.#options = options
  }

  /** Resolves when each of the other replicas has sent its data, or after a time limit. */
  async ask(): Promise<void> {
    const { connection, replica, others, missed } = this.#options
    const missing = others()
    if (missing <= 0) return
    const asked = { question: `${replica} ${++this.#asked}`, missing }
    const answered = this.#waiters.wait(PATIENCE * connection.patience, asked)
    // Without the question, there are no answers.
    this.#say('question', asked.question).catch(() => this.#waiters.wake((each) => each === asked))
    if (!(await answered)) missed(asked.missing)
  }

  /** Takes a question or an answer, also one of this replica itself. */
  hear(fields: ReadonlyMap<string, string>): void {
    const question = fields.get('question')
    if (question !== undefined && question.split(' ')[0] !== this.#options.replica) void this.#answer(question)
    const answer = fields.get('answer')
    this.#waiters.wake((asked) => asked.question === answer && --asked.missing === 0)
  }

  async #answer(question: string): Promise<void> {
    try {
      await this.#options.flush()
      await this.#say('answer', question)
    } catch {
      // The replica that has asked goes on after the time limit.
    }
  }

  #say(kind: 'question' | 'answer', text: string): Promise<unknown> {
    const { connection, key } = this.#options
    return connection.send(['XADD', key, 'MAXLEN', '~', `${KEPT}`, '*', kind, text])
  }
}
