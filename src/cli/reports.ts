import { readFile } from 'node:fs/promises'
import { shorten } from '../ground/show.ts'
import { FORMAT_NAMES } from '../reports/formats.ts'
import type { Report } from '../reports/report.ts'
import {
  checkReportTargets,
  type ReportTarget,
  readReportTarget,
  refuseReportTarget,
  type Unwritable,
} from '../reports/targets.ts'
import type { Kind, Options } from '../start/option.ts'
import { UsageError } from './errors.ts'
import type { Terminal } from './terminal.ts'

const reports: Kind<readonly ReportTarget[]> = {
  type: 'readonly ReportTarget[]',
  remedy: `must be FORMAT=FILE, where FORMAT is ${FORMAT_NAMES.join(', ')}`,
  remedyFor: refuseReportTarget,
  placeholder: 'FORMAT=FILE',
  repeatable: true,
  fits: (value): value is readonly ReportTarget[] => Array.isArray(value) && value.every((each) => each !== undefined),
  read: readReportTarget,
}

/** The option of every command that makes a report; its value is a list, empty where it is not given. */
export const REPORT_OPTIONS = {
  report: {
    kind: reports,
    help: `Also write a report to FILE. FORMAT is ${FORMAT_NAMES.join(', ')}.`,
    default: [],
  },
} as const satisfies Options

/** Refuses a report that could not be written at the end. To be called before the work begins. @throws UsageError */
export async function checkReports(targets: readonly ReportTarget[]): Promise<void> {
  const problem = await checkReportTargets(targets)
  if (problem !== undefined) throw new UsageError(spell(problem))
}

function spell({ target, reason }: Unwritable): string {
  return `--report ${shorten(`${target.format}=${target.file}`)}: ${reason}`
}

/** What a command ends with when a report could not be written. */
const NOT_WRITTEN = 3

/**
 * Writes the summary to standard error, then each report that was asked for, and on GitHub Actions the annotations and
 * the summary of the step. Resolves to the exit code: that of the report, or 3 where a report could not be written.
 */
export async function deliverReport(
  report: Report,
  targets: readonly ReportTarget[],
  terminal: Terminal,
): Promise<number> {
  const [{ summarise }, { writeReports }, { readLines }] = await Promise.all([
    import('../reports/summary.ts'),
    import('../reports/targets.ts'),
    import('../contract/lines.ts'),
  ])
  const surroundings = { version: await readVersion(), lineOf: await readLines() }
  for (const line of summarise(report, surroundings.lineOf, terminal.screen)) terminal.printError(line)
  const failures = await writeReports(report, targets, surroundings)
  for (const failure of failures) terminal.printError(`dmarc-understudy: ${spell(failure)}`)
  return failures.length === 0 ? report.exitCode : NOT_WRITTEN
}

async function readVersion(): Promise<string> {
  const manifest = await readFile(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
