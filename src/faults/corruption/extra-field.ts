import { isObject } from '../../ground/json.ts'
import type { Draw } from '../injection.ts'
import { type CorruptionKind, type PossibleChange, violates } from './corruption-kind.ts'
import { additions } from './novelties.ts'
import { type ParsedResponse, placesIn, type Shape } from './parsed-response.ts'

/** An object has a field that the contract forbids. */
export const extraField: CorruptionKind = { candidates: extraFields, verify: violates }

function* extraFields(response: ParsedResponse, draw: Draw): Generator<PossibleChange> {
  for (const place of placesIn(response.root, draw, isClosed)) {
    if (!isObject(place.value) || !place.shape.isClosed) continue
    yield* additions(response, place, place.value, draw)
  }
}

function isClosed(shape: Shape): boolean {
  return shape.isClosed
}
