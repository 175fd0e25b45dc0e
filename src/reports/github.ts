import { appendFile, stat } from 'node:fs/promises'
import { printable } from '../ground/show.ts'
import { writeMarkdown } from './markdown.ts'
import {
  countFindings,
  describeRequest,
  type Finding,
  type FindingLevel,
  LEVELS,
  type Report,
  worstFirst,
} from './report.ts'

/** The most annotations of each level in a step. */
export const ANNOTATIONS = 10
/** The largest summary of a step, in bytes. */
export const LARGEST_SUMMARY = 1024 * 1024
const COMMANDS: Readonly<Record<FindingLevel, string>> = { error: 'error', warning: 'warning', note: 'notice' }

/**
 * The workflow commands that create the annotations, one per line. The runner reads them from standard output and
 * standard error. It shows the first ten of each level, so one more line counts the rest.
 */
export function annotate(report: Report): string[] {
  const findings = worstFirst(report.findings)
  const shown = LEVELS.flatMap((level) => {
    // The last notice is reserved for the count of the rest.
    const most = level === 'note' ? ANNOTATIONS - 1 : ANNOTATIONS
    return findings.filter((finding) => finding.level === level).slice(0, most)
  })
  const rest = findings.filter((finding) => !shown.includes(finding))
  const title = `dmarc-understudy ${report.tool}`
  const isUnsaid = !report.passed && shown[0]?.level !== 'error'
  const count = `${countFindings(rest)} more; the summary of the step lists them.`
  return [
    ...(isUnsaid ? [command('error', { title }, report.summary)] : []),
    ...shown.map(annotateFinding),
    ...(rest.length > 0 ? [command('notice', { title }, count)] : []),
  ]
}

function annotateFinding({ rule, level, message, request, remedy }: Finding): string {
  const about = request === undefined ? '' : `${describeRequest(request)}: `
  const lines = [about + message, remedy?.text, remedy?.command].filter((line) => line !== undefined)
  return command(COMMANDS[level], { title: rule.name }, lines.join('\n'))
}

/**
 * A workflow command: `::error title=…::message`. Line breaks are escaped, so a text cannot start another
 * command.
 */
function command(name: string, properties: Readonly<Record<string, string>>, message: string): string {
  const pairs = Object.entries(properties).map(([key, value]) => `${key}=${escapeProperty(value)}`)
  return `::${name} ${pairs.join(',')}::${escapeData(message)}`
}

function escapeData(text: string): string {
  const lines = text.split(/\r\n|[\r\n]/).map(printable)
  return lines.map((line) => line.replaceAll('%', '%25')).join('%0A')
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}

/** Makes sure that the runner cannot read a line of the log as a workflow command. A client may have sent its text. */
export function withoutCommands(line: string): string {
  return line.replace(/^(\s*):(?=:)/, '$1: ').replaceAll('##[', '# #[')
}

/** Appends the report to the summary of the step. Resolves to the reason if that failed. */
export async function appendStepSummary(report: Report, file: string): Promise<string | undefined> {
  try {
    const { size: used } = await stat(file).catch(() => ({ size: 0 }))
    const limit = LARGEST_SUMMARY - used - 1
    const text = writeMarkdown(report, { limit, measure: Buffer.byteLength })
    if (Buffer.byteLength(text) > limit) return 'has no room left'
    await appendFile(file, `${used > 0 ? '\n' : ''}${text}`)
    return undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    return `cannot be written (${code})`
  }
}
