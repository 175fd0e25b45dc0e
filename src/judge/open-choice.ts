import { type Exchange, formOf } from '../exchanges/exchange.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import type { Json } from '../ground/json.ts'
import { digestOf } from '../ground/secrets.ts'
import type { QuotaFields } from './quota-fields.ts'
import type { AskedRequest } from './request.ts'
import type { Track } from './tracks.ts'

/** One exchange, with what is known of its account. */
export interface SeenExchange {
  reading: ReadExchange
  asked: AskedRequest
  /** What was believed before this exchange, and what followed of the exchanges until now. */
  track: Track
  /** The code of a refusal; `undefined` for a success. */
  code: string | undefined
  /** The id of the assumption that alone can be the reason of a refusal. */
  reason: string | undefined
  /** When the response was sent, in milliseconds on the clock of the service. */
  now: number
  quota: QuotaFields | undefined
  /** The times of day at which a service may refresh the figures. */
  refreshes: readonly string[]
}

/**
 * What an exchange shows of one choice: the value of the setting, the values that it may have, or a test of the object at
 * the place of the choice. It must be right whatever the other choices are.
 */
type Shown = string | readonly string[] | ((holder: Json) => boolean) | undefined
export type ReadChoice = (seen: SeenExchange) => Shown

/** How choices are read, by the ids of their assumptions: from any answer, from a success or a refusal, or of an operation. */
export type ChoiceTable = Readonly<Record<string, Readonly<Record<string, ReadChoice>>>>

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
  /** Whether the same request was also answered in a way that excludes these alternatives. */
  same_case?: true
}

/**
 * Whether a service may choose for each case by itself: the specification speaks of no status, and names a code for more
 * than one mistake. Only the same request with two answers contradicts itself.
 */
export function isOfEachCase(id: string): boolean {
  return id.startsWith('status-') || id === 'quota-headers' || id === 'path-matching'
}

/** How many cases of a choice are remembered. */
const CASES = 500

/** How many ids of exchanges are kept as evidence. */
export const EVIDENCE_KEPT = 5

/** An assumption with the values of our choice, number 0, and of its alternatives; and what exchanges show of it. */
export class OpenChoice {
  readonly id: string
  /** By number, the object at its place in the document. */
  readonly holders: readonly Json[]
  /** By a bit for each permitted number. */
  readonly observations = new Map<number, ChoiceObservation>()
  /** By case, what it has shown first. */
  readonly #cases = new Map<string, number>()

  constructor(id: string, holders: readonly Json[]) {
    this.id = id
    this.holders = holders
  }

  /** Notes what an exchange shows; nothing if all alternatives fit, or none. */
  note(shown: Shown, { id: exchange, request }: Exchange, code = ''): ChoiceObservation | undefined {
    if (shown === undefined) return undefined
    let bits = 0
    for (let number = 0; number < this.holders.length; number++) {
      if (fits(shown, this.holders[number] ?? {})) bits |= 1 << number
    }
    if (bits === 0 || bits === (1 << this.holders.length) - 1) return undefined
    let observation = this.observations.get(bits)
    if (observation === undefined) {
      const permits = [...this.holders.keys()].filter((number) => bits & (1 << number))
      observation = { id: this.id, permits, evidence: [], count: 0 }
      this.observations.set(bits, observation)
    }
    const { evidence } = observation
    if (evidence.length < EVIDENCE_KEPT && !evidence.includes(exchange)) evidence.push(exchange)
    observation.count++
    const name = isOfEachCase(this.id) ? nameCase(request, code) : undefined
    const other = name === undefined ? undefined : this.#compareCase(name, bits)
    if (other !== undefined) for (const each of [observation, other]) each.same_case = true
    return observation
  }

  /** The observation that the same case has shown before, if both cannot be true. */
  #compareCase(name: string, bits: number): ChoiceObservation | undefined {
    const before = this.#cases.get(name)
    if (before === undefined && this.#cases.size < CASES) this.#cases.set(name, bits)
    return before === undefined || (before & bits) !== 0 ? undefined : this.observations.get(before)
  }
}

/** A text that equal requests share if their answers have the same code; none if it is not known what was sent. */
function nameCase({ method, target, credentials, body }: Exchange['request'], code: string): string | undefined {
  if (!body.isKnown) return undefined
  return digestOf([code, formOf(credentials), method, target, body.text].join('\n'))
}

function fits(shown: Exclude<Shown, undefined>, holder: Json): boolean {
  if (typeof shown === 'function') return shown(holder)
  return typeof shown === 'string' ? holder['value'] === shown : shown.includes(holder['value'] as string)
}
