import type { ReadExchange } from '../exchanges/reading.ts'
import type { Json } from '../ground/json.ts'
import type { QuotaFields } from './quota-fields.ts'
import type { AskedRequest } from './request.ts'
import type { Track } from './tracks.ts'

/** One exchange, with what is known of its account. */
export interface SeenExchange {
  reading: ReadExchange
  asked: AskedRequest
  /** What was believed before this exchange, and what followed of the exchanges until now. */
  track: Track
  /** What is open about the request, as `openPartsOf` names it. */
  parts: ReadonlySet<string>
  /** The code of a refusal; `undefined` for a success. */
  code: string | undefined
  /** When the response was sent, in milliseconds on the clock of the service. */
  now: number
  quota: QuotaFields | undefined
  /** The times of day at which a service may refresh the figures. */
  refreshes: readonly string[]
}

/** What exchanges show about one choice of a service: it behaves like one of these alternatives. */
export interface ChoiceObservation {
  /** The id of the assumption. */
  id: string
  /** The numbers of the alternatives that are possible, in ascending order. 0 is our choice. */
  permits: readonly number[]
  /** The ids of the first exchanges that show it. */
  evidence: string[]
  /** How many exchanges show it. */
  count: number
}

/** How many ids of exchanges are kept as evidence. */
export const EVIDENCE_KEPT = 5

/** An assumption with the values of our choice, number 0, and of its alternatives; and what exchanges show of it. */
export class OpenChoice {
  readonly id: string
  /** By number, the object at its place in the document. */
  readonly holders: readonly Json[]
  /** By a bit for each permitted number. */
  readonly #observations = new Map<number, ChoiceObservation>()

  constructor(id: string, holders: readonly Json[]) {
    this.id = id
    this.holders = holders
  }

  /** What was noted. */
  get observations(): readonly ChoiceObservation[] {
    return [...this.#observations.values()].filter(({ count }) => count > 0)
  }

  /** That the service has chosen one of those that fit; `undefined` if all of them do, or none. */
  those(fits: (holder: Json) => boolean): ChoiceObservation | undefined {
    let bits = 0
    for (let number = 0; number < this.holders.length; number++) {
      if (fits(this.holders[number] ?? {})) bits |= 1 << number
    }
    if (bits === 0 || bits === (1 << this.holders.length) - 1) return undefined
    const known = this.#observations.get(bits)
    if (known !== undefined) return known
    const permits = [...this.holders.keys()].filter((number) => bits & (1 << number))
    const observation = { id: this.id, permits, evidence: [], count: 0 }
    this.#observations.set(bits, observation)
    return observation
  }

  /** That a setting has one of these values. */
  of(...values: readonly string[]): ChoiceObservation | undefined {
    return this.those(({ value }) => values.includes(value as string))
  }

  /** That a setting has any other value. */
  except(value: string): ChoiceObservation | undefined {
    return this.those((holder) => holder['value'] !== value)
  }
}

/** Notes that an exchange shows it. */
export function noteObservation(observation: ChoiceObservation, exchange: string): void {
  observation.count++
  const { evidence } = observation
  if (evidence.length < EVIDENCE_KEPT && !evidence.includes(exchange)) evidence.push(exchange)
}

/** What an exchange shows of one choice; `undefined` for nothing. It must be right whatever the other choices are. */
type ReadChoice = (seen: SeenExchange, choice: OpenChoice) => ChoiceObservation | undefined

/** How a choice is read, and from what. */
export interface ChoiceRow {
  read: ReadChoice
  /** The operations that show it; by default, all of them show it, and paths that are none. */
  of?: readonly string[]
  on?: 'success' | 'refusal'
}
export type ChoiceRows = Readonly<Record<string, ChoiceRow>>
