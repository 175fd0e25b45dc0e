import type { Draw } from '../injection.ts'
import type { ParsedResponse } from './parsed-response.ts'

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

/** Whether a text, which must be JSON, violates the contract of the response. */
export function violates(text: string, { contract }: ParsedResponse): boolean {
  return contract.check(JSON.parse(text)).length > 0
}
