import type { JudgedDifference } from '../conformance/finding.ts'
import type { Exchange } from '../exchanges/exchange.ts'
import { Turns } from '../ground/turns.ts'
import type { ExchangeJudge } from './judge.ts'

export interface JudgingLimits {
  /** How many exchanges may wait. */
  exchanges: number
  /** How many bytes of bodies they may have. */
  bytes: number
}

export const JUDGING_LIMITS: JudgingLimits = { exchanges: 2_000, bytes: 64 << 20 }

/** Gives exchanges to the judge one after the other, and yields to other tasks in between. */
export class Judging {
  readonly #judge: Pick<ExchangeJudge, 'take' | 'forget'>
  readonly #found: (findings: readonly JudgedDifference[]) => void
  readonly #failed: (error: unknown) => void
  readonly #limits: JudgingLimits
  /** `undefined` stands for missing exchanges. */
  #waiting: (Exchange | undefined)[] = []
  #bytes = 0
  #working: Promise<void> | undefined
  /** How many exchanges came while too many waited. `failures` counts those that a bug kept from judgement. */
  skipped = 0
  failures = 0

  /** Calls `found` after each exchange, and `failed` if the judge has thrown an error, which is a bug. */
  constructor(
    judge: Pick<ExchangeJudge, 'take' | 'forget'>,
    found: (findings: readonly JudgedDifference[]) => void,
    failed: (error: unknown) => void,
    limits: Partial<JudgingLimits> = {},
  ) {
    this.#judge = judge
    this.#found = found
    this.#failed = failed
    this.#limits = { ...JUDGING_LIMITS, ...limits }
  }

  get waiting(): number {
    return this.#waiting.length
  }

  add(exchange: Exchange): void {
    const bytes = sizeOf(exchange)
    if (this.#waiting.length >= this.#limits.exchanges || this.#bytes + bytes > this.#limits.bytes) {
      this.skipped++
      this.forget()
      return
    }
    this.#bytes += bytes
    this.#waiting.push(exchange)
    this.#working ??= this.#work()
  }

  /** Exchanges before the next one are missing, so nothing is known of the account any more. */
  forget(): void {
    if (this.#waiting.length > 0 && this.#waiting.at(-1) === undefined) return
    this.#waiting.push(undefined)
    this.#working ??= this.#work()
  }

  /** Resolves when nothing waits any more, or the signal is aborted. Exchanges that still wait then are skipped. */
  async finish(signal?: AbortSignal): Promise<void> {
    const skip = () => {
      this.skipped += this.#waiting.filter((each) => each !== undefined).length
      this.#waiting = []
    }
    if (signal?.aborted) skip()
    else signal?.addEventListener('abort', skip)
    while (this.#working !== undefined) await this.#working
  }

  async #work(): Promise<void> {
    const turns = new Turns()
    // The traffic has its turn before each exchange, including the first.
    await turns.next()
    while (this.#waiting.length > 0) {
      const exchange = this.#waiting.shift()
      if (exchange === undefined) this.#judge.forget()
      else await this.#take(exchange)
      await turns.next()
    }
    this.#working = undefined
  }

  async #take(exchange: Exchange): Promise<void> {
    this.#bytes -= sizeOf(exchange)
    try {
      this.#found(await this.#judge.take(exchange))
    } catch (error) {
      this.failures++
      this.#judge.forget()
      this.#failed(error)
    }
  }
}

function sizeOf({ request, response }: Exchange): number {
  const sent = request.body.isKnown ? request.body.bytes.length : 0
  const received = response?.body.isKnown ? response.body.bytes.length : 0
  return sent + received
}
