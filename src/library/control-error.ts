/** One thing that is wrong with a call. */
export interface ControlProblem {
  code: string
  /** JSON pointer into what was given, or the name of a query parameter. */
  field: string | null
  message: string
}

/** The control plane refused a call; `message` says what would be right, `problems` everything that is wrong. */
export class ControlError extends Error {
  override name = 'ControlError'
  /** As the control plane's document lists them: `not_found`, `invalid_value` and so on; `stopped` after the stop. */
  readonly code: string
  readonly problems: readonly ControlProblem[]

  constructor(code: string, message: string, problems: readonly ControlProblem[]) {
    super(message)
    this.code = code
    this.problems = problems
  }
}
