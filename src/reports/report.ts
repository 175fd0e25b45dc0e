/** The commands that make a report. */
type Tool = 'run' | 'vary' | 'explore' | 'verify' | 'check' | 'proxy' | 'calibrate' | 'assumptions'

/**
 * What a command found out. Every format is written from this one model. Texts are plain: they hold no markup, may hold
 * anything that a client sent, and hold no key. Each format escapes them itself.
 */
export interface Report {
  readonly tool: Tool
  /** What was looked at, in a few words: `npm test`. */
  readonly title: string
  /** What came out, in one or two sentences. */
  readonly summary: string
  /** Whether the command ends with 0. A report that has not passed shows a failure in every format. */
  readonly passed: boolean
  readonly exitCode: number
  /** When the work began, as an RFC 3339 instant in UTC. */
  readonly startedAt?: string | undefined
  readonly seconds: number
  /** The user's own command, as its words. */
  readonly command?: readonly string[] | undefined
  /** The few numbers that a person wants beside the summary; every format for people shows all of them. */
  readonly facts: readonly Fact[]
  /** What a person should read, in the order of the command; each format that shortens the list puts the worst first. */
  readonly findings: readonly Finding[]
  /** Everything that was looked at, also what is right or was left out, so that a list of tests can show it. */
  readonly checks: readonly Check[]
  /** What else a person may want to know, such as tables; the formats HTML and Markdown have it. */
  readonly sections: readonly Section[]
  /** The command's own report, whose shape `docs/schemas` has; the format `json` writes it and nothing else. */
  readonly json: unknown
}

/** One line: `Coverage`, `64 % of the responses`. */
export interface Fact {
  readonly name: string
  readonly value: string
}

/** From the worst to the mildest. Only an error makes a report fail. */
export const LEVELS = ['error', 'warning', 'note'] as const
export type Level = (typeof LEVELS)[number]

/** The kind of a finding, the same for all findings of this kind in every run. */
export interface Rule {
  /** Stable and unique, such as `violation/unknown_field`, the id of an `x-rule` or of an assumption. */
  readonly id: string
  /** A few words: `A field that the contract does not know`. */
  readonly name: string
  /** One or two sentences: what is expected, and what happens to a client that does otherwise. */
  readonly description: string
}

export interface Finding {
  readonly rule: Rule
  readonly level: Level
  /** One or two sentences about this case. */
  readonly message: string
  /** Where the contract says it: a JSON pointer into openapi.yaml, whose line the formats look up. */
  readonly pointer?: string | undefined
  readonly request?: ReportedRequest | undefined
  /** How often it was seen, if more than once. */
  readonly occurrences?: number | undefined
  /** What explains it further. */
  readonly details?: readonly Block[] | undefined
  readonly remedy?: Remedy | undefined
}

/** What to do about a finding. */
interface Remedy {
  readonly text: string
  /** A line for a POSIX shell: the corrected request, the overlay, the replay. */
  readonly command?: string | undefined
}

/** The request that a finding is about, without keys. */
export interface ReportedRequest {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly requestId?: string | undefined
  readonly account?: string | undefined
  readonly operation?: string | undefined
  readonly status?: number | undefined
  readonly code?: string | undefined
  readonly body?: string | undefined
}

/** A piece of an explanation; each format shows it as well as it can. */
export type Block =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  | {
      readonly kind: 'code'
      readonly text: string
      readonly title?: string | undefined
      /** For colours, where a format has them. */
      readonly language?: 'json' | 'yaml' | 'sh' | 'http' | undefined
    }
  | {
      readonly kind: 'comparison'
      readonly expected: string
      readonly received: string
      /** What the two are called, if not `Expected` and `Received`. */
      readonly titles?: readonly [expected: string, received: string] | undefined
    }
  | { readonly kind: 'table'; readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] }

export interface Section {
  readonly title: string
  readonly blocks: readonly Block[]
}

/** From the worst to the best. `error` is for a check that could not be made, and makes a report fail like `failed`. */
export const OUTCOMES = ['failed', 'error', 'skipped', 'passed'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** One thing that was looked at. */
export interface Check {
  /** Stable and unique in the report. */
  readonly id: string
  /** Checks of one group are shown together: the operation, the assumption. */
  readonly group?: string | undefined
  readonly name: string
  readonly outcome: Outcome
  /** Why it is so, if the finding does not say it. */
  readonly message?: string | undefined
  /** What was found by it: the same objects as in `findings` of the report. */
  readonly findings?: readonly Finding[] | undefined
  readonly seconds?: number | undefined
}

/** What the formats know of the world around a report. */
export interface Surroundings {
  /** The version of this program. */
  readonly version: string
  /** The line of openapi.yaml, from 1, that a JSON pointer leads to, or the line of what holds it. */
  readonly lineOf: (pointer: string) => number
}

/** Writes a report as the text of a file. */
export type Write = (report: Report, surroundings: Surroundings) => string | Promise<string>

/** The findings with the worst first, otherwise in their order. */
export function worstFirst(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((one, other) => LEVELS.indexOf(one.level) - LEVELS.indexOf(other.level))
}

/** The checks with those that failed first, otherwise in their order. */
export function failuresFirst(checks: readonly Check[]): Check[] {
  return checks.toSorted((one, other) => OUTCOMES.indexOf(one.outcome) - OUTCOMES.indexOf(other.outcome))
}

/** How many findings there are of each level: `2 errors and 1 note`; without any, `no findings`. */
export function countFindings(findings: readonly Finding[]): string {
  const parts = LEVELS.flatMap((level) => {
    const count = findings.filter((finding) => finding.level === level).length
    return count === 0 ? [] : [`${count} ${level}${count === 1 ? '' : 's'}`]
  })
  if (parts.length === 0) return 'no findings'
  return parts.length === 1 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}
