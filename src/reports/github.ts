import { appendFile, stat } from 'node:fs/promises'
import { printable } from '../ground/show.ts'
import { renderMarkdown } from './markdown.ts'
import {
  countFindings,
  type Finding,
  LEVELS,
  type Level,
  type Report,
  type Surroundings,
  worstFirst,
} from './report.ts'
import { CONTRACT_FILE, describeRequest } from './wording.ts'

/** How many annotations of each level a step can have. */
export const ANNOTATIONS = 10
/** The largest summary of a step, in bytes. */
export const LARGEST_SUMMARY = 1024 * 1024
const COMMANDS: Readonly<Record<Level, string>> = { error: 'error', warning: 'warning', note: 'notice' }

/**
 * The workflow commands, one a line, that make the findings annotations. The runner reads them from standard output and
 * from standard error. It shows the first ten of each level, so the rest is one line that says how many there are.
 */
export function annotate(report: Report, { lineOf }: Surroundings): string[] {
  const findings = worstFirst(report.findings)
  const shown = LEVELS.flatMap((level) => {
    // The last notice is left to the rest.
    const most = level === 'note' ? ANNOTATIONS - 1 : ANNOTATIONS
    return findings.filter((finding) => finding.level === level).slice(0, most)
  })
  const rest = findings.filter((finding) => !shown.includes(finding))
  const lines = shown.map((finding) => annotateFinding(finding, lineOf))
  const title = `dmarc-understudy ${report.tool}`
  const hasError = shown.some(({ level }) => level === 'error')
  if (!report.passed && !hasError) lines.unshift(command('error', { title }, report.summary))
  if (rest.length > 0) {
    lines.push(command('notice', { title }, `${countFindings(rest)} more; the summary of the step lists them.`))
  }
  return lines
}

function annotateFinding(finding: Finding, lineOf: (pointer: string) => number): string {
  const { rule, level, message, pointer, request, remedy } = finding
  const place = pointer === undefined ? {} : { file: CONTRACT_FILE, line: String(lineOf(pointer)) }
  const about = request === undefined ? '' : `${describeRequest(request)}: `
  const fix = remedy === undefined ? '' : `\n${remedy.text}${remedy.command === undefined ? '' : `\n${remedy.command}`}`
  return command(COMMANDS[level], { title: rule.name, ...place }, `${about}${message}${fix}`)
}

/** A workflow command: `::error title=…,file=…,line=…::message`. A line break in a text cannot begin another command. */
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

/** A line of the log that the runner cannot take for a workflow command, whatever a client has sent. */
export function withoutCommands(line: string): string {
  return line.replace(/^(\s*):(?=:)/, '$1: ').replaceAll('##[', '# #[')
}

/** Appends the report to the summary of the step. Resolves to why it could not be written, if so. */
export async function appendStepSummary(
  report: Report,
  surroundings: Surroundings,
  file: string,
): Promise<string | undefined> {
  try {
    const used = await stat(file).then(
      ({ size }) => size,
      () => 0,
    )
    const limit = LARGEST_SUMMARY - used - 1
    const text = renderMarkdown(report, surroundings, { limit, measure: Buffer.byteLength })
    if (Buffer.byteLength(text) > limit) return 'has no room left'
    await appendFile(file, `${used > 0 ? '\n' : ''}${text}`)
    return undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    return `cannot be written (${code})`
  }
}
