import type { Choices } from '../contract/choices.ts'
import { createRouter, type Route } from '../contract/router.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { type Json, mergePatch, valueAt } from '../ground/json.ts'
import { EVIDENCE_KEPT } from './choice-evidence.ts'
import { OF_LISTS } from './choice-lists.ts'
import { OF_RESPONSES, readStatus } from './choice-readings.ts'
import { OF_REQUESTS, openPartsOf } from './choice-requests.ts'
import { type ChoiceReading, OpenChoice, type ReadChoice, type SeenExchange } from './open-choice.ts'
import type { AskedRequest } from './request.ts'
import { resetOf, serviceTime } from './service-time.ts'
import type { Track } from './tracks.ts'

/** What takes long to read. Once it has shown the same often enough, it is read only now and then. */
const LONG: ReadonlySet<ReadChoice | undefined> = new Set([
  ...Object.values(OF_LISTS),
  ...[OF_RESPONSES['decimals'], OF_RESPONSES['percentages']],
])
const NOW_AND_THEN = 8

/** A choice, and one way to read it. */
interface Reader {
  choice: OpenChoice
  read: ReadChoice
  isLong: boolean
  /** What was shown last, how often in a row, and how often it was left out since then. */
  shown: string
  times: number
  left: number
}

/**
 * Reads from exchanges which choices a service has made, one choice at a time. What depends on two choices says nothing
 * of either.
 */
export class ChoiceReader {
  readonly #byPlace: ReadonlyMap<string, OpenChoice>
  readonly #ofAll: readonly Reader[]
  readonly #ofRequests: readonly Reader[]
  readonly #knows: (code: string) => boolean
  readonly #routeLeniently: (method: string, path: string) => Route
  readonly #refreshes: readonly string[]

  constructor({ contract, assumptions }: Choices) {
    const open = assumptions.filter(({ alternatives }) => alternatives.length > 0)
    const all = open.map(({ id, place, alternatives }) => {
      const own = valueAt(contract.document.source, place) as Json
      return new OpenChoice(id, place, [own, ...alternatives.map((patch) => mergePatch(own, patch) as Json)])
    })
    this.#byPlace = new Map(all.map((choice) => [choice.place, choice]))
    const readersIn = (table: Readonly<Record<string, ReadChoice>>) =>
      all.flatMap((choice): Reader[] => {
        const read = Object.hasOwn(table, choice.id) ? table[choice.id] : undefined
        return read ? [{ choice, read, isLong: LONG.has(read), shown: '', times: 0, left: 0 }] : []
      })
    this.#ofAll = [...readersIn(OF_RESPONSES), ...readersIn(OF_LISTS)]
    this.#ofRequests = readersIn(OF_REQUESTS)
    this.#knows = (code) => contract.catalogue.has(code)
    this.#routeLeniently = createRouter(contract, { ...contract.settings, pathMatching: 'lenient' })
    const { holders = [] } = all.find(({ id }) => id === 'refresh-time') ?? {}
    this.#refreshes = holders.map(({ value }) => String(value))
  }

  /** What an exchange shows. `track` is what is known of the account of its key. */
  read(reading: ReadExchange, asked: AskedRequest, track: Track): readonly ChoiceReading[] {
    const { outcome, failed, exchange, path, route, response } = reading
    if (failed !== undefined || outcome.kind === 'unreadable') return []
    const code = outcome.kind === 'refusal' ? outcome.code : undefined
    if (code === undefined ? response.status >= 300 : !this.#knows(code)) return []
    const seen: SeenExchange = {
      ...{ reading, asked, track, code, parts: NOTHING_OPEN },
      now: serviceTime(reading) ?? exchange.until,
      reset: resetOf(reading),
      lenient: route.ok ? route : this.#routeLeniently(exchange.request.method, path),
      refreshes: this.#refreshes,
    }
    const found: ChoiceReading[] = []
    const status = readStatus(seen, (place) => this.#byPlace.get(place))
    if (status !== undefined) found.push(status)
    for (const reader of this.#ofAll) take(reader, seen, found)
    if (!isRead(seen)) return found
    seen.parts = openPartsOf(asked)
    for (const reader of this.#ofRequests) take(reader, seen, found)
    return found
  }
}

const NOTHING_OPEN: ReadonlySet<string> = new Set()

/** Whether the service has looked at a body or a query, and what was there before it is known. */
function isRead({ reading: { operation, exchange }, asked, code }: SeenExchange): boolean {
  if (asked.form === undefined && !asked.hasUnknownParameter) return false
  const isAdmitted = operation !== undefined && code !== 'unauthorized' && code !== 'rate_limited'
  return isAdmitted && !exchange.overlaps && asked.body !== 'unknown'
}

function take(reader: Reader, seen: SeenExchange, found: ChoiceReading[]): void {
  if (reader.isLong && reader.times >= EVIDENCE_KEPT && ++reader.left % NOW_AND_THEN !== 0) return
  const permits = reader.read(seen, reader.choice)
  if (permits === undefined) return
  found.push({ id: reader.choice.id, permits })
  if (!reader.isLong) return
  const shown = permits.join()
  reader.times = permits.length === 1 && reader.shown === shown ? reader.times + 1 : 0
  reader.shown = shown
}
