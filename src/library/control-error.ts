import type { AdminCode } from '../admin/codes.ts'
import type { Open } from '../contract/names.ts'
import type { ErrorCode } from '../domain/errors.ts'

/** Why a call was refused. */
export type ControlErrorCode = AdminCode | 'stopped' | 'timeout' | 'lost'

/** One thing that is wrong with a call. */
export interface ControlProblem {
  /** That of the control plane, or of the service where it refuses a change. */
  code: Open<ControlErrorCode | ErrorCode>
  /** JSON pointer into the body, or the name of a query parameter. */
  field: string | null
  message: string
}

/**
 * The control plane refused a call. `message` says what would be right, and `problems` lists everything that is wrong.
 */
export class ControlError extends Error {
  override name = 'ControlError'
  /**
   * An error code of the control plane's document, such as `not_found` or `invalid_value`; `stopped`; `timeout` of
   * `waitFor`; or `lost` of `events`.
   */
  readonly code: ControlErrorCode
  readonly problems: readonly ControlProblem[]

  constructor(code: ControlErrorCode, message: string, problems: readonly ControlProblem[]) {
    super(message)
    this.code = code
    this.problems = problems
  }
}
