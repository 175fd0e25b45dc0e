import type { LineOf } from '../contract/lines.ts'
import { shorten } from '../ground/show.ts'
import { FORMAT_NAMES } from '../reports/formats.ts'
import type { Report, Surroundings } from '../reports/report.ts'
import {
  checkTarget,
  findShared,
  type NamedFile,
  type ReportTarget,
  readReportTarget,
  refuseReportTarget,
} from '../reports/targets.ts'
import type { OptionKind, Options } from '../server/option.ts'
import type { DiscreetTerminal } from './discreet-terminal.ts'
import { UsageError } from './errors.ts'
import { readVersion } from './version.ts'

const reports: OptionKind<readonly ReportTarget[]> = {
  type: 'readonly ReportTarget[]',
  remedy: `must be FORMAT=FILE, where FORMAT is ${FORMAT_NAMES.join(', ')}`,
  remedyFor: refuseReportTarget,
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

/** The exit code if a file could not be written. */
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
  const [{ boundReport }, { summarise }, { writeReports }] = await loadReporting()
  const surroundings = { version: readVersion(), lineOf: await readLinesFor(report) }
  const bounded = boundReport(report, terminal.redact)
  const summary = isRead ? [] : summarise(bounded, surroundings.lineOf, terminal.screen)
  if (terminal.environment['GITHUB_ACTIONS'] === 'true') await deliverToGitHub(bounded, summary, surroundings, terminal)
  else for (const line of summary) terminal.printError(line)
  const failures = await writeReports(bounded, targets, surroundings)
  for (const { target, reason } of failures) terminal.printError(`dmarc-understudy: ${sourceOf(target)}: ${reason}`)
  return failures.length === 0 ? report.exitCode : NOT_WRITTEN
}

/** Loads the modules for `deliverReport`. An idle command may call it early. The work itself never waits for it. */
export function loadReporting() {
  return Promise.all([import('../reports/bounds.ts'), import('../reports/summary.ts'), import('../reports/targets.ts')])
}

/** Finding the lines is the slowest part, so it is skipped if no finding has a pointer. */
async function readLinesFor({ findings }: Report): Promise<LineOf> {
  if (findings.every(({ pointer }) => pointer === undefined)) return () => 1
  const { readLines } = await import('../contract/lines.ts')
  return readLines()
}

/** The runner removes the secrets that it knows from the log. A failed write to the step summary is not an error. */
async function deliverToGitHub(
  report: Report,
  summary: readonly string[],
  surroundings: Surroundings,
  terminal: DiscreetTerminal,
): Promise<void> {
  const { annotate, appendStepSummary, withoutCommands } = await import('../reports/github.ts')
  for (const line of summary) terminal.printError(withoutCommands(line))
  for (const line of annotate(report, surroundings)) terminal.printError(line)
  const { GITHUB_STEP_SUMMARY: file } = terminal.environment
  const problem = file ? await appendStepSummary(report, surroundings, file) : 'is not set, so the step has no summary'
  if (problem !== undefined) terminal.printError(`dmarc-understudy: warning: GITHUB_STEP_SUMMARY ${problem}`)
}
