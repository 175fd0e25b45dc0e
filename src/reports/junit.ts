import { shorten } from '../ground/show.ts'
import type { Check, Finding, Report, Surroundings, Write } from './report.ts'
import { describeFinding } from './wording.ts'
import { element, escapeXml } from './xml.ts'

/**
 * The report as JUnit XML for build servers. Each check is a test case, and each group is a suite. A test case has at
 * most one failure, with all findings, because most readers show only the first failure. The elements and their order
 * follow the schema that build servers have in common.
 */
export const writeJUnitReport: Write = (report, surroundings) => {
  const cases = casesOf(report)
  const groups = groupChecks(cases, report.tool)
  const suites = [...groups].map(([name, checks], index) =>
    describeSuite(name, checks, report, surroundings, index === 0),
  )
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

function describeSuite(
  name: string,
  checks: readonly Check[],
  report: Report,
  surroundings: Surroundings,
  isFirst: boolean,
): string {
  const seconds = checks.reduce((sum, check) => sum + (check.seconds ?? 0), 0)
  const attributes = {
    name,
    ...tally(checks),
    time: seconds.toFixed(3),
    // Some schemas do not allow a time zone.
    timestamp: report.startedAt?.slice(0, 19),
  }
  const facts = report.facts.map(({ name, value }) => element('property', { name, value }))
  const properties = isFirst && facts.length > 0 ? [`${element('properties', {}, ...facts)}\n`] : []
  const cases = checks.map((check) => `${describeCase(check, name, report, surroundings)}\n`)
  return `${element('testsuite', attributes, '\n', ...properties, ...cases)}\n`
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
  const worst: Finding | undefined = findings[0]
  const failure = { message: message ?? worst?.message ?? '', type: worst?.rule.id ?? outcome }
  switch (outcome) {
    case 'passed':
      return element('testcase', attributes, content === '' ? '' : element('system-out', {}, content))
    case 'skipped':
      // No attribute, because some schemas do not define one.
      return element('testcase', attributes, element('skipped', {}, content))
    case 'failed':
      return element('testcase', attributes, element('failure', failure, content))
    case 'error':
      return element('testcase', attributes, element('error', failure, content))
  }
}
