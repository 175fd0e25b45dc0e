import type { ResponseContract } from '../../contract/api.ts'
import type { Corruption } from '../../domain/faults.ts'
import { isObject } from '../../ground/json.ts'
import {
  type Answer,
  type Candidate,
  type Draw,
  type Place,
  placesIn,
  pointerOf,
  readAnswer,
  type Shape,
  shuffle,
  spanOf,
} from './answer.ts'
import { envelopeCandidates } from './bad-envelope.ts'
import { compatibleCandidates } from './compatible-answer.ts'
import { entriesOf, removeEntry, replaceSpan, type Span, textOf } from './json-text.ts'
import { malformedCandidates } from './malformed-json.ts'
import { additions, replacement, unknownValues } from './novelties.ts'

export interface SpoiltBody {
  body: Buffer
  /** What was done, one sentence with a JSON pointer, for the journal: "/data/domains was left out." */
  change: string
}

interface Kind {
  candidates(answer: Answer, draw: Draw): Iterable<Candidate>
  /** Whether the text is what the kind promises. */
  proves(text: string, answer: Answer): boolean
}

const KINDS: Readonly<Record<Corruption, Kind>> = {
  'malformed-json': { candidates: malformedCandidates, proves: (text) => !isJson(text) },
  'missing-field': { candidates: missingFields, proves: violates },
  'wrong-type': { candidates: wrongTypes, proves: violates },
  'extra-field': { candidates: extraFields, proves: violates },
  'unknown-enum': { candidates: unknownEnums, proves: violates },
  'bad-envelope': { candidates: envelopeCandidates, proves: violates },
  compatible: {
    candidates: compatibleCandidates,
    proves: (text, answer) => text !== answer.text && !violates(text, answer),
  },
}

/** How many candidates of one kind of place may fail before the others of it are given up. */
const PATIENCE = 3

/**
 * Spoils a genuine answer, or with `compatible` changes it lawfully. What is returned was proved against the contract;
 * what was not meant to change keeps its bytes. `draw` gives numbers from 0 up to 1, the same at every run of the same
 * seed. `undefined` when the answer has nothing that this kind could spoil.
 */
export function corruptBody(
  kind: Corruption,
  body: Buffer,
  response: ResponseContract,
  draw: () => number,
): SpoiltBody | undefined {
  const { candidates, proves } = KINDS[kind]
  const answer = readAnswer(body, response)
  const failures = new Map<unknown, number>()
  for (const { about, make } of candidates(answer, draw)) {
    const failed = failures.get(about) ?? 0
    if (failed === PATIENCE) continue
    const { text, change } = make()
    if (proves(text, answer)) return { body: Buffer.from(text), change }
    failures.set(about, failed + 1)
  }
  return undefined
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function violates(text: string, { response }: Answer): boolean {
  return response.check(JSON.parse(text)).length > 0
}

/** The fields of the envelope are left to `bad-envelope`. */
function* missingFields(answer: Answer, draw: Draw): Generator<Candidate> {
  for (const place of placesIn(answer.root, draw, requiresSomething)) {
    const { step, parent } = place
    if (typeof step !== 'string' || parent?.parent === undefined || !parent.shape.requires(step)) continue
    yield {
      about: place.shape,
      make: () => ({
        text: removeEntry(answer.text, spanOf(answer, parent), step),
        change: `${pointerOf(place)} was left out.`,
      }),
    }
  }
}

function* wrongTypes(answer: Answer, draw: Draw): Generator<Candidate> {
  for (const place of placesIn(answer.root, draw)) {
    // `success` and the whole are the envelope's.
    if (place.parent === undefined || (place.parent.parent === undefined && place.step === 'success')) continue
    for (const [type, json] of shuffle(otherTypes(place), draw)) {
      yield {
        about: place.shape,
        make: () => {
          const span = spanOf(answer, place)
          return {
            text: replaceSpan(answer.text, span, json(answer.text, span)),
            change: `${pointerOf(place)} became ${type} instead of ${typeOf(place.value)}.`,
          }
        },
      }
    }
  }
}

type Rewriting = [type: string, json: (text: string, span: Span) => string]

const NULL: Rewriting = ['null', () => 'null']
const QUOTED: Rewriting = ['a string', (text, span) => `"${textOf(text, span)}"`]
const WRAPPED: Rewriting = ['an array', (text, span) => `[${textOf(text, span)}]`]
const BLANK: Rewriting = ['a string', () => '""']

/** How servers of other makes are known to write such a value. */
function otherTypes({ value }: Place): Rewriting[] {
  if (value === null) return [BLANK, ['an array', () => '[]'], ['an object', () => '{}'], ['a number', () => '0']]
  if (Array.isArray(value)) return [['an object', keyedByIndex], NULL, BLANK]
  switch (typeof value) {
    case 'number':
      return [QUOTED, NULL, WRAPPED]
    case 'boolean':
      return [QUOTED, NULL, ['a number', () => (value ? '1' : '0')]]
    case 'string':
      return [
        NULL,
        WRAPPED,
        ['an object', (text, span) => `{"value":${textOf(text, span)}}`],
        ['a number', () => String(value.length)],
      ]
    default:
      return [WRAPPED, ['an array', () => '[]'], NULL, BLANK]
  }
}

/** As PHP writes an array whose keys have a gap. */
function keyedByIndex(text: string, span: Span): string {
  return `{${[...entriesOf(text, span)].map((item, index) => `"${index}":${textOf(text, item)}`).join(',')}}`
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

function* extraFields(answer: Answer, draw: Draw): Generator<Candidate> {
  for (const place of placesIn(answer.root, draw, isClosed)) {
    if (!isObject(place.value) || !place.shape.isClosed) continue
    yield* additions(answer, place, place.value, draw)
  }
}

function requiresSomething(shape: Shape): boolean {
  return shape.declared.some((name) => shape.requires(name))
}

function isClosed(shape: Shape): boolean {
  return shape.isClosed
}

function listsValues(shape: Shape): boolean {
  return shape.values !== undefined
}

function* unknownEnums(answer: Answer, draw: Draw): Generator<Candidate> {
  const { codes } = answer.response
  for (const place of placesIn(answer.root, draw, codes.size > 0 ? undefined : listsValues)) {
    // The codes of a response are listed beside its schema.
    const isCode = codes.size > 0 && place.step === 'code' && pointerOf(place) === '/error/code'
    const known = isCode ? [...codes, ...(place.shape.values ?? [])] : place.shape.values
    if (known === undefined) continue
    for (const value of shuffle(unknownValues(place, known), draw)) {
      yield replacement(answer, place, value)
    }
  }
}
