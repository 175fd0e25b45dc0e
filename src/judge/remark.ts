import type { Belief } from './belief.ts'
import type { Source } from './believed.ts'
import type { Label } from './finding.ts'
import type { AskedRequest } from './request.ts'

/** Something in a response that should not be so. */
export interface Remark {
  /** One or two sentences. */
  message: string
  /** The rule that is broken, if the specification has one. */
  rule?: string | undefined
  /** The end of the finding's id if there is no rule. */
  what: string
  /** Where openapi.yaml says what is expected, if there is no rule. A JSON pointer. */
  place?: string
  /** `unexplained` by default, if there is no rule. */
  label?: Label
  /** Whether it may be the work of another client, so that the service need not be wrong. */
  isDoubtful?: boolean
}

/** A success of an operation, with what is needed to judge its data and to learn from it. */
export interface Success {
  asked: AskedRequest
  data: unknown
  belief: Belief
  source: Source
  report(remark: Remark): void
}
