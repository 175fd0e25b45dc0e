import type { Draw } from '../injection.ts'
import type { ParsedResponse } from './parsed-response.ts'

/** A way to change bodies, and what it promises. */
export interface CorruptionKind {
  /** Changes that may keep the promise, in an order that chance decides. */
  candidates(response: ParsedResponse, draw: Draw): Iterable<Candidate>
  /** Whether a changed text keeps the promise. */
  verify(text: string, response: ParsedResponse): boolean
}

/** A change that is possible; whether it keeps the promise of its kind must still be verified. */
export interface Candidate {
  /** Candidates for the same kind of place usually all succeed or all fail. */
  about: unknown
  make(): Change
}

export interface Change {
  text: string
  /** What was done, one sentence with a JSON pointer, for the journal: "/data/domains was left out." */
  change: string
}

/** Whether a text, which must be JSON, violates the contract of the response. */
export function violates(text: string, { contract }: ParsedResponse): boolean {
  return contract.check(JSON.parse(text)).length > 0
}
