import type { Json } from '../../ground/json.ts'

/** The verdict about an alternative. */
export type VaryVerdict = 'depends' | 'tolerates' | 'not reached' | 'flaky' | 'inconclusive'

/** The differing parts of a response, shortened for a report. */
export interface ShownResponse {
  /** Absent if no response was sent. */
  status?: number
  /** The fields that differ. */
  headers?: Readonly<Record<string, string>>
  /** Absent if it does not differ. */
  body?: string
}

/** The first response of the client that differs from the one that it would have been shown under our choice. */
export interface FirstDifference {
  request: { request_id: string; method: string; path: string; body?: string }
  expected: ShownResponse
  received: ShownResponse
  /** The first difference between the bodies, in words. */
  body_difference?: string
}

/** The report about one alternative. */
export interface AlternativeReport {
  /** The id of its assumption. */
  id: string
  /** Its number within the assumption, from 1. */
  alternative: number
  verdict: VaryVerdict
  /** The text of the specification about it, or a note that there is none. */
  spec: string
  chosen: Json
  value: Json
  /** Whether the user accepts that the command depends on it. */
  accepted?: true
  /** The reason if it was not decided, or not reached although it was tried. */
  reason?: string
  first_difference?: FirstDifference
  /** The end of a command that failed with it. */
  exit_code?: number
  signal?: string
  timed_out?: true
  /** The names of the failed tests, if the output of the command has them. */
  tests?: readonly string[]
  /** The last lines of the output. */
  output?: string
  /** The duration of the command. */
  seconds?: number
}

/** The run of the command without an alternative. */
interface BaselineReport {
  exit_code: number
  seconds: number
  requests: number
  /** Whether both runs had the same result and sent the same requests. */
  steady: boolean
}

/** The dependencies file, which `--report json=FILE` writes. */
export interface Dependencies {
  command: readonly string[]
  baseline: BaselineReport
  /** How often the command was started, including the baselines. */
  runs: number
  alternatives: readonly AlternativeReport[]
}
