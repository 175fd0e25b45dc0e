/**
 * Why a store did not do its work. The caller can avoid `taken`, `full`, `damaged` and `unknown-account`. A store of other
 * processes may be `unavailable` for a while: nothing was done then. Where it is `unknown`, nobody knows whether the work
 * was done, or will be done yet.
 */
export type StoreProblem =
  | 'taken'
  | 'full'
  | 'unknown-account'
  | 'closed'
  | 'locked'
  | 'damaged'
  | 'unusable'
  | 'unavailable'
  | 'unknown'

/** The message is one sentence for the person who runs the service. */
export class StoreError extends Error {
  override name = 'StoreError'
  readonly problem: StoreProblem
  /** Whether the store has reported the error already, so that nobody else needs to log it. */
  reported = false
  /** Whether the store has no memory for any change, and not only no room for this account. */
  isOutOfMemory = false

  constructor(problem: StoreProblem, message: string, options?: ErrorOptions) {
    super(message, options)
    this.problem = problem
  }
}

/** Whether the error was reported already. */
export function isReported(error: unknown): boolean {
  return error instanceof StoreError && error.reported
}

/** Whether the store was away, or its answer was lost. */
export function isAway(error: unknown): error is StoreError {
  return error instanceof StoreError && (error.problem === 'unavailable' || error.problem === 'unknown')
}
