import type { Draw } from '../injection.ts'
import { type CorruptionKind, type PossibleChange, violates } from './corruption-kind.ts'
import { entriesOf, replaceSpan, type TextSpan, textOf } from './json-text.ts'
import { type BodyPlace, type ParsedResponse, placesIn, pointerOf, shuffle, spanOf } from './parsed-response.ts'

/** A value has another type. */
export const wrongType: CorruptionKind = { candidates: wrongTypes, verify: violates }

function* wrongTypes(response: ParsedResponse, draw: Draw): Generator<PossibleChange> {
  for (const place of placesIn(response.root, draw)) {
    // `success` and the whole body belong to `bad-envelope`.
    if (place.parent === undefined || (place.parent.parent === undefined && place.step === 'success')) continue
    for (const [type, json] of shuffle(otherTypes(place), draw)) {
      yield {
        about: place.shape,
        make: () => {
          const span = spanOf(response, place)
          return {
            text: replaceSpan(response.text, span, json(response.text, span)),
            change: `${pointerOf(place)} became ${type} instead of ${typeOf(place.value)}.`,
          }
        },
      }
    }
  }
}

type Rewriting = [type: string, json: (text: string, span: TextSpan) => string]

const NULL: Rewriting = ['null', () => 'null']
const QUOTED: Rewriting = ['a string', (text, span) => `"${textOf(text, span)}"`]
const WRAPPED: Rewriting = ['an array', (text, span) => `[${textOf(text, span)}]`]
const BLANK: Rewriting = ['a string', () => '""']

/** How other servers are known to write such a value. */
function otherTypes({ value }: BodyPlace): Rewriting[] {
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

/** The form in which PHP writes an array whose indexes have a gap. */
function keyedByIndex(text: string, span: TextSpan): string {
  return `{${[...entriesOf(text, span)].map((item, index) => `"${index}":${textOf(text, item)}`).join(',')}}`
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
