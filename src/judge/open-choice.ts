import type { ReadExchange } from '../exchanges/reading.ts'
import type { Json } from '../ground/json.ts'
import type { Route } from '../http/router.ts'
import type { Belief } from './belief.ts'
import type { AskedRequest } from './request.ts'
import type { ToldReset } from './service-time.ts'

/** One exchange, with what was believed of the account before it. */
export interface SeenExchange {
  reading: ReadExchange
  asked: AskedRequest
  belief: Belief
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

  constructor(id: string, place: string, holders: readonly Json[]) {
    this.id = id
    this.place = place
    this.holders = holders
  }

  /** The numbers that fit; `undefined` if all of them do, or none. */
  those(fits: (holder: Json, number: number) => boolean): readonly number[] | undefined {
    const numbers = [...this.holders.keys()].filter((number) => fits(this.holders[number] ?? {}, number))
    return numbers.length === 0 || numbers.length === this.holders.length ? undefined : numbers
  }

  /** The numbers of a setting with one of these values. */
  of(...values: readonly string[]): readonly number[] | undefined {
    const key = values.join()
    if (!this.#byValues.has(key))
      this.#byValues.set(
        key,
        this.those(({ value }) => values.includes(value as string)),
      )
    return this.#byValues.get(key)
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
