import type { StoreConnection } from '../store/redis/connection.ts'

/** In milliseconds, how long to wait for the answers. A replica that was killed gives none. */
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
  /** Resolves when everything that this replica has taken by now is in the store. */
  flush(): Promise<void>
}

/**
 * Asks the other replicas to send what they have taken. Nobody who sends a request waits until the store has it, so that
 * is what somebody waits for who asks about requests.
 */
export class Roundup {
  readonly #options: RoundupOptions
  /** Who waits for how many answers, by question. */
  readonly #open = new Map<string, { missing: number; resolve(): void }>()
  #asked = 0

  constructor(options: RoundupOptions) {
    this.#options = options
  }

  /** Resolves when each of the others has sent what it had; after a while also when some have not answered. */
  async ask(): Promise<void> {
    const { replica, others } = this.#options
    const missing = others()
    if (missing <= 0) return
    const question = `${replica} ${++this.#asked}`
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer)
        this.#open.delete(question)
        resolve()
      }
      const timer = setTimeout(end, PATIENCE)
      this.#open.set(question, { missing, resolve: end })
      // Without the question, there are no answers.
      this.#say('question', question).catch(end)
    })
  }

  /** Takes what was said, also by this replica itself. */
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
      // Whoever has asked goes on after a while.
    }
  }

  #say(kind: 'question' | 'answer', text: string): Promise<unknown> {
    const { connection, key } = this.#options
    return connection.send(['XADD', key, 'MAXLEN', '~', `${KEPT}`, '*', kind, text])
  }
}
