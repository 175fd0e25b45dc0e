import { styleText } from 'node:util'
import { printable, shorten } from '../ground/show.ts'
import { foldToWidth, shortenToWidth, widthOf } from './columns.ts'
import {
  countFindings,
  type Fact,
  type Finding,
  type FindingLevel,
  nameResult,
  type Report,
  worstFirst,
} from './report.ts'
import { describePlace, describeRequest } from './wording.ts'

/** The output on which a summary appears. */
export interface SummaryScreen {
  /** The columns and rows of a terminal; `undefined` for a file or a pipe. */
  readonly size: { readonly columns: number; readonly rows: number } | undefined
  readonly colours: boolean
}

/** How many findings a summary shows, so that the user need not scroll. */
export const SUMMARISED = 10
/** The prompt and an empty line above it. */
const RESERVED_ROWS = 2
/** The rows of a terminal that the result may take. */
const VERDICT_ROWS = 3
/** The most characters of a text for reading. */
const LONGEST_TEXT = 1000
/** The most characters of a command. The user copies it, so it is shown in full except in extreme cases. */
const LONGEST_COMMAND = 2000
const LONGEST_REQUEST = 200

type Style = Parameters<typeof styleText>[0]
const LEVEL_STYLES: Readonly<Record<FindingLevel, Style>> = { error: 'red', warning: 'yellow', note: 'cyan' }

/**
 * The report as lines for a terminal: each finding with its reason and its remedy, the facts, and the result at the
 * end. On a terminal it fits the screen: findings without room are shortened to a line, or only counted. Control
 * characters are escaped, because a client may have sent them.
 */
export function summarise(report: Report, lineOf: (pointer: string) => number, screen: SummaryScreen): string[] {
  const paper = paperFor(screen)
  const { paint, columns, rows, heightOf } = paper
  const findings = worstFirst(report.findings)
  const title = shortenToWidth(inline(`dmarc-understudy ${report.tool}: ${report.title}`), columns)
  const head = [paint('bold', title), '']
  const end = [...describeFacts(report.facts, paper), ...describeVerdict(report, paper)]
  for (let count = Math.min(findings.length, SUMMARISED); ; count--) {
    const tail = [...describeRest(findings.slice(count)), ...end]
    const room = rows - RESERVED_ROWS - heightOf([...head, ...tail])
    const lines = describeFindings(findings.slice(0, count), lineOf, paper, room)
    // Even the smallest screen shows one finding.
    if (count <= 1 || heightOf(lines) <= room) return [...head, ...lines, ...tail]
  }
}

/** The screen; without a size, it has no limit. */
interface Paper {
  readonly columns: number
  readonly rows: number
  paint(style: Style, text: string): string
  /** How many rows the lines take on the screen. A long line wraps. */
  heightOf(lines: readonly string[]): number
}

function paperFor({ size, colours }: SummaryScreen): Paper {
  const { columns, rows } = size ?? { columns: Number.POSITIVE_INFINITY, rows: Number.POSITIVE_INFINITY }
  return {
    columns: Math.max(20, columns),
    rows,
    // `colours` applies to standard error; `styleText` would check standard output.
    paint: (style, text) => (colours ? styleText(style, text, { validateStream: false }) : text),
    heightOf: (lines) => lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0),
  }
}

/** Shows as many findings in full as fit, and the others in one line each. */
function describeFindings(
  findings: readonly Finding[],
  lineOf: (pointer: string) => number,
  paper: Paper,
  room: number,
): readonly string[] {
  const whole = findings.map((finding) => describeWhole(finding, lineOf, paper))
  const short = findings.map((finding) => describeShortly(finding, paper))
  for (let count = findings.length; ; count--) {
    const rest = short.slice(count)
    const lines = [...whole.slice(0, count).flat(), ...rest, ...(rest.length === 0 ? [] : [''])]
    if (count === 0 || paper.heightOf(lines) <= room) return lines
  }
}

function describeWhole(
  finding: Finding,
  lineOf: (pointer: string) => number,
  { paint, columns }: Paper,
): readonly string[] {
  const { level, rule, message, request, occurrences = 1, remedy } = finding
  const place = describePlace(finding, lineOf)
  const times = occurrences > 1 ? `  (${occurrences} times)` : ''
  const where = [
    ...(request === undefined ? [] : [inline(describeRequest(request), LONGEST_REQUEST)]),
    ...(place === undefined ? [] : [place]),
    ...(request?.requestId === undefined ? [] : [nameOf(request.requestId)]),
  ].join('  ')
  const texts = [where, inline(message), inline(remedy?.text ?? '')].filter((text) => text !== '')
  return [
    `${paint(LEVEL_STYLES[level], level)}  ${paint('bold', inline(rule.name))}  ${paint('dim', inline(rule.id))}${times}`,
    ...texts.flatMap((text) => foldToWidth(text, columns - 2)).map((line) => `  ${line}`),
    ...(remedy?.command === undefined ? [] : [`  ${paint('cyan', inline(remedy.command, LONGEST_COMMAND))}`]),
    // It is not folded, so that a terminal can open it.
    ...(request?.page === undefined ? [] : [`  ${inline(request.page, LONGEST_COMMAND)}`]),
    '',
  ]
}

/** An id that begins with `request ` was generated by the program and needs no other prefix. */
function nameOf(requestId: string): string {
  return requestId.startsWith('request ') ? inline(requestId) : `request ${inline(requestId)}`
}

function describeShortly({ level, rule, message, request }: Finding, { paint, columns }: Paper): string {
  const about = inline(request === undefined ? rule.name : describeRequest(request), LONGEST_REQUEST)
  const text = shortenToWidth(`${about}: ${inline(message)}`, columns - level.length - 2)
  return `${paint(LEVEL_STYLES[level], level)}  ${text}`
}

function describeRest(findings: readonly Finding[]): string[] {
  if (findings.length === 0) return []
  return [`and ${findings.length} more (${countFindings(findings)}); --report html=FILE shows all`, '']
}

/** A line for each fact. On a terminal, it is cut at the width. */
function describeFacts(facts: readonly Fact[], { paint, columns }: Paper): string[] {
  const names = facts.map(({ name }) => shortenToWidth(inline(name), Math.floor(columns / 3)))
  const width = Math.max(0, ...names.map(widthOf)) + 2
  return facts.map(({ value }, index) => {
    const name = names[index] ?? ''
    const gap = ' '.repeat(width - widthOf(name))
    return `${paint('dim', name)}${gap}${shortenToWidth(inline(value), columns - width)}`
  })
}

function describeVerdict(report: Report, { paint, columns }: Paper): string[] {
  const result = nameResult(report).toUpperCase()
  const word = paint(report.passed ? 'green' : 'red', result)
  const indent = result.length + 2
  const lines = foldToWidth(inline(report.summary), columns - indent)
  const shown = columns === Number.POSITIVE_INFINITY ? lines : lines.slice(0, VERDICT_ROWS)
  return shown.map((line, index) => `${index === 0 ? `${word}  ` : ' '.repeat(indent)}${line}`)
}

/** One line without control characters for a terminal. */
function inline(text: string, limit = LONGEST_TEXT): string {
  return printable(shorten(text.trim(), limit).replaceAll(/\s*\n\s*/g, ' '))
}
