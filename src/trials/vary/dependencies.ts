import type { Json } from '../../ground/json.ts'

/** What became of an alternative. */
export type VaryVerdict = 'depends' | 'tolerates' | 'not reached' | 'flaky' | 'inconclusive'

/** A response in a report: what differs of it, shortened. */
export interface ShownResponse {
  /** Absent where none was sent. */
  status?: number
  /** The fields that differ. */
  headers?: Readonly<Record<string, string>>
  /** Absent where it does not differ. */
  body?: string
}

/** The first response that was not what it is with our choice, in the same state and at the same instant. */
export interface FirstDifference {
  request: { request_id: string; method: string; path: string; body?: string }
  expected: ShownResponse
  received: ShownResponse
}

/** What the report says of one alternative. */
export interface AlternativeReport {
  /** The id of its assumption. */
  id: string
  /** Its number among those of the assumption, from 1. */
  alternative: number
  verdict: VaryVerdict
  /** What the specification says about it, or that it says nothing. */
  spec: string
  chosen: Json
  value: Json
  /** Whether the user has listed it as one that the command may depend on. */
  accepted?: true
  /** Why it was not decided. */
  reason?: string
  first_difference?: FirstDifference
  /** How the command ended with it, where it failed. */
  exit_code?: number
  signal?: string
  timed_out?: true
  /** The names of the tests that failed, as far as the output of the command tells them. */
  tests?: readonly string[]
  /** The last lines that the command wrote. */
  output?: string
  /** How long the command took. */
  seconds?: number
  /** What was different in the requests that reached it: a later run with the same has the same verdict. */
  fingerprint?: string
}

/** How the command ran without any alternative. */
interface BaselineReport {
  exit_code: number
  seconds: number
  requests: number
  /** Whether the two runs had the same result and sent the same requests. */
  steady: boolean
}

/** The dependencies file: `--report json=FILE` writes it, and `--since FILE` reads it. */
export interface Dependencies {
  command: readonly string[]
  baseline: BaselineReport
  /** How often the command was started, the baselines included. */
  runs: number
  alternatives: readonly AlternativeReport[]
}
