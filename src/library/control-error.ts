import type { AdminCode } from '../contract/control-api.ts'
import type { Open } from '../contract/names.ts'
import type { ErrorCode } from '../domain/errors.ts'

/** The reason for the refusal of a call. */
export type ControlErrorCode = AdminCode | 'stopped' | 'timeout'

/** One error in a call. */
export interface ControlProblem {
  /** The code of the control plane, or if the service refuses a change, that of the service. */
  code: Open<ControlErrorCode | ErrorCode>
  /** JSON pointer into the body, or the name of a query parameter. */
  field: string | null
  message: string
}

/** The control plane refused a call. `message` describes the correct input, and `problems` lists all errors. */
export class ControlError extends Error {
  override name = 'ControlError'
  /**
   * An error code of the control plane's document, such as `not_found` or `invalid_value`; `stopped`; or `timeout` of
   * `waitFor`.
   */
  readonly code: ControlErrorCode
  readonly problems: readonly ControlProblem[]

  constructor(code: ControlErrorCode, message: string, problems: readonly ControlProblem[] = []) {
    super(message)
    this.code = code
    this.problems = problems
  }
}

/** The refusal of an argument. `field` is a JSON pointer into the body, or the name of a parameter. */
export function refuseArgument(field: string, message: string): ControlError {
  return new ControlError('invalid_value', message, [{ code: 'invalid_value', field, message }])
}
