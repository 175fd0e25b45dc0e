import { styleText } from 'node:util'
import { printable, shorten } from '../ground/show.ts'
import { foldToWidth, shortenToWidth, widthOf } from './columns.ts'
import { countFindings, type Fact, type Finding, type Level, type Report, worstFirst } from './report.ts'
import { describePlace, describeRequest } from './wording.ts'

/** What a summary is written for. */
export interface Screen {
  /** Characters in a line and lines, of a terminal; `undefined` for a file or a pipe, which has no end. */
  readonly size: { readonly columns: number; readonly rows: number } | undefined
  readonly colours: boolean
}

/** How many findings a summary names, so that nobody has to scroll. */
export const SUMMARISED = 10
/** The prompt, and an empty line above it. */
const RESERVED_ROWS = 2
/** The lines of a terminal that what came out may take. */
const VERDICT_ROWS = 3
/** Enough of a text that is meant to be read, in characters. */
const LONGEST_TEXT = 1000
/** A remedy is there to be copied, so it is shown whole if it is not absurdly long. */
const LONGEST_COMMAND = 2000
const LONGEST_REQUEST = 200

type Style = Parameters<typeof styleText>[0]
const LEVEL_STYLES: Readonly<Record<Level, Style>> = { error: 'red', warning: 'yellow', note: 'cyan' }

/**
 * The report for a person at a terminal, as lines: each finding with its reason and its remedy, the facts, and at the end
 * what came out. On a terminal it fits the screen: findings that do not are shortened to a line, or counted. Control
 * characters, which a client may have sent, are escaped.
 */
export function summarise(report: Report, lineOf: (pointer: string) => number, screen: Screen): string[] {
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
    // One finding is shown on the smallest screen.
    if (count <= 1 || heightOf(lines) <= room) return [...head, ...lines, ...tail]
  }
}

/** A screen to write on; without a size, it is endless. */
interface Paper {
  readonly columns: number
  readonly rows: number
  paint(style: Style, text: string): string
  /** How many lines of the screen the lines take; a long one goes on in the next. */
  heightOf(lines: readonly string[]): number
}

function paperFor({ size, colours }: Screen): Paper {
  const { columns, rows } = size ?? { columns: Number.POSITIVE_INFINITY, rows: Number.POSITIVE_INFINITY }
  return {
    columns: Math.max(20, columns),
    rows,
    // Whether there are colours is decided for standard error; by itself, it would ask standard output.
    paint: (style, text) => (colours ? styleText(style, text, { validateStream: false }) : text),
    heightOf: (lines) => lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0),
  }
}

/** As many of the first findings whole as there is room for, the others in a line each. */
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
    '',
  ]
}

/** An id that says already that it is one of a request is one that the program has given. */
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

/** A line for each fact; on a terminal, no longer than that. */
function describeFacts(facts: readonly Fact[], { paint, columns }: Paper): string[] {
  const names = facts.map(({ name }) => shortenToWidth(inline(name), Math.floor(columns / 3)))
  const width = Math.max(0, ...names.map(widthOf)) + 2
  return facts.map(({ value }, index) => {
    const name = names[index] ?? ''
    const gap = ' '.repeat(width - widthOf(name))
    return `${paint('dim', name)}${gap}${shortenToWidth(inline(value), columns - width)}`
  })
}

function describeVerdict({ passed, summary }: Report, { paint, columns }: Paper): string[] {
  const word = paint(passed ? 'green' : 'red', passed ? 'PASSED' : 'FAILED')
  const lines = foldToWidth(inline(summary), columns - 8)
  const shown = columns === Number.POSITIVE_INFINITY ? lines : lines.slice(0, VERDICT_ROWS)
  return shown.map((line, index) => `${index === 0 ? `${word}  ` : ' '.repeat(8)}${line}`)
}

/** One line, without anything that a terminal would obey. */
function inline(text: string, limit = LONGEST_TEXT): string {
  return printable(shorten(text.trim(), limit).replaceAll(/\s*\n\s*/g, ' '))
}
