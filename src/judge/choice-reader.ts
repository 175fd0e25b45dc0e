import { pointerOf } from '../contract/api.ts'
import type { Choices } from '../contract/choices.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { isObject, type Json, mergePatch, valueAt } from '../ground/json.ts'
import { IN_LISTS } from './choices-in-lists.ts'
import { IN_REQUESTS, openPartsOf } from './choices-in-requests.ts'
import { IN_RESPONSES, isFoundLeniently } from './choices-in-responses.ts'
import { isKeyless, isOfGate, isRefusedUnread } from './gate.ts'
import {
  type ChoiceObservation,
  type ChoiceRows,
  EVIDENCE_KEPT,
  OpenChoice,
  type ReadChoice,
  type SeenExchange,
} from './open-choice.ts'
import type { QuotaFields } from './quota-fields.ts'
import type { AskedRequest } from './request.ts'
import type { Track } from './tracks.ts'

const NOW_AND_THEN = 8
/** Where openapi.yaml has the statuses of codes. */
const ERRORS = '/x-errors'

/** A choice, and the way to read it. */
interface Reader {
  choice: OpenChoice
  read: ReadChoice
  isLong: boolean
  /** What was shown last, how often in a row, and how often it was left out since then. */
  shown: ChoiceObservation | undefined
  times: number
  left: number
}

/** What an exchange can show: in the answer, and by whether the request was accepted. */
interface Selection {
  inAnswer: readonly Reader[]
  inRequest: readonly Reader[]
}

/**
 * Reads from exchanges which choices a service has made, one choice at a time. What depends on two choices says nothing
 * of either.
 */
export class ChoiceReader {
  readonly #choices = new Map<string, OpenChoice>()
  readonly #byPlace = new Map<string, OpenChoice>()
  readonly #knows: (code: string) => boolean
  readonly #refreshes: readonly string[]
  readonly #select: (reading: ReadExchange, isSuccess: boolean) => Selection

  constructor({ contract, assumptions }: Choices) {
    for (const { id, place, alternatives } of assumptions) {
      if (alternatives.length === 0) continue
      const own = valueAt(contract.document.source, place) as Json
      const choice = new OpenChoice(id, [own, ...alternatives.map((patch) => mergePatch(own, patch) as Json)])
      this.#choices.set(id, choice)
      this.#byPlace.set(place, choice)
    }
    this.#knows = (code) => contract.catalogue.has(code)
    this.#refreshes = (this.#choices.get('refresh-time')?.holders ?? []).map(({ value }) => String(value))
    this.#select = createSelection(this.#choices)
  }

  /** What was noted of all choices. */
  get observations(): readonly ChoiceObservation[] {
    return [...this.#choices.values()].flatMap(({ observations }) => observations)
  }

  /** What an exchange shows. `track` is what is known of the account of its key. */
  read(
    reading: ReadExchange,
    asked: AskedRequest,
    quota: QuotaFields | undefined,
    track: Track,
  ): readonly ChoiceObservation[] {
    const { outcome, failed, exchange, response, sentAt } = reading
    if (failed !== undefined || outcome.kind === 'unreadable') return []
    const code = outcome.kind === 'refusal' ? outcome.code : undefined
    if (code === undefined ? response.status >= 300 : !this.#knows(code)) return []
    const now = sentAt ?? exchange.until
    const seen: SeenExchange = {
      reading,
      asked,
      track,
      code,
      parts: NOTHING_OPEN,
      now,
      quota,
      refreshes: this.#refreshes,
    }
    const found: ChoiceObservation[] = []
    const status = this.#readStatus(seen)
    if (status !== undefined) found.push(status)
    const { inAnswer, inRequest } = this.#select(reading, code === undefined)
    for (const reader of inAnswer) take(reader, seen, found)
    if (!isRead(seen)) return found
    seen.parts = openPartsOf(asked)
    for (const reader of inRequest) take(reader, seen, found)
    return found
  }

  /** What the status of a response shows. */
  #readStatus({ reading, code }: SeenExchange): ChoiceObservation | undefined {
    const { operation, route, lenient, response, exchange } = reading
    const { status } = response
    const read = (place: string, fits: (holder: Json) => boolean) => this.#byPlace.get(place)?.those(fits)
    if (code === undefined) {
      const hasStatus = ({ responses }: Json) => isObject(responses) && isObject(responses[status])
      return operation && read(pointerOf(operation), hasStatus)
    }
    if (isRefusedUnread(reading)) return undefined
    const reason = route.ok ? undefined : route.problems[0].reason
    // The paths that a service knows are another choice.
    if (reason !== undefined && code !== 'unauthorized' && isFoundLeniently(route, lenient)) return undefined
    // A key may be refused for its plan, which has a status of its own.
    if (code === 'unauthorized' && !isKeyless(exchange)) return undefined
    const isOutside = reason !== undefined && !isOfGate(code)
    return read(isOutside ? `${ERRORS}/not_found/reasons/${reason}` : `${ERRORS}/${code}`, (holder) => {
      return holder['status'] === status && (!isOutside || (holder['code'] ?? 'not_found') === code)
    })
  }
}

const NOTHING_OPEN: ReadonlySet<string> = new Set()

/** Creates the function that finds what such an exchange can show, by the place where it shows. */
function createSelection(choices: ReadonlyMap<string, OpenChoice>) {
  const readers = new Map<ReadChoice, Reader>()
  const selections = [new Map<string, Selection>(), new Map<string, Selection>()] as const

  function select(rows: ChoiceRows, operation: string, isSuccess: boolean): readonly Reader[] {
    return Object.entries(rows).flatMap(([id, { read, of, on, isLong = false }]) => {
      const choice = choices.get(id)
      const isOther = on !== undefined && (on === 'success') !== isSuccess
      if (choice === undefined || isOther || of?.includes(operation) === false) return []
      const reader = readers.get(read) ?? { choice, read, isLong, shown: undefined, times: 0, left: 0 }
      readers.set(read, reader)
      return [reader]
    })
  }

  return ({ lenient }: ReadExchange, isSuccess: boolean): Selection => {
    const operation = lenient.ok ? lenient.operation.id : ''
    const known = selections[isSuccess ? 0 : 1]
    const selection = known.get(operation) ?? {
      inAnswer: [IN_RESPONSES, IN_LISTS].flatMap((rows) => select(rows, operation, isSuccess)),
      inRequest: select(IN_REQUESTS, operation, isSuccess),
    }
    known.set(operation, selection)
    return selection
  }
}

/** Whether the service has looked at a body or a query, and what was there before it is known. */
function isRead({ reading: { operation, exchange }, asked, code }: SeenExchange): boolean {
  if (asked.form === undefined && !asked.hasUnknownParameter) return false
  return operation !== undefined && !isOfGate(code) && !exchange.overlaps && asked.body !== 'unknown'
}

function take(reader: Reader, seen: SeenExchange, found: ChoiceObservation[]): void {
  if (reader.isLong && reader.times >= EVIDENCE_KEPT && ++reader.left % NOW_AND_THEN !== 0) return
  const shown = reader.read(seen, reader.choice)
  if (shown === undefined) return
  found.push(shown)
  reader.times = shown.permits.length === 1 && reader.shown === shown ? reader.times + 1 : 0
  reader.shown = shown
}
