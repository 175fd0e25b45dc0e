import type { Draw } from '../injection.ts'
import { type CorruptionKind, type PossibleChange, violates } from './corruption-kind.ts'
import { removeEntry } from './json-text.ts'
import { type ParsedResponse, placesIn, pointerOf, type Shape, spanOf } from './parsed-response.ts'

/** A required field is missing. */
export const missingField: CorruptionKind = { candidates: missingFields, verify: violates }

/** The fields of the envelope belong to `bad-envelope`. */
function* missingFields(response: ParsedResponse, draw: Draw): Generator<PossibleChange> {
  for (const place of placesIn(response.root, draw, requiresSomething)) {
    const { step, parent } = place
    if (typeof step !== 'string' || parent?.parent === undefined || !parent.shape.requires(step)) continue
    yield {
      about: place.shape,
      make: () => ({
        text: removeEntry(response.text, spanOf(response, parent), step),
        change: `${pointerOf(place)} was left out.`,
      }),
    }
  }
}

function requiresSomething(shape: Shape): boolean {
  return shape.declared.some((name) => shape.requires(name))
}
