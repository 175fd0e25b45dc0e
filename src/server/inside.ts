import type { Contract } from '../contract/contract.ts'
import type { Log } from '../ground/log.ts'
import type { Service } from '../service/answer.ts'

/** What the doors in the same process use of a running stand-in. */
export interface Inside {
  readonly answer: Service
  readonly contract: Contract
  readonly log: Log
  readonly stopping: { readonly signal: AbortSignal }
}

/**
 * A copy of the object has it too. It is registered, because a program may load this module twice, for example once
 * inside of a test runner.
 */
const INSIDE = Symbol.for('dmarc-understudy.inside')

/** Lets the doors in the same process find the stand-in behind what its user has. */
export function letIn<Outside extends object>(inside: Inside, outside: Outside): Outside {
  return Object.assign(outside, { [INSIDE]: () => inside })
}

/** The stand-in behind what its user has; `undefined` if it runs in another process. */
export function insideOf(outside: object): Inside | undefined {
  return (outside as { [INSIDE]?: () => Inside })[INSIDE]?.()
}
