import { existsSync } from 'node:fs'
import { type Choices, readChoices } from '../contract/choices.ts'
import { readOverlays } from '../contract/overlay.ts'
import {
  type AppliedBaseline,
  applyBaseline,
  dayOf,
  type Looked,
  lookedAt,
  readBaseline,
  updateBaseline,
  writeBaseline,
} from '../evidence/baseline.ts'
import { writeEvidence } from '../evidence/evidence-file.ts'
import { systemClock } from '../ground/timers.ts'
import { FAIL_ON, type FailOn, isCounted, type JudgedDifference } from '../judge/finding.ts'
import type { Conclusion } from '../judge/judge.ts'
import type { Report } from '../reports/report.ts'
import { fileName, type OptionKind, type Options, oneOf, optIn, textThat, type Values } from '../server/option.ts'
import { COMMAND_LINE_OPTIONS } from '../server/option-table.ts'
import type { Execution } from './execution.ts'
import { type ReadOptions, UsageError } from './options.ts'
import { checkFiles, type OtherFile, REPORT_OPTIONS } from './reports.ts'

const SCHEMES = 'must begin with http:// or https://'

/** The base URL of a service. */
export const baseUrl: OptionKind<string> = {
  ...textThat((written) => refuseUrl(written) === undefined, `${SCHEMES}, such as https://api.example.com`, 'URL'),
  remedy: (written) => refuseUrl(`${written}`) ?? '',
  shows: (written) => (hasCredentials(written) ? undefined : written),
}

/** Why this is no base URL, as the end of a sentence. */
function refuseUrl(written: string): string | undefined {
  if (hasCredentials(written)) return 'must not hold credentials; the key is sent in a header field'
  if (!/^https?:\/\//i.test(written)) return `${SCHEMES}, such as https://api.example.com`
  if (!URL.canParse(written)) return 'must be a URL such as https://api.example.com'
  return /[?#]/.test(written) ? 'must not have a query or a fragment' : undefined
}

/** Whether there is a user, and perhaps a password, before the host. */
function hasCredentials(written: string): boolean {
  return /^[^/?#]*\/\/[^/?#]*@/.test(written) || (URL.canParse(written) && new URL(written).username !== '')
}

/** The overlays of a command that judges a service. */
export const SERVICE_OVERLAYS = {
  ...COMMAND_LINE_OPTIONS.overlays,
  help: 'OpenAPI Overlay that changes the assumptions about the service: a YAML or JSON file.',
} as const

/** The options of every command whose findings a file can accept. */
export const BASELINE_OPTIONS = {
  baseline: {
    kind: fileName,
    help: 'JSON file of known findings that do not count, each with a reason, and perhaps with a last day.',
  },
  updateBaseline: optIn(
    'Write the findings of this run to the file of --baseline. A finding that is gone is removed from the file only if this run looked for it.',
  ),
} as const satisfies Options

/** The options of every command that judges a service. */
export const REVIEW_OPTIONS = {
  overlays: SERVICE_OVERLAYS,
  evidence: {
    kind: fileName,
    help: 'Write the results to FILE at the end, for calibrate. It holds no key.',
  },
  ...BASELINE_OPTIONS,
  ...REPORT_OPTIONS,
} as const satisfies Options

/** The option of the commands that see a service and its clients. */
export const FAIL_ON_OPTION = {
  kind: oneOf(FAIL_ON),
  help: 'Whose mistakes fail the run. The mistakes of the others are shown.',
  default: 'service',
} as const

type WithId = Pick<JudgedDifference, 'id'>

/** The findings that the user knows. */
export interface Known {
  /** Separates the accepted findings from the others, which count. Without a baseline, all count. */
  apply(findings: readonly WithId[], looked: Looked): AppliedBaseline
  /** Writes the file, if the user asked for that. @throws EvidenceError */
  update(findings: readonly WithId[], looked: Looked): Promise<void>
}

/**
 * Checks all files of a command before its work, and reads its baseline. The baseline may be missing if it is to be
 * written. `others` are the files of further options. @throws UsageError, EvidenceError
 */
export async function openBaseline(
  {
    values,
    sources,
  }: { values: Values<typeof BASELINE_OPTIONS & typeof REPORT_OPTIONS>; sources: Record<'baseline', string> },
  others: readonly OtherFile[],
): Promise<Known> {
  const { baseline: file, updateBaseline: isUpdated, report } = values
  if (isUpdated && file === undefined) throw new UsageError('--update-baseline: needs --baseline FILE, which it writes')
  await checkFiles(report, [...others, { source: sources.baseline, file, isRead: !isUpdated }])
  const isNew = file === undefined || (isUpdated && !existsSync(file))
  const baseline = isNew ? { findings: [] } : await readBaseline(file)
  return {
    apply: (findings, looked) => applyBaseline(findings, looked, baseline, dayOf(systemClock())),
    async update(findings, looked) {
      if (isUpdated && file !== undefined) await writeBaseline(file, updateBaseline(findings, looked, baseline))
    },
  }
}

/** What a command has found out about a service. */
interface Found {
  conclusion: Conclusion
  report: Report
  /** Whose mistakes count. */
  failOn: FailOn
  /** Whether the command has looked at everything, so that the baseline may be rewritten. */
  isWhole: boolean
  /** The base URL of the service, if it is known, and all known keys. */
  target: string | undefined
  secrets: readonly string[]
}

/** How a service is judged, and what that leaves. */
export interface Review {
  choices: Choices
  /** What the baseline says about these findings. */
  compare(conclusion: Pick<Conclusion, 'answers'> & { findings: readonly WithId[] }): AppliedBaseline
  /** Writes the reports, the evidence and the baseline that the user asked for. Resolves to the exit code. */
  finish(found: Found, execution: Execution): Promise<number>
}

/** The same for a command that judges a service. @throws UsageError, EvidenceError, ContractError */
export async function openReview(
  tool: 'check' | 'proxy' | 'verify',
  { values, sources }: Pick<ReadOptions<typeof REVIEW_OPTIONS>, 'values' | 'sources'>,
  others: readonly OtherFile[],
): Promise<Review> {
  const { evidence, overlays } = values
  const known = await openBaseline({ values, sources }, [...others, { source: sources.evidence, file: evidence }])
  const choices = await readChoices(await readOverlays(overlays))
  return {
    choices,
    compare: ({ findings, answers }) => known.apply(findings, lookedAt(answers)),
    async finish({ conclusion, report, failOn, isWhole, target, secrets }, execution) {
      execution.terminal.learn(secrets)
      // The report comes first, so nothing that prevents the other files can keep it back.
      let code = await execution.deliver(report, values.report)
      const seen = { tool, choices, overlays, targets: target === undefined ? [] : [target], secrets }
      if (evidence !== undefined) code = await execution.keep(code, () => writeEvidence(evidence, conclusion, seen))
      const counted = conclusion.findings.filter((finding) => isCounted(finding, failOn))
      return isWhole ? execution.keep(code, () => known.update(counted, lookedAt(conclusion.answers))) : code
    },
  }
}
