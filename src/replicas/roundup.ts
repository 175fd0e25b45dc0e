import type { StoreConnection } from '../store/redis/connection.ts'

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

/**
 * Asks the other replicas to send what they have taken. A client does not wait until the store has its request. So a
 * caller that reads about requests has to wait for this.
 */
export class Roundup {
  readonly #options: RoundupOptions
  /** The callers and the number of missing answers, by question. */
  readonly #open = new Map<string, { missing: number; resolve(): void }>()
  #asked = 0

  constructor(options: RoundupOptions) {
    this.#options = options
  }

  /** Resolves when each of the other replicas has sent its data, or after a time limit. */
  async ask(): Promise<void> {
    const { connection, replica, others, missed } = this.#options
    const missing = others()
    if (missing <= 0) return
    const question = `${replica} ${++this.#asked}`
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer)
        this.#open.delete(question)
        resolve()
      }
      const waiting = { missing, resolve: end }
      const giveUp = () => {
        missed(waiting.missing)
        end()
      }
      const timer = setTimeout(giveUp, PATIENCE * connection.patience)
      this.#open.set(question, waiting)
      // Without the question, there are no answers.
      this.#say('question', question).catch(end)
    })
  }

  /** Takes a question or an answer, also one of this replica itself. */
  hear(fields: ReadonlyMap<string, string>): void {
    const question = fields.get('question')
    if (question !== undefined && question.split(' ')[0] !== this.#options.replica) void this.#answer(question)
    const answered = this.#open.get(fields.get('answer') ?? '')
    if (answered !== undefined && --answered.missing === 0) answered.resolve()
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
