import type { Route } from '../contract/router.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import type { Json } from '../ground/json.ts'
import type { AskedRequest } from './request.ts'
import type { ToldReset } from './service-time.ts'
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
  reset: ToldReset | undefined
  /** The route if paths are matched leniently. */
  lenient: Route
  /** The times of day at which a service may refresh the figures. */
  refreshes: readonly string[]
}

/** An assumption with the values of our choice, number 0, and of its alternatives. */
export class OpenChoice {
  readonly id: string
  readonly place: string
  /** By number, the object at its place in the document. */
  readonly holders: readonly Json[]
  readonly #byValues = new Map<string, readonly number[] | undefined>()
  /** Each list of numbers that was a result, by a bit for each number: so equal results are one object. */
  readonly #known = new Map<number, readonly number[]>()

  constructor(id: string, place: string, holders: readonly Json[]) {
    this.id = id
    this.place = place
    this.holders = holders
  }

  /** The numbers that fit; `undefined` if all of them do, or none. */
  those(fits: (holder: Json) => boolean): readonly number[] | undefined {
    let bits = 0
    for (let number = 0; number < this.holders.length; number++) {
      if (fits(this.holders[number] ?? {})) bits |= 1 << number
    }
    if (bits === 0 || bits === (1 << this.holders.length) - 1) return undefined
    const numbers = this.#known.get(bits) ?? [...this.holders.keys()].filter((number) => bits & (1 << number))
    this.#known.set(bits, numbers)
    return numbers
  }

  /** The numbers of a setting with one of these values. */
  of(...values: readonly string[]): readonly number[] | undefined {
    const key = values.join()
    if (!this.#byValues.has(key)) {
      const numbers = this.those(({ value }) => values.includes(value as string))
      this.#byValues.set(key, numbers)
    }
    return this.#byValues.get(key)
  }

  /** The numbers of a setting with any other value. */
  except(value: string): readonly number[] | undefined {
    return this.those((holder) => holder['value'] !== value)
  }
}

/** What an exchange shows of one choice: the service behaves like one of these. */
export interface ChoiceReading {
  id: string
  permits: readonly number[]
}

/**
 * What an exchange shows of one choice: the numbers with which a service may have answered so, or `undefined` for
 * nothing. It must be right whatever the other choices are.
 */
export type ReadChoice = (seen: SeenExchange, choice: OpenChoice) => readonly number[] | undefined
