import { styleText } from 'node:util'
import { printable, shorten } from '../ground/show.ts'
import { countFindings, type Finding, type Level, type Report, worstFirst } from './report.ts'
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
/** A remedy is there to be copied, so it is shown whole if it is not absurdly long. */
const LONGEST_COMMAND = 2000
const LONGEST_REQUEST = 200

type Style = Parameters<typeof styleText>[0]
const LEVEL_STYLES: Readonly<Record<Level, Style>> = { error: 'red', warning: 'yellow', note: 'cyan' }

/**
 * The report for a person at a terminal, as lines: each finding with its reason and its remedy, the facts, and at the end
 * what came out. On a terminal it fits the screen: findings that do not are shortened to a line. Control characters,
 * which a client may have sent, are escaped.
 */
export function summarise(report: Report, lineOf: (pointer: string) => number, screen: Screen): string[] {
  const paint = painter(screen)
  const findings = worstFirst(report.findings)
  const shown = findings.slice(0, SUMMARISED)
  const head = [paint('bold', inline(`dmarc-understudy ${report.tool}: ${report.title}`)), '']
  const facts = describeFacts(report, screen, paint)
  const verdict = paint(report.passed ? 'green' : 'red', report.passed ? 'PASSED' : 'FAILED')
  const end = fold(inline(report.summary), '        ', screen).map((line, index) =>
    index === 0 ? line.replace(/^ {6}/, verdict) : line,
  )
  const more = describeRest(findings, findings.length - shown.length)
  const tail = [...more, ...facts, ...end]
  const whole = shown.map((finding) => describeWhole(finding, lineOf, screen, paint))
  const short = shown.map((finding) => describeShortly(finding, screen, paint))
  const room = (screen.size?.rows ?? Number.POSITIVE_INFINITY) - RESERVED_ROWS - heightOf([...head, ...tail], screen)
  return [...head, ...arrange(whole, short, room, screen), ...tail]
}

/** As many of the first findings whole as there is room for, the others in a line each. */
function arrange(
  whole: readonly (readonly string[])[],
  short: readonly string[],
  room: number,
  screen: Screen,
): readonly string[] {
  for (let count = whole.length; ; count--) {
    const rest = short.slice(count)
    const lines = [...whole.slice(0, count).flat(), ...rest, ...(rest.length === 0 ? [] : [''])]
    if (count === 0 || heightOf(lines, screen) <= room) return lines
  }
}

/** How many lines of the screen the lines take; a long one goes on in the next. */
function heightOf(lines: readonly string[], { size }: Screen): number {
  if (size === undefined) return 0
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(lengthOf(line) / size.columns)), 0)
}

function lengthOf(line: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what sets a colour takes no room
  return [...line.replaceAll(/\u001b\[\d+m/g, '')].length
}

function describeWhole(
  finding: Finding,
  lineOf: (pointer: string) => number,
  screen: Screen,
  paint: Paint,
): readonly string[] {
  const { level, rule, message, request, occurrences = 1, remedy } = finding
  const place = describePlace(finding, lineOf)
  const times = occurrences > 1 ? `  (${occurrences} times)` : ''
  const where = [
    ...(request === undefined ? [] : [inline(describeRequest(request), LONGEST_REQUEST)]),
    ...(place === undefined ? [] : [place]),
    ...(request?.requestId === undefined ? [] : [`request ${inline(request.requestId)}`]),
  ]
  return [
    `${paint(LEVEL_STYLES[level], level)}  ${paint('bold', inline(rule.name))}  ${paint('dim', inline(rule.id))}${times}`,
    ...(where.length === 0 ? [] : fold(where.join('  '), '  ', screen)),
    ...fold(inline(message), '  ', screen),
    ...(remedy === undefined ? [] : fold(inline(remedy.text), '  ', screen)),
    ...(remedy?.command === undefined ? [] : [`  ${paint('cyan', inline(remedy.command, LONGEST_COMMAND))}`]),
    '',
  ]
}

function describeShortly({ level, rule, message, request }: Finding, { size }: Screen, paint: Paint): string {
  const about = request === undefined ? inline(rule.name) : inline(describeRequest(request), LONGEST_REQUEST)
  const text = `${about}: ${inline(message)}`
  const room = (size?.columns ?? Number.POSITIVE_INFINITY) - level.length - 2
  return `${paint(LEVEL_STYLES[level], level)}  ${shorten(text, Math.max(1, room))}`
}

function describeRest(findings: readonly Finding[], count: number): string[] {
  if (count <= 0) return []
  return [`and ${count} more (${countFindings(findings.slice(-count))}); --report html=FILE shows all`, '']
}

function describeFacts({ facts }: Report, screen: Screen, paint: Paint): string[] {
  const width = Math.max(0, ...facts.map(({ name }) => inline(name).length))
  return facts.flatMap(({ name, value }) =>
    fold(inline(value), ' '.repeat(width + 2), screen).map((line, index) =>
      index === 0 ? `${paint('dim', inline(name).padEnd(width))}${line.slice(width)}` : line,
    ),
  )
}

/** Enough for every message that is meant to be read. */
const LONGEST_TEXT = 1000

/** One line, without anything that a terminal would obey. */
function inline(text: string, limit = LONGEST_TEXT): string {
  return printable(shorten(text.trim(), limit).replaceAll(/\s*\n\s*/g, ' '))
}

/** The text behind the indent, broken between words where the screen ends. */
function fold(text: string, indent: string, { size }: Screen): string[] {
  const room = size === undefined ? Number.POSITIVE_INFINITY : Math.max(20, size.columns - indent.length)
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > room) {
      lines.push(indent + line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, indent + line]
}

type Paint = (style: Style, text: string) => string

function painter({ colours }: Screen): Paint {
  // Whether there are colours is decided for standard error; by itself, it would ask standard output.
  return colours ? (style, text) => styleText(style, text, { validateStream: false }) : (_, text) => text
}
