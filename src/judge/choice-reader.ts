import { pointerOf } from '../contract/api.ts'
import type { Choices } from '../contract/choices.ts'
import { isObject, type Json, mergePatch, valueAt } from '../ground/json.ts'
import { IN_LISTS } from './choices-in-lists.ts'
import { IN_REQUESTS, openPartsOf } from './choices-in-requests.ts'
import { IN_RESPONSES, isFoundLeniently } from './choices-in-responses.ts'
import { isKeyless, isOfGate, isRefusedUnread } from './gate.ts'
import {
  type ChoiceObservation,
  type ChoiceRow,
  type ChoiceRows,
  EVIDENCE_KEPT,
  OpenChoice,
  type SeenExchange,
} from './open-choice.ts'

/** Once answers have shown the same choice often enough, so many are left out before it is read again. */
const NOW_AND_THEN = 8
/** Where openapi.yaml has the statuses of codes. */
const ERRORS = '/x-errors'

/** A choice, and the way to read it. */
interface Reader extends ChoiceRow {
  choice: OpenChoice
  /** What was shown last, how often in a row, and how often it was left out since then. */
  shown: ChoiceObservation | undefined
  times: number
  left: number
}

type Note = (shown: ChoiceObservation) => void

/**
 * Reads from exchanges which choices a service has made, one choice at a time. What depends on two choices says nothing
 * of either.
 */
export class ChoiceReader {
  readonly #choices = new Map<string, OpenChoice>()
  readonly #byPlace = new Map<string, OpenChoice>()
  readonly #knows: (code: string) => boolean
  readonly #refreshes: readonly string[]
  readonly #inAnswers: (operation: string, isSuccess: boolean) => readonly Reader[]
  readonly #inRequests: (operation: string, isSuccess: boolean) => readonly Reader[]

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
    this.#inAnswers = createSelection(this.#choices, IN_RESPONSES, IN_LISTS)
    this.#inRequests = createSelection(this.#choices, IN_REQUESTS)
  }

  /** What was noted of all choices. */
  get observations(): readonly ChoiceObservation[] {
    return [...this.#choices.values()].flatMap(({ observations }) => observations)
  }

  /** Tells what an exchange shows. */
  read(given: Pick<SeenExchange, 'reading' | 'asked' | 'quota' | 'track'>, note: Note): void {
    const { reading, asked } = given
    const { outcome, failed, exchange, response, sentAt, lenient, operation } = reading
    if (failed !== undefined || outcome.kind === 'unreadable') return
    const code = outcome.kind === 'refusal' ? outcome.code : undefined
    if (code === undefined ? response.status >= 300 : !this.#knows(code)) return
    const now = sentAt ?? exchange.until
    const seen: SeenExchange = { ...given, code, now, parts: NOTHING_OPEN, refreshes: this.#refreshes }
    const status = this.#readStatus(seen)
    if (status !== undefined) note(status)
    const name = lenient.ok ? lenient.operation.id : ''
    for (const reader of this.#inAnswers(name, code === undefined)) readNowAndThen(reader, seen, note)
    // The service must have looked at a body or a query, and what was there before must be known.
    const isRead = operation !== undefined && !isOfGate(code) && !exchange.overlaps && asked.body !== 'unknown'
    if (!isRead || (asked.form === undefined && !asked.hasUnknownParameter)) return
    seen.parts = openPartsOf(asked)
    for (const { read, choice } of this.#inRequests(name, code === undefined)) {
      const shown = read(seen, choice)
      if (shown !== undefined) note(shown)
    }
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

/** Creates the function that finds the readers of what such an exchange can show. */
function createSelection(choices: ReadonlyMap<string, OpenChoice>, ...tables: readonly ChoiceRows[]) {
  const readers = tables.flatMap(Object.entries).flatMap(([id, row]: [string, ChoiceRow]): Reader[] => {
    const choice = choices.get(id)
    return choice === undefined ? [] : [{ ...row, choice, shown: undefined, times: 0, left: 0 }]
  })
  const selections = [new Map<string, readonly Reader[]>(), new Map<string, readonly Reader[]>()] as const
  return (operation: string, isSuccess: boolean): readonly Reader[] => {
    const known = selections[isSuccess ? 0 : 1]
    const selected =
      known.get(operation) ??
      readers.filter(({ of, on }) => {
        return (on === undefined || (on === 'success') === isSuccess) && of?.includes(operation) !== false
      })
    known.set(operation, selected)
    return selected
  }
}

/** Services show most of their choices in each answer. */
function readNowAndThen(reader: Reader, seen: SeenExchange, note: Note): void {
  if (reader.times >= EVIDENCE_KEPT && ++reader.left % NOW_AND_THEN !== 0) return
  const shown = reader.read(seen, reader.choice)
  if (shown === undefined) return
  note(shown)
  reader.times = shown.permits.length === 1 && reader.shown === shown ? reader.times + 1 : 0
  reader.shown = shown
}
