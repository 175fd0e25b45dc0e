import { shorten } from '../ground/show.ts'
import type { Check, Report, Surroundings, Write } from './report.ts'
import { describeFinding } from './wording.ts'

/** Includes line breaks and tabs: a reader turns them into spaces in attributes, and a CR into an LF everywhere. */
const ENTITIES = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&apos;'],
  ['\n', '&#10;'],
  ['\r', '&#13;'],
  ['\t', '&#9;'],
])

/** With the flag `u`, a surrogate matches only if it is alone. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not pass
const SPECIAL = /[&<>"'\u0000-\u001f\ud800-\udfff\ufffe\uffff]/gu

/**
 * The report as JUnit XML for build servers. Each check is a test case, and each group is a suite. A test case has at
 * most one failure, with all findings, because most readers show only the first failure. The elements and their order
 * follow the schema that build servers have in common.
 */
export const writeJUnitReport: Write = (report, surroundings) => {
  const cases = casesOf(report)
  const groups = groupChecks(cases, report.tool)
  const facts = report.facts.map(({ name, value }) => element('property', { name, value }))
  const properties = facts.length > 0 ? [`${element('properties', {}, ...facts)}\n`] : []
  const suites = [...groups].map(([name, checks], index) => {
    const attributes = {
      name,
      ...tally(checks),
      time: checks.reduce((sum, { seconds = 0 }) => sum + seconds, 0).toFixed(3),
      // Some schemas do not allow a time zone.
      timestamp: report.startedAt?.slice(0, 19),
    }
    const cases = checks.map((check) => `${describeCase(check, name, report, surroundings)}\n`)
    return `${element('testsuite', attributes, '\n', ...(index === 0 ? properties : []), ...cases)}\n`
  })
  const { skipped: _, ...counts } = tally(cases)
  const name = `dmarc-understudy ${report.tool}: ${report.title}`
  const attributes = { name, ...counts, time: report.seconds.toFixed(3) }
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element('testsuites', attributes, '\n', ...suites)}\n`
}

function groupChecks(checks: readonly Check[], usual: string): ReadonlyMap<string, Check[]> {
  const groups = new Map<string, Check[]>()
  for (const check of checks) {
    const { group = usual } = check
    const known = groups.get(group)
    if (known === undefined) groups.set(group, [check])
    else known.push(check)
  }
  return groups
}

/**
 * The checks, plus a check for each finding that no check shows; it fails only for an error. If the report failed and
 * no case does, a failing check is added.
 */
function casesOf(report: Report): Check[] {
  const shown = new Set(report.checks.flatMap(({ findings = [] }) => findings))
  const others = report.findings.filter((finding) => !shown.has(finding))
  const cases: Check[] = [
    ...report.checks,
    ...others.map((finding): Check => {
      const outcome = finding.level === 'error' ? 'failed' : 'passed'
      const name = `${finding.rule.name}: ${shorten(finding.message, 200)}`
      return { id: finding.rule.id, group: 'findings', name, outcome, findings: [finding] }
    }),
  ]
  if (report.passed || cases.some(isFailure)) return cases
  return [...cases, { id: report.tool, name: report.title, outcome: 'failed', message: report.summary }]
}

function isFailure({ outcome }: Check): boolean {
  return outcome === 'failed' || outcome === 'error'
}

function tally(checks: readonly Check[]): { tests: number; failures: number; errors: number; skipped: number } {
  const count = (outcome: Check['outcome']) => checks.filter((check) => check.outcome === outcome).length
  return { tests: checks.length, failures: count('failed'), errors: count('error'), skipped: count('skipped') }
}

function describeCase(
  { name, outcome, message, findings = [], seconds = 0 }: Check,
  suite: string,
  { tool }: Report,
  { lineOf }: Surroundings,
): string {
  const attributes = { name, classname: `dmarc-understudy.${tool}.${suite}`, time: seconds.toFixed(3) }
  const text = findings.map((finding) => describeFinding(finding, lineOf)).join('\n\n----\n\n')
  const content = escapeXml([message, text].filter(Boolean).join('\n\n'))
  const [worst] = findings
  const failure = { message: message ?? worst?.message ?? '', type: worst?.rule.id ?? outcome }
  switch (outcome) {
    case 'passed':
      return element('testcase', attributes, content === '' ? '' : element('system-out', {}, content))
    case 'skipped':
      // No attribute, because some schemas do not define one.
      return element('testcase', attributes, element('skipped', {}, content))
    default:
      return element('testcase', attributes, element(outcome === 'failed' ? 'failure' : 'error', failure, content))
  }
}

/**
 * An XML element. Its children are markup from this module. A library would add 4.7 MB for a few elements. This module
 * would still have to handle the characters that XML forbids.
 */
function element(
  name: string,
  attributes: Readonly<Record<string, string | number | undefined>>,
  ...children: readonly string[]
): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${escapeXml(String(value))}"`)
    .join('')
  const content = children.filter((child) => child !== '').join('')
  return content === '' ? `<${name}${written}/>` : `<${name}${written}>${content}</${name}>`
}

/**
 * Escapes a text for an element or an attribute. XML 1.0 forbids some characters even as references, such as most
 * control characters. They are written like `\u0007`.
 */
function escapeXml(text: string): string {
  return text.replaceAll(SPECIAL, (character) => {
    const entity = ENTITIES.get(character)
    return entity ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
