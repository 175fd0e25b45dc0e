import { plural } from '../ground/show.ts'

type Tool = 'run' | 'vary' | 'explore' | 'verify' | 'check' | 'proxy' | 'calibrate'

/**
 * The result of a command, the one model of all formats: what came out in a sentence, some facts, the findings, and
 * perhaps a table of everything that was looked at. Texts are plain: they contain no markup, but may contain text of a
 * client. Each format escapes them, and they are redacted before a format sees them.
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
  /** The most important numbers. */
  readonly facts: readonly Fact[]
  /** The findings in the order of the command. A format that shortens the list puts the worst first. */
  readonly findings: readonly Finding[]
  /** What was looked at, also where nothing was found. Each row is a case of a test report. */
  readonly table?: Table | undefined
  /** What `--report json=FILE` has. */
  readonly json: unknown
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
  readonly description?: string | undefined
}

export interface Finding {
  readonly rule: ReportRule
  readonly level: FindingLevel
  /** One or two sentences about this case. */
  readonly message: string
  /** A JSON pointer into openapi.yaml to the source of the rule. */
  readonly pointer?: string | undefined
  readonly request?: ReportedRequest | undefined
  /** How often it occurred, if more than once. */
  readonly occurrences?: number | undefined
  /** Texts that are quoted as they are, such as a body or what a command printed. */
  readonly details?: readonly Detail[] | undefined
  readonly remedy?: FindingRemedy | undefined
  /** The name of the row of the table that it is about, unless that is the id of its rule. */
  readonly row?: string | undefined
}

interface Detail {
  readonly title: string
  readonly text: string
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

export interface Table {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly Row[]
}

/** One item that the command looked at. */
export interface Row {
  /** What came out for the item. A row that is only information has none, and is no case of a test report. */
  readonly outcome?: 'failed' | 'skipped' | 'passed' | undefined
  /** The first cell is the name, which is unique in the table. */
  readonly cells: readonly string[]
}

/** The facts in this order. A fact whose value is `false` does not apply. */
export function listFacts(values: Readonly<Record<string, string | false>>): Fact[] {
  return Object.entries(values).flatMap(([name, value]) => (value === false ? [] : [{ name, value }]))
}

/** The result in a word. */
export function nameResult({ passed, isInconclusive }: Pick<Report, 'passed' | 'isInconclusive'>): string {
  if (isInconclusive) return 'Inconclusive'
  return passed ? 'Passed' : 'Failed'
}

/** The findings with the worst first. Findings of the same level keep their order. */
export function worstFirst(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((one, other) => LEVELS.indexOf(one.level) - LEVELS.indexOf(other.level))
}

/** The number of findings of each level, such as `2 errors, 1 note`, or `no findings`. */
export function countFindings(findings: readonly Finding[]): string {
  const parts = LEVELS.flatMap((level) => {
    const count = findings.filter((finding) => finding.level === level).length
    return count === 0 ? [] : [plural(count, level)]
  })
  return parts.length === 0 ? 'no findings' : parts.join(', ')
}

/** `POST /domains → 400 unknown_field` */
export function describeRequest({ method, path, status, code }: ReportedRequest): string {
  const answer = [status, code].filter((each) => each !== undefined).join(' ')
  return `${method} ${path}${answer === '' ? '' : ` → ${answer}`}`
}

/** Where a finding is: `POST /domains → 400`, `openapi.yaml#/paths/~1domains/post`, `request 4be0643f`, `3 times`. */
export function placesOf({ request, pointer, occurrences = 1 }: Finding): string[] {
  const { requestId: id, account } = request ?? {}
  return [
    ...(request === undefined ? [] : [describeRequest(request)]),
    ...(pointer === undefined ? [] : [`openapi.yaml#${pointer}`]),
    // An id that this program has made for a request without one begins with the word.
    ...(id === undefined ? [] : [id.startsWith('request ') ? id : `request ${id}`]),
    ...(account === undefined || account === 'default' ? [] : [`account ${account}`]),
    ...(occurrences > 1 ? [`${occurrences} times`] : []),
  ]
}
