import type { Belief, Source } from './belief.ts'
import type { Report } from './findings.ts'
import type { AskedRequest } from './request.ts'

/** A success of an operation, with what is needed to judge its data and to learn from it. */
export interface Success {
  asked: AskedRequest
  data: unknown
  belief: Belief
  source: Source
  report: Report
}
