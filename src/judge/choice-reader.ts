import type { Choices } from '../contract/choices.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { type Json, mergePatch, valueAt } from '../ground/json.ts'
import { createRouter, type Route } from '../http/router.ts'
import type { Belief } from './belief.ts'
import { EVIDENCE_KEPT } from './choice-evidence.ts'
import { ChoiceExperiments } from './choice-experiments.ts'
import { READINGS, readingsFor, readStatus } from './choice-readings.ts'
import { ChoiceTrack } from './choice-tracks.ts'
import { type ChoiceReading, OpenChoice, type SeenExchange } from './open-choice.ts'
import type { AskedRequest } from './request.ts'
import { resetOf, serviceTime } from './service-time.ts'

/** What takes long to read, in long lists. It is read until it has shown the same often enough. */
const LONG: ReadonlySet<string> = new Set([
  ...[
    'domain-order',
    'record-order',
    'group-order',
    'canonical-form',
    'unprocessed-domains',
    'decimals',
    'percentages',
  ],
])

/**
 * Reads from exchanges which choices a service has made, one choice at a time. What depends on two choices says nothing
 * of either.
 */
export class ChoiceReader {
  readonly #choices: ReadonlyMap<string, OpenChoice>
  readonly #byPlace: ReadonlyMap<string, OpenChoice>
  readonly #experiments: ChoiceExperiments
  readonly #knows: (code: string) => boolean
  readonly #routeLeniently: (method: string, path: string) => Route
  readonly #refreshes: readonly string[]
  readonly #isSoleWriter: boolean
  /** By the key's belief, which lives as long as its account is followed. */
  readonly #tracks = new WeakMap<Belief, ChoiceTrack>()
  /** By choice: what was shown last, and how often in a row. */
  readonly #shown = new Map<string, { permits: string; times: number }>()

  constructor(choices: Choices, isSoleWriter = false) {
    const { contract, assumptions } = choices
    const open = assumptions.filter(({ alternatives }) => alternatives.length > 0)
    const all = open.map(({ id, place, alternatives }) => {
      const own = valueAt(contract.document.source, place) as Json
      return new OpenChoice(id, place, [own, ...alternatives.map((patch) => mergePatch(own, patch) as Json)])
    })
    this.#choices = new Map(all.map((choice) => [choice.id, choice]))
    this.#byPlace = new Map(all.map((choice) => [choice.place, choice]))
    this.#experiments = new ChoiceExperiments(choices)
    this.#knows = (code) => contract.catalogue.has(code)
    this.#routeLeniently = createRouter(contract, { ...contract.settings, pathMatching: 'lenient' })
    this.#refreshes = (this.#choices.get('refresh-time')?.holders ?? []).map(({ value }) => String(value))
    this.#isSoleWriter = isSoleWriter
  }

  /** What an exchange shows. `belief` is what was believed of the account of its key before it. */
  read(reading: ReadExchange, asked: AskedRequest, belief: Belief): readonly ChoiceReading[] {
    const { outcome, failed, exchange, path } = reading
    if (failed !== undefined || outcome.kind === 'unreadable') return []
    if (outcome.kind === 'refusal' ? !this.#knows(outcome.code) : reading.response.status >= 300) return []
    const now = serviceTime(reading) ?? exchange.until
    const lenient = reading.route.ok ? reading.route : this.#routeLeniently(exchange.request.method, path)
    const reset = resetOf(reading)
    const seen: SeenExchange = { reading, asked, belief, now, reset, lenient, refreshes: this.#refreshes }
    const found: ChoiceReading[] = []
    const status = readStatus(seen, (place) => this.#byPlace.get(place))
    if (status !== undefined) found.push(status)
    for (const id of readingsFor(reading)) {
      const choice = this.#choices.get(id)
      if (choice === undefined || (LONG.has(id) && this.#isSettled(id))) continue
      const permits = READINGS[id]?.(seen, choice)
      if (permits !== undefined) found.push({ id, permits })
    }
    found.push(...this.#trackOf(belief).take(seen))
    const experiment = this.#experiments.try(seen)
    if (experiment !== undefined) found.push(experiment)
    for (const { id, permits } of found) this.#note(id, permits)
    return found
  }

  #trackOf(belief: Belief): ChoiceTrack {
    const known = this.#tracks.get(belief) ?? new ChoiceTrack(this.#choices, this.#isSoleWriter)
    this.#tracks.set(belief, known)
    return known
  }

  #note(id: string, permits: readonly number[]): void {
    const text = permits.join()
    const known = this.#shown.get(id)
    this.#shown.set(id, { permits: text, times: known?.permits === text ? known.times + 1 : 1 })
  }

  #isSettled(id: string): boolean {
    const { permits = '', times = 0 } = this.#shown.get(id) ?? {}
    return times >= EVIDENCE_KEPT && !permits.includes(',')
  }
}
