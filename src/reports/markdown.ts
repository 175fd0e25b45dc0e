import { printable } from '../ground/show.ts'
import {
  countFindings,
  type Finding,
  nameResult,
  placesOf,
  type Report,
  type Row,
  type Table,
  worstFirst,
} from './report.ts'

/** The longest comment on a pull request, in characters. */
export const LONGEST_COMMENT = 65_536
/** Space for the sentence about the omitted parts, in the unit of the measure. */
const RESERVED = 400

/** The maximum length of a Markdown text, and how its length is measured. */
interface Room {
  readonly limit: number
  measure(text: string): number
}

const COMMENT: Room = { limit: LONGEST_COMMENT, measure: (text) => text.length }
/** A text without a limit. */
export const WHOLE: Room = { limit: Number.POSITIVE_INFINITY, measure: (text) => text.length }

/**
 * The report as GitHub-flavoured Markdown: first the findings, the worst on top, then the table. By default it fits into
 * a comment on a pull request: the output stops at the first part that does not fit, and a sentence says how much is left
 * out.
 */
export function writeMarkdown(report: Report, { limit, measure }: Room = COMMENT): string {
  const { tool, title, passed, summary, facts, table } = report
  const verdict = `${passed ? '✅' : '❌'} ${nameResult(report)}`
  const parts = [`## dmarc-understudy ${tool}: ${escapeText(title)}`, `**${verdict}.** ${escapeText(summary)}`]
  const pairs = facts.map(({ name, value }) => [name, value])
  if (pairs.length > 0) parts.push(writeTable(['', ''], pairs))
  const findings = worstFirst(report.findings)
  const others = [...findings.map(describeFinding), ...(table === undefined ? [] : [describeTable(table)])]
  let room = limit - RESERVED - parts.reduce((sum, part) => sum + measure(part) + 2, 0)
  const end = others.findIndex((part) => {
    room -= measure(part) + 2
    return room < 0
  })
  const shown = end < 0 ? others.length : end
  parts.push(...others.slice(0, shown))
  if (shown < others.length) {
    const left = findings.slice(shown)
    const rest = left.length === 0 ? 'the table' : countFindings(left) + (shown > 0 ? ' more' : '')
    parts.push(`_Left out, because the text would be too long: ${rest}. \`--report html=FILE\` shows all._`)
  }
  return `${parts.join('\n\n')}\n`
}

function describeFinding(finding: Finding): string {
  const { rule, level, message, request, details = [], remedy } = finding
  const texts = [...(request?.body === undefined ? [] : [{ title: 'Body', text: request.body }]), ...details]
  const quotes = texts.map(({ title, text }) => `${escapeText(title)}:\n\n${fence(text)}`)
  return [
    `### ${level[0]?.toUpperCase()}${level.slice(1)}: ${escapeText(rule.name)}`,
    [rule.id, ...placesOf(finding)].map(code).join(' · '),
    escapeText(message),
    ...(rule.description === undefined ? [] : [escapeText(rule.description)]),
    ...(remedy === undefined ? [] : [`**Remedy:** ${escapeText(remedy.text)}`]),
    ...(remedy?.command === undefined ? [] : [fence(remedy.command, 'sh')]),
    ...(quotes.length === 0 ? [] : [fold('Details', quotes.join('\n\n'))]),
  ].join('\n\n')
}

const OUTCOMES = { failed: '❌', skipped: '➖', passed: '✅' } as const

/** The table, with the outcomes in a column before the others if there are any. */
function describeTable({ title, columns, rows }: Table): string {
  const hasOutcomes = rows.some(({ outcome }) => outcome !== undefined)
  const mark = ({ outcome }: Row) => (hasOutcomes ? [outcome === undefined ? '' : OUTCOMES[outcome]] : [])
  const text = writeTable(
    hasOutcomes ? ['', ...columns] : columns,
    rows.map((row) => [...mark(row), ...row.cells]),
  )
  return fold(title, text)
}

/** A part that a reader opens. Its title is from this program. */
function fold(title: string, text: string): string {
  return `<details><summary>${title}</summary>\n\n${text}\n\n</details>`
}

function writeTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => escapeText(cell)).join(' | ')} |`
  return [line(columns), `|${' --- |'.repeat(columns.length)}`, ...rows.map(line)].join('\n')
}

/**
 * Escapes a text to one line that renders as written. It contains no markup, mention, issue reference or link, because
 * a client may have sent it.
 */
export function escapeText(text: string): string {
  return printable(text.replaceAll(/\s+/g, ' ').trim())
    .replaceAll(/[&<>]/g, (character) => ENTITIES[character] ?? character)
    .replaceAll(/[\\`*_{}[\]()#+\-!|~$^=]/g, '\\$&')
    .replaceAll(/@/g, '@&#8203;')
    .replaceAll(/\\#(?=\d)|GH\\-(?=\d)/gi, '$&&#8203;')
    .replaceAll(/:(?=\/\/|\w)/g, '&#58;')
    .replaceAll(/(?<=www)\./gi, '&#46;')
    .replaceAll(/^(\d+)\./g, '$1\\.')
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Inline code without markup. */
export function code(text: string): string {
  const line = printable(text.replaceAll(/\s+/g, ' '))
  const fence = '`'.repeat(longestRun(line) + 1)
  const gap = /^`|`$|^ .* $/.test(line) ? ' ' : ''
  return `${fence}${gap}${line}${gap}${fence}`
}

/** A code block without markup. */
function fence(text: string, language = ''): string {
  const marks = '`'.repeat(Math.max(3, longestRun(text) + 1))
  const lines = text.split(/\r\n|[\r\n]/).map((line) => line.split('\t').map(printable).join('\t'))
  return `${marks}${language}\n${lines.join('\n')}\n${marks}`
}

function longestRun(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
}
