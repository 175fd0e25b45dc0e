import { plural } from '../ground/plural.ts'
import { printable } from '../ground/show.ts'
import {
  type Block,
  countFindings,
  type Finding,
  nameResult,
  type Report,
  type Surroundings,
  type Write,
  worstFirst,
} from './report.ts'
import { describePlace, describeRequest, EXPECTED_AND_RECEIVED } from './wording.ts'

/** The longest comment on a pull request, in characters. */
export const LONGEST_COMMENT = 65_536
/** Space for the sentence about the omitted parts, in the unit of the measure. */
const RESERVED = 400

/** The maximum length of a Markdown text, and how its length is measured. */
export interface Room {
  readonly limit: number
  measure(text: string): number
}

/** The report as GitHub-flavoured Markdown that fits into a comment on a pull request. */
export const writeMarkdownReport: Write = (report, surroundings) =>
  renderMarkdown(report, surroundings, { limit: LONGEST_COMMENT, measure: (text) => text.length })

/**
 * The report as GitHub-flavoured Markdown: first the findings, the worst on top, then the sections. The output stops at
 * the first part that does not fit, and a sentence says how much is left out.
 */
export function renderMarkdown(report: Report, surroundings: Surroundings, { limit, measure }: Room): string {
  const { tool, title, passed, summary, facts, sections } = report
  const verdict = `${passed ? '✅' : '❌'} ${nameResult(report)}`
  const parts = [`## dmarc-understudy ${tool}: ${escapeText(title)}`, `**${verdict}.** ${escapeText(summary)}`]
  const rows = facts.map(({ name, value }) => [name, value])
  if (rows.length > 0) parts.push(table(['', ''], rows))
  let room = limit - RESERVED - parts.reduce((sum, part) => sum + measure(part) + 2, 0)

  function add(part: string): boolean {
    room -= measure(part) + 2
    if (room >= 0) parts.push(part)
    return room >= 0
  }

  const findings = worstFirst(report.findings)
  const left = findings.slice(countWhile(findings, (finding) => add(describeFinding(finding, surroundings))))
  let rest: string | undefined
  if (left.length > 0) rest = countFindings(left) + (left.length < findings.length ? ' more' : '')
  else {
    const shown = countWhile(sections, ({ title, blocks }) =>
      add(`### ${escapeText(title)}\n\n${blocks.map(describeBlock).join('\n\n')}`),
    )
    if (shown < sections.length) rest = plural(sections.length - shown, 'more section')
  }
  if (rest !== undefined) {
    parts.push(`_Left out, because the text would be too long: ${rest}. \`--report html=FILE\` shows all._`)
  }
  return `${parts.join('\n\n')}\n`
}

/** How many items at the beginning pass. */
function countWhile<Item>(items: readonly Item[], passes: (item: Item) => boolean): number {
  const end = items.findIndex((item) => !passes(item))
  return end < 0 ? items.length : end
}

function describeFinding(finding: Finding, { lineOf }: Surroundings): string {
  const { rule, level, message, request, details = [], remedy, occurrences = 1 } = finding
  const place = describePlace(finding, lineOf)
  const where = [
    ...(request === undefined ? [] : [code(describeRequest(request))]),
    ...(place === undefined ? [] : [code(place)]),
    ...(request?.requestId === undefined ? [] : [`request ${code(request.requestId)}`]),
    ...(occurrences > 1 ? [`${occurrences} times`] : []),
  ]
  const more = [
    ...(request?.body === undefined ? [] : [`Body:\n\n${fence(request.body)}`]),
    ...details.map(describeBlock),
  ]
  return [
    `### ${level[0]?.toUpperCase()}${level.slice(1)}: ${escapeText(rule.name)}`,
    `${code(rule.id)}${where.length === 0 ? '' : ` · ${where.join(' · ')}`}`,
    escapeText(message),
    ...(remedy === undefined ? [] : [`**Remedy:** ${escapeText(remedy.text)}`]),
    ...(remedy?.command === undefined ? [] : [fence(remedy.command, 'sh')]),
    ...(more.length === 0 ? [] : [`<details><summary>Details</summary>\n\n${more.join('\n\n')}\n\n</details>`]),
  ].join('\n\n')
}

function describeBlock(block: Block): string {
  switch (block.kind) {
    case 'text':
      return escapeText(block.text)
    case 'list':
      return block.items.map((item) => `- ${escapeText(item)}`).join('\n')
    case 'code':
      return `${block.title === undefined ? '' : `${escapeText(block.title)}:\n\n`}${fence(block.text, block.language)}`
    case 'comparison': {
      const [expected, received] = block.titles ?? EXPECTED_AND_RECEIVED
      return [
        `${escapeText(expected)}:`,
        fence(block.expected),
        `${escapeText(received)}:`,
        fence(block.received),
      ].join('\n\n')
    }
    case 'table':
      return table(block.columns, block.rows)
  }
}

function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
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

/** Inline code without markup. Bars are escaped, because a bar ends a table cell even in code. */
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
