import type { Draw } from '../injection.ts'
import { removeEntry, replaceSpan } from './json-text.ts'
import { type BodyPlace, type ParsedResponse, spanOf } from './parsed-response.ts'

/** A way to change bodies, and the promise that a changed body keeps. */
export interface CorruptionKind {
  /** Changes that may keep the promise, in random order. */
  candidates(response: ParsedResponse, draw: Draw): Iterable<PossibleChange>
  /** Whether a changed text keeps the promise. */
  verify(text: string, response: ParsedResponse): boolean
}

/** A possible change; it must still be checked whether it keeps the promise of its kind. */
export interface PossibleChange {
  /** Candidates for the same kind of place usually all succeed or all fail. */
  about: unknown
  make(): BodyChange
}

export interface BodyChange {
  text: string
  /** A description of the change, one sentence with a JSON pointer, for the journal: "/data/domains was left out." */
  change: string
}

/** Replaces the value at a place by the JSON that `write` gives. */
export function replacement(
  response: ParsedResponse,
  place: BodyPlace,
  write: () => string,
  change: string,
): PossibleChange {
  return {
    about: place.shape,
    make: () => ({ text: replaceSpan(response.text, spanOf(response, place), write()), change }),
  }
}

/** Removes the value at a place, which is not the whole body. */
export function omission(response: ParsedResponse, place: BodyPlace, change: string): PossibleChange {
  const { step = '', parent = response.root } = place
  return {
    about: place.shape,
    make: () => ({ text: removeEntry(response.text, spanOf(response, parent), step), change }),
  }
}

/** Whether a text, which must be JSON, violates the contract of the response. */
export function violates(text: string, { contract }: ParsedResponse): boolean {
  return contract.check(JSON.parse(text)).length > 0
}
