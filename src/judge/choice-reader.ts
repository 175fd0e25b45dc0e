import { pointerOf } from '../contract/api.ts'
import type { Choices } from '../contract/choices.ts'
import { isObject, type Json, mergePatch, valueAt } from '../ground/json.ts'
import { IN_LISTS } from './choices-in-lists.ts'
import { IN_REQUESTS } from './choices-in-requests.ts'
import { IN_RESPONSES, isFoundLeniently } from './choices-in-responses.ts'
import { isKeyless, isOfGate, isRefusedUnread } from './gate.ts'
import {
  type ChoiceObservation,
  type ChoiceTable,
  OpenChoice,
  type ReadChoice,
  type SeenExchange,
} from './open-choice.ts'
import { corridorOfOwn } from './refusals.ts'

/** Services show most of their choices in each answer: after so many of one kind, only one of so many is read. */
const READ = { first: 100, oneOf: 8 }
/** Where openapi.yaml has the statuses of codes. */
const ERRORS = '/x-errors'

type Readers = readonly { choice: OpenChoice; read: ReadChoice }[]

/** What exchanges of one kind can show. */
interface Selection {
  inAnswer: Readers
  inRequest: Readers
  /** Whether the next answer is to be read. */
  isDue(): boolean
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
  readonly #selections = new Map<string, Selection>()

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
    return [...this.#choices.values()].flatMap(({ observations }) => [...observations.values()])
  }

  /** Notes what an exchange shows, and returns it. */
  read(given: Pick<SeenExchange, 'reading' | 'asked' | 'quota' | 'track'>): readonly ChoiceObservation[] {
    const { reading, asked, track, quota } = given
    const { outcome, failed, exchange, response, sentAt, lenient, operation } = reading
    if (failed !== undefined || outcome.kind === 'unreadable') return []
    const code = outcome.kind === 'refusal' ? outcome.code : undefined
    if (code === undefined ? response.status >= 300 : !this.#knows(code)) return []
    const { inAnswer, inRequest, isDue } = this.#select(lenient.ok ? lenient.operation.id : '', code === undefined)
    const now = sentAt ?? exchange.until
    const seen: SeenExchange = {
      reading,
      asked,
      track,
      quota,
      code,
      now,
      reason: undefined,
      refreshes: this.#refreshes,
    }
    const shown = [this.#readStatus(seen)]
    const noteAll = (readers: Readers) => {
      for (const { choice, read } of readers) shown.push(choice.note(read(seen), exchange, code))
    }
    if (isDue()) noteAll(inAnswer)
    // The service must have looked at a body or a query, and what was there before must be known.
    const isRead = operation !== undefined && !isOfGate(code) && !exchange.overlaps && asked.body !== 'unknown'
    if (isRead && (asked.form !== undefined || asked.hasUnknownParameter)) {
      // A service that refuses a request unread has not seen what is open about it.
      const isReason = code !== undefined && !isRefusedUnread(reading)
      if (isReason) seen.reason = corridorOfOwn(asked, track.belief).choiceBehind(code)
      noteAll(inRequest)
    }
    return shown.filter((each) => each !== undefined)
  }

  #select(operation: string, isSuccess: boolean): Selection {
    const kind = isSuccess ? 'success' : 'refusal'
    const known = this.#selections.get(`${operation} ${kind}`)
    if (known !== undefined) return known
    const readersIn = (table: ChoiceTable) =>
      ['any', kind, operation]
        .flatMap((part) => Object.entries(table[part] ?? {}))
        .flatMap(([id, read]) => {
          const choice = this.#choices.get(id)
          return choice === undefined ? [] : [{ choice, read }]
        })
    let exchanges = 0
    const isDue = () => {
      const number = exchanges++
      return number < READ.first || number % READ.oneOf === 0
    }
    const inAnswer = [...readersIn(IN_RESPONSES), ...readersIn(IN_LISTS)]
    const selection = { inAnswer, inRequest: readersIn(IN_REQUESTS), isDue }
    this.#selections.set(`${operation} ${kind}`, selection)
    return selection
  }

  /** What the status of a response shows. */
  #readStatus({ reading, code }: SeenExchange): ChoiceObservation | undefined {
    const { operation, route, lenient, response, exchange } = reading
    const { status } = response
    const read = (place: string, fits: (holder: Json) => boolean) =>
      this.#byPlace.get(place)?.note(fits, exchange, code)
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
