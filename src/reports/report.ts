import { plural } from '../ground/plural.ts'

type Tool = 'run' | 'vary' | 'explore' | 'verify' | 'check' | 'proxy' | 'calibrate' | 'assumptions'

/**
 * The result of a command, the common model of all formats. Texts are plain: they contain no markup and no key, but may
 * contain text of a client. Each format escapes them.
 */
export interface Report {
  readonly tool: Tool
  /** The subject in a few words: `npm test`. */
  readonly title: string
  /** The result in one or two sentences. */
  readonly summary: string
  /** Whether the exit code is 0. A failed report shows a failure in every format. */
  readonly passed: boolean
  readonly exitCode: number
  /** Whether too little was done for a result. Then the report neither passed nor failed, whatever the exit code is. */
  readonly isInconclusive?: boolean
  /** When the work began, as an RFC 3339 instant in UTC. */
  readonly startedAt?: string | undefined
  readonly seconds: number
  /** The command of the user, as a list of words. */
  readonly command?: readonly string[] | undefined
  /** The most important numbers. Every format for people shows all of them. */
  readonly facts: readonly Fact[]
  /** The findings in the order of the command. A format that shortens the list puts the worst first. */
  readonly findings: readonly Finding[]
  /** Everything that was examined, including passed and skipped checks, for formats that list tests. */
  readonly checks: readonly Check[]
  /** Additional information such as tables, only for HTML and Markdown. */
  readonly sections: readonly Section[]
  /** The JSON report of the command, whose shape is in `docs/schemas`. The format `json` writes only this. */
  readonly json: unknown
}

/** The result in a word. */
export function nameResult({ passed, isInconclusive }: Pick<Report, 'passed' | 'isInconclusive'>): string {
  if (isInconclusive) return 'Inconclusive'
  return passed ? 'Passed' : 'Failed'
}

/** When the work of a command began and how long it took, and the exit code if a signal has stopped it. */
export interface CommandTimes extends Pick<Report, 'startedAt' | 'seconds'> {
  interruptedWith?: number | undefined
}

/** One line, such as `Coverage` and `64 % of the responses`. */
export interface Fact {
  readonly name: string
  readonly value: string
}

/** From the worst to the mildest. Only an error makes a report fail. */
export const LEVELS = ['error', 'warning', 'note'] as const
export type FindingLevel = (typeof LEVELS)[number]

/** A kind of finding. It is the same for all such findings in every run. */
export interface ReportRule {
  /** Stable and unique, such as `violation/unknown_field`, the id of an `x-rule`, or the id of an assumption. */
  readonly id: string
  /** A few words: `A field that the contract does not know`. */
  readonly name: string
  /** One or two sentences: the expectation, and the consequences for a client that does not meet it. */
  readonly description: string
}

export interface Finding {
  readonly rule: ReportRule
  readonly level: FindingLevel
  /** One or two sentences about this case. */
  readonly message: string
  /** A JSON pointer into openapi.yaml to the source of the rule. The formats look up its line. */
  readonly pointer?: string | undefined
  readonly request?: ReportedRequest | undefined
  /** How often it occurred, if more than once. */
  readonly occurrences?: number | undefined
  /** Further explanation. */
  readonly details?: readonly Block[] | undefined
  readonly remedy?: FindingRemedy | undefined
}

/** What to do about a finding. */
interface FindingRemedy {
  readonly text: string
  /** A command line for a POSIX shell, such as the corrected request, the overlay, or the replay. */
  readonly command?: string | undefined
}

/** The request of a finding, without keys. */
export interface ReportedRequest {
  readonly method: string
  /** Includes the query. */
  readonly path: string
  readonly requestId?: string | undefined
  /** The address of the request in a dashboard that can be opened. */
  readonly page?: string | undefined
  readonly account?: string | undefined
  readonly operation?: string | undefined
  readonly status?: number | undefined
  readonly code?: string | undefined
  readonly body?: string | undefined
}

/** A part of an explanation. */
export type Block =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  | {
      readonly kind: 'code'
      readonly text: string
      readonly title?: string | undefined
      /** For syntax colours. */
      readonly language?: 'json' | 'yaml' | 'sh' | 'http' | undefined
    }
  | {
      readonly kind: 'comparison'
      readonly expected: string
      readonly received: string
      /** The titles of both sides, if not `Expected` and `Received`. */
      readonly titles?: readonly [expected: string, received: string] | undefined
    }
  | { readonly kind: 'table'; readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] }

export interface Section {
  readonly title: string
  readonly blocks: readonly Block[]
}

/** From the worst to the best. `error` means that the check could not run; the report then fails like for `failed`. */
export const OUTCOMES = ['failed', 'error', 'skipped', 'passed'] as const
export type ReportOutcome = (typeof OUTCOMES)[number]

/** One item that the command examined. */
export interface Check {
  /** Stable and unique in the report. */
  readonly id: string
  /** The group in which the check is shown, such as an operation or an assumption. */
  readonly group?: string | undefined
  readonly name: string
  readonly outcome: ReportOutcome
  /** The reason, if the findings do not contain it. */
  readonly message?: string | undefined
  /** The findings of this check. They are the same objects as in the `findings` of the report. */
  readonly findings?: readonly Finding[] | undefined
  readonly seconds?: number | undefined
}

/** Information from outside of the report that formats need. */
export interface Surroundings {
  /** The version of this program. */
  readonly version: string
  /** The line of openapi.yaml, from 1, for a JSON pointer. If the target has no line, it is the line of the parent. */
  readonly lineOf: (pointer: string) => number
}

/** Writes a report as the text of a file. */
export type Write = (report: Report, surroundings: Surroundings) => string | Promise<string>

/** The findings with the worst first. Findings of the same level keep their order. */
export function worstFirst(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((one, other) => LEVELS.indexOf(one.level) - LEVELS.indexOf(other.level))
}

/** The checks with the failed ones first. Checks with the same outcome keep their order. */
export function failuresFirst(checks: readonly Check[]): Check[] {
  return checks.toSorted((one, other) => OUTCOMES.indexOf(one.outcome) - OUTCOMES.indexOf(other.outcome))
}

/** The number of findings of each level, such as `2 errors and 1 note`, or `no findings`. */
export function countFindings(findings: readonly Finding[]): string {
  const parts = LEVELS.flatMap((level) => {
    const count = findings.filter((finding) => finding.level === level).length
    return count === 0 ? [] : [plural(count, level)]
  })
  if (parts.length === 0) return 'no findings'
  return parts.length === 1 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}
