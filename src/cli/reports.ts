import { shorten } from '../ground/show.ts'
import { boundReport } from '../reports/bounds.ts'
import { annotate, appendStepSummary, withoutCommands } from '../reports/github.ts'
import type { Report } from '../reports/report.ts'
import {
  checkTarget,
  FORMAT_NAMES,
  findShared,
  type NamedFile,
  type ReportTarget,
  readReportTarget,
  refuseReportTarget,
  writeReport,
} from '../reports/targets.ts'
import { summarise } from '../reports/terminal.ts'
import type { OptionKind, Options } from '../server/option.ts'
import { UsageError } from './options.ts'
import type { DiscreetTerminal } from './terminal.ts'

const reports: OptionKind<readonly ReportTarget[]> = {
  remedy: (wrong) => refuseReportTarget(String(wrong)),
  placeholder: 'FORMAT=FILE',
  repeatable: true,
  fits: (value): value is readonly ReportTarget[] => Array.isArray(value) && value.every((each) => each !== undefined),
  read: readReportTarget,
}

/** The option of every command that makes a report. Its value is a list, which is empty by default. */
export const REPORT_OPTIONS = {
  report: {
    kind: reports,
    help: `Also write a report to FILE. FORMAT is ${FORMAT_NAMES.join(', ')}.`,
    default: [],
  },
} as const satisfies Options

/** A file of another option than `--report`. Without a file, the option is not given. */
export type OtherFile = Omit<NamedFile, 'file'> & { readonly file: string | undefined }

/**
 * Refuses a file that cannot be written, and one that would replace another file of this command. The caller must call
 * it before the work begins. @throws UsageError
 */
export async function checkFiles(targets: readonly ReportTarget[], others: readonly OtherFile[] = []): Promise<void> {
  const reports = targets.map((target) => ({ source: sourceOf(target), file: target.file }))
  const named = others.flatMap(({ file, ...rest }) => (file === undefined ? [] : [{ ...rest, file }]))
  const files: NamedFile[] = [...named, ...reports]
  for (const { source, file, isRead } of files) {
    const reason = isRead ? undefined : await checkTarget(file)
    if (reason !== undefined) throw new UsageError(`${source}: ${reason}`)
  }
  const shared = await findShared(files)
  if (shared === undefined) return
  const { earlier, later } = shared
  throw new UsageError(`${later.source}: is the file of ${earlier.source} already; give each a file of its own`)
}

function sourceOf({ format, file }: ReportTarget): string {
  return `--report ${shorten(`${format}=${file}`)}`
}

export const NOT_WRITTEN = 3

/**
 * Writes the summary to standard error, unless the user has read it already, and then each requested report. On GitHub
 * Actions it also writes the annotations and the summary of the step. No text of it has a secret that the terminal knows.
 * Resolves to the exit code of the report, or to 3 if a report could not be written.
 */
export async function deliverReport(
  report: Report,
  targets: readonly ReportTarget[],
  terminal: DiscreetTerminal,
  isRead = false,
): Promise<number> {
  const bounded = boundReport(report, terminal.redact)
  const summary = isRead ? [] : summarise(bounded, terminal.screen.colours)
  if (terminal.environment['GITHUB_ACTIONS'] === 'true') await deliverToGitHub(bounded, summary, terminal)
  else for (const line of summary) terminal.printError(line)
  let exitCode = report.exitCode
  for (const target of targets) {
    const reason = await writeReport(bounded, target)
    if (reason === undefined) continue
    terminal.printError(`dmarc-understudy: ${sourceOf(target)}: ${reason}`)
    exitCode = NOT_WRITTEN
  }
  return exitCode
}

/** The runner removes the secrets that it knows from the log. A failed write to the step summary is not an error. */
async function deliverToGitHub(report: Report, summary: readonly string[], terminal: DiscreetTerminal): Promise<void> {
  for (const line of summary) terminal.printError(withoutCommands(line))
  for (const line of annotate(report)) terminal.printError(line)
  const { GITHUB_STEP_SUMMARY: file } = terminal.environment
  const problem = file ? await appendStepSummary(report, file) : 'is not set, so the step has no summary'
  if (problem !== undefined) terminal.printError(`dmarc-understudy: warning: GITHUB_STEP_SUMMARY ${problem}`)
}
