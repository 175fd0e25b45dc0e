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
  OpenChoice,
  type SeenExchange,
} from './open-choice.ts'

/** Services show most of their choices in each answer: after so many of one kind, only one of so many is read. */
const READ = { first: 100, oneOf: 8 }
/** Where openapi.yaml has the statuses of codes. */
const ERRORS = '/x-errors'

/** A choice, and the way to read it. */
type Reader = ChoiceRow & { choice: OpenChoice }

/** What exchanges of one kind can show, and how many there were. */
interface Selection {
  inAnswer: readonly Reader[]
  inRequest: readonly Reader[]
  exchanges: number
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
  /** By operation, of successes and of refusals. */
  readonly #selections = [new Map<string, Selection>(), new Map<string, Selection>()] as const

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
    const selection = this.#select(lenient.ok ? lenient.operation.id : '', code === undefined)
    const now = sentAt ?? exchange.until
    const seen: SeenExchange = { ...given, code, now, parts: NOTHING_OPEN, refreshes: this.#refreshes }
    const status = this.#readStatus(seen)
    if (status !== undefined) note(status)
    const number = selection.exchanges++
    if (number < READ.first || number % READ.oneOf === 0) readAll(selection.inAnswer, seen, note)
    // The service must have looked at a body or a query, and what was there before must be known.
    const isRead = operation !== undefined && !isOfGate(code) && !exchange.overlaps && asked.body !== 'unknown'
    if (!isRead || (asked.form === undefined && !asked.hasUnknownParameter)) return
    seen.parts = openPartsOf(asked)
    readAll(selection.inRequest, seen, note)
  }

  #select(operation: string, isSuccess: boolean): Selection {
    const selections = this.#selections[isSuccess ? 0 : 1]
    const known = selections.get(operation)
    if (known !== undefined) return known
    const of = (...tables: readonly ChoiceRows[]) =>
      tables.flatMap(Object.entries).flatMap(([id, row]: [string, ChoiceRow]): Reader[] => {
        const choice = this.#choices.get(id)
        const isOther = row.on !== undefined && (row.on === 'success') !== isSuccess
        return choice === undefined || isOther || row.of?.includes(operation) === false ? [] : [{ ...row, choice }]
      })
    const selection = { inAnswer: of(IN_RESPONSES, IN_LISTS), inRequest: of(IN_REQUESTS), exchanges: 0 }
    selections.set(operation, selection)
    return selection
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

function readAll(readers: readonly Reader[], seen: SeenExchange, note: Note): void {
  for (const { read, choice } of readers) {
    const shown = read(seen, choice)
    if (shown !== undefined) note(shown)
  }
}
