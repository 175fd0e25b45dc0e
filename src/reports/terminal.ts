import { styleText } from 'node:util'
import { printable, shorten } from '../ground/show.ts'
import {
  countFindings,
  type Fact,
  type Finding,
  type FindingLevel,
  nameResult,
  placesOf,
  type Report,
  worstFirst,
} from './report.ts'

/** How many findings are shown, so that the result at the end and the worst finding fit on a usual screen. */
export const SHOWN = 10
/** The most characters of a text for reading. */
const LONGEST_TEXT = 1000
/** The most characters of a command. The user copies it, so it is shown in full except in extreme cases. */
const LONGEST_COMMAND = 2000
const LONGEST_PLACE = 200

type Style = Parameters<typeof styleText>[0]
type Paint = (style: Style, text: string) => string
const LEVEL_STYLES: Readonly<Record<FindingLevel, Style>> = { error: 'red', warning: 'yellow', note: 'cyan' }

/**
 * The report as lines for a terminal: each finding with its reason and its remedy, the facts, and the result at the end.
 * Control characters are escaped, because a client may have sent them.
 */
export function summarise(report: Report, isColoured: boolean): string[] {
  // `isColoured` is about standard error; `styleText` would check standard output.
  const paint: Paint = (style, text) => (isColoured ? styleText(style, text, { validateStream: false }) : text)
  const findings = worstFirst(report.findings)
  const rest = findings.slice(SHOWN)
  return [
    paint('bold', inline(`dmarc-understudy ${report.tool}: ${report.title}`)),
    '',
    ...findings.slice(0, SHOWN).flatMap((finding) => [...describeFinding(finding, paint), '']),
    ...(rest.length === 0
      ? []
      : [`and ${rest.length} more (${countFindings(rest)}); --report html=FILE shows all`, '']),
    ...describeFacts(report.facts, paint),
    `${paint(report.passed ? 'green' : 'red', nameResult(report).toUpperCase())}  ${inline(report.summary)}`,
  ]
}

function describeFinding(finding: Finding, paint: Paint): string[] {
  const { level, rule, message, request, remedy } = finding
  const places = placesOf(finding).map((place) => inline(place, LONGEST_PLACE))
  const texts = [places.join('  '), inline(message), inline(remedy?.text ?? '')].filter((text) => text !== '')
  return [
    `${paint(LEVEL_STYLES[level], level)}  ${paint('bold', inline(rule.name))}  ${paint('dim', inline(rule.id))}`,
    ...texts.map((text) => `  ${text}`),
    ...(remedy?.command === undefined ? [] : [`  ${paint('cyan', inline(remedy.command, LONGEST_COMMAND))}`]),
    ...(request?.page === undefined ? [] : [`  ${inline(request.page, LONGEST_COMMAND)}`]),
  ]
}

function describeFacts(facts: readonly Fact[], paint: Paint): string[] {
  const names = facts.map(({ name }) => inline(name))
  const width = Math.max(0, ...names.map(({ length }) => length))
  return facts.map(({ value }, index) => `${paint('dim', (names[index] ?? '').padEnd(width))}  ${inline(value)}`)
}

/** One line without control characters for a terminal. */
function inline(text: string, limit = LONGEST_TEXT): string {
  return printable(shorten(text.trim(), limit).replaceAll(/\s*\n\s*/g, ' '))
}
