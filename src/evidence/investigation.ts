import type { Choices } from '../contract/choices.ts'
import type { Exchange } from './exchange.ts'
import type { Finding } from './finding.ts'
import { type Observation, Observations } from './observation.ts'
import { createReader, type Reading } from './reading.ts'

export interface InvestigationOptions {
  choices: Choices
  /** Whether nobody else changes the account while it is looked at, so that what was once seen stays as it is. */
  isSoleWriter?: boolean
  /** Whether a domain or the name of a group is one that nobody else would use. */
  isOwnName?(name: string): boolean
}

/** What was found out so far. */
export interface Conclusion {
  /** All that were taken, and those of which the behaviour could be judged. */
  exchanges: number
  judged: number
  findings: readonly Finding[]
  /** How many findings there were of each id; only the first ones are listed. */
  counts: Readonly<Record<string, number>>
  observations: readonly Observation[]
  /** The texts of messages, by code or by `operationId` of a success. */
  messages: Readonly<Record<string, readonly string[]>>
}

/**
 * Judges exchanges with one service, in the order in which they were sent, and learns from each what the account holds.
 * All that judge exchanges ask it: there is no second judgement.
 */
export class Investigation {
  readonly #read: (exchange: Exchange) => Reading | undefined
  readonly #observations = new Observations()
  #exchanges = 0

  private constructor({ choices }: InvestigationOptions) {
    this.#read = createReader(choices.contract)
  }

  /** Compiles the contract under each alternative, which takes about a second. */
  static async begin(options: InvestigationOptions): Promise<Investigation> {
    return new Investigation(options)
  }

  /**
   * Judges the next exchange; resolves to its own findings. It works in short turns, so that a server beside it is never
   * kept waiting. Calls must not overlap.
   */
  async take(exchange: Exchange): Promise<readonly Finding[]> {
    this.#exchanges++
    this.#read(exchange)
    return []
  }

  /** What was found out so far; more can be taken afterwards. */
  conclude(): Conclusion {
    return {
      exchanges: this.#exchanges,
      judged: 0,
      findings: [],
      counts: {},
      observations: this.#observations.all,
      messages: {},
    }
  }
}
