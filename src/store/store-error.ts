/** Why a store did not do what it was asked; `taken`, `damaged` and `unknown-account` are the caller's to answer for. */
export type StoreProblem = 'taken' | 'full' | 'unknown-account' | 'closed' | 'locked' | 'damaged' | 'unusable'

/** The message is one sentence for the person who runs the service. */
export class StoreError extends Error {
  override name = 'StoreError'
  readonly problem: StoreProblem
  /** Whether the store has told the person already, so that nobody else needs to. */
  reported = false

  constructor(problem: StoreProblem, message: string, options?: ErrorOptions) {
    super(message, options)
    this.problem = problem
  }
}

/** Whether the person who runs the service knows of it already. */
export function isReported(error: unknown): boolean {
  return error instanceof StoreError && error.reported
}
