import { existsSync } from 'node:fs'
import { type Choices, readChoices } from '../contract/choices.ts'
import { readOverlays } from '../contract/overlay.ts'
import {
  type AppliedBaseline,
  applyBaseline,
  dayOf,
  lookedAt,
  readBaseline,
  updateBaseline,
  writeBaseline,
} from '../evidence/baseline.ts'
import { writeEvidence } from '../evidence/evidence-file.ts'
import { EvidenceError } from '../evidence/evidence-input.ts'
import { systemClock } from '../ground/clock.ts'
import type { AnswerCounts } from '../judge/answer-counts.ts'
import { FAIL_ON, type JudgedDifference } from '../judge/finding.ts'
import type { Conclusion } from '../judge/judge.ts'
import type { Report } from '../reports/report.ts'
import { fileName, type Options, oneOf, optIn } from '../server/option.ts'
import { UsageError } from './errors.ts'
import type { Execution } from './execution.ts'
import type { ReadOptions } from './options.ts'
import { checkFiles, NOT_WRITTEN, type OtherFile, REPORT_OPTIONS } from './reports.ts'
import { SERVICE_OVERLAYS } from './target-options.ts'

/** The options of every command that judges a service. */
export const REVIEW_OPTIONS = {
  overlays: SERVICE_OVERLAYS,
  evidence: {
    kind: fileName,
    help: 'Write the results to FILE at the end, for calibrate. It holds no key.',
  },
  baseline: {
    kind: fileName,
    help: 'JSON file of known findings that do not count, each with a reason, and perhaps with a last day.',
  },
  updateBaseline: optIn(
    'Write the findings of this run to the file of --baseline. A finding that is gone is removed from the file only if this run looked for it.',
  ),
  ...REPORT_OPTIONS,
} as const satisfies Options

/** The option of the commands that see a service and its clients. */
export const FAIL_ON_OPTION = {
  kind: oneOf(FAIL_ON),
  help: 'Whose mistakes fail the run. The mistakes of the others are shown.',
  default: 'service',
} as const

/** What a command has found out about a service. */
interface Found {
  conclusion: Conclusion
  report: Report
  /** All findings that would count without the baseline. */
  findings: readonly JudgedDifference[]
  /** Whether the command has looked at everything, so that the baseline may be rewritten. */
  isWhole: boolean
  /** The base URL of the service, if it is known, and all known keys. */
  target: string | undefined
  secrets: readonly string[]
}

/** How a service is judged, and what that leaves. */
export interface Review {
  choices: Choices
  /** Separates the accepted findings from the others, which count; `undefined` if there is no baseline. */
  apply<Given extends Pick<JudgedDifference, 'id'>>(
    findings: readonly Given[],
    answers: AnswerCounts,
  ): AppliedBaseline<Given> | undefined
  /** Writes the evidence, the baseline and the reports that the user asked for. Resolves to the exit code. */
  finish(found: Found, execution: Execution): Promise<number>
}

/**
 * Checks all files of a command before its work, and reads its overlays and its baseline. The baseline may be missing
 * if it is to be written. `others` are the files of further options. @throws UsageError, EvidenceError, ContractError
 */
export async function openReview(
  tool: 'check' | 'proxy' | 'verify',
  { values, sources }: Pick<ReadOptions<typeof REVIEW_OPTIONS>, 'values' | 'sources'>,
  others: readonly OtherFile[],
): Promise<Review> {
  const { evidence, baseline: file, updateBaseline: isUpdated, report: targets } = values
  if (isUpdated && file === undefined) throw new UsageError('--update-baseline: needs --baseline FILE, which it writes')
  await checkFiles(targets, [
    ...others,
    { source: sources.baseline, file, isRead: !isUpdated },
    { source: sources.evidence, file: evidence },
  ])
  const isNew = file === undefined || (isUpdated && !existsSync(file))
  const baseline = isNew ? { findings: [] } : await readBaseline(file)
  const choices = await readChoices(await readOverlays(values.overlays))

  return {
    choices,
    apply: (findings, answers) =>
      file === undefined ? undefined : applyBaseline(findings, lookedAt(answers), baseline, dayOf(systemClock())),
    async finish({ conclusion, report, findings, isWhole, target, secrets }, execution) {
      execution.terminal.learn(secrets)
      // The report comes first, so nothing that prevents the other files can keep it back.
      let code = await execution.deliver(report, targets)
      /** If a file cannot be written, the others are written all the same. */
      async function attempt(write: () => Promise<void>): Promise<void> {
        try {
          await write()
        } catch (error) {
          if (!(error instanceof EvidenceError)) throw error
          code = execution.say(`${tool}: ${error.message}`, NOT_WRITTEN)
        }
      }
      const seen = { tool, choices, overlays: values.overlays, targets: target === undefined ? [] : [target], secrets }
      if (evidence !== undefined) await attempt(() => writeEvidence(evidence, conclusion, seen))
      if (isUpdated && isWhole && file !== undefined) {
        await attempt(() => writeBaseline(file, updateBaseline(findings, lookedAt(conclusion.answers), baseline)))
      }
      return code
    },
  }
}
