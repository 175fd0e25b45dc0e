/**
 * Why a store did not do its work. The caller can avoid `taken`, `full`, `damaged` and `unknown-account`. With
 * `too-large`, the account would have too many domains or groups; with `out-of-memory`, nothing may grow for lack of
 * memory. A store that other processes share may be `unavailable` for a while: nothing was done then. `unknown` means
 * that the work may have been done, or may still be done.
 */
export type StoreProblem =
  | 'taken'
  | 'full'
  | 'too-large'
  | 'out-of-memory'
  | 'unknown-account'
  | 'closed'
  | 'locked'
  | 'damaged'
  | 'unusable'
  | 'unavailable'
  | 'unknown'

/** The message is one sentence for the operator of the service. */
export class StoreError extends Error {
  override name = 'StoreError'
  readonly problem: StoreProblem
  /** Whether the store has reported the error already, so that the caller need not log it. */
  reported = false

  constructor(problem: StoreProblem, message: string, options?: ErrorOptions) {
    super(message, options)
    this.problem = problem
  }
}

/** Whether the error was reported already. */
export function isReported(error: unknown): boolean {
  return error instanceof StoreError && error.reported
}

/** Whether the store could not be reached, or its reply was lost. */
export function isAway(error: unknown): error is StoreError {
  return error instanceof StoreError && (error.problem === 'unavailable' || error.problem === 'unknown')
}
