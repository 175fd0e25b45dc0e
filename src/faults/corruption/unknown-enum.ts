import type { Draw } from '../injection.ts'
import { type CorruptionKind, type PossibleChange, violates } from './corruption-kind.ts'
import { replacement, unknownValues } from './novelties.ts'
import { type ParsedResponse, placesIn, pointerOf, type Shape, shuffle } from './parsed-response.ts'

/** A field has a value that its list does not have. */
export const unknownEnum: CorruptionKind = { candidates: unknownEnums, verify: violates }

function* unknownEnums(response: ParsedResponse, draw: Draw): Generator<PossibleChange> {
  const { codes } = response.contract
  for (const place of placesIn(response.root, draw, codes.size > 0 ? undefined : listsValues)) {
    // The contract lists the codes of a response beside its schema.
    const isCode = codes.size > 0 && place.step === 'code' && pointerOf(place) === '/error/code'
    const known = isCode ? [...codes, ...(place.shape.values ?? [])] : place.shape.values
    if (known === undefined) continue
    for (const value of shuffle(unknownValues(place, known), draw)) {
      yield replacement(response, place, value)
    }
  }
}

function listsValues(shape: Shape): boolean {
  return shape.values !== undefined
}
