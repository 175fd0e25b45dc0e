import { describeRequest, type Finding, placesOf, type Report, type Row } from './report.ts'

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

/** A test case. It has the findings about one subject, because most readers show only the first failure of a case. */
interface Case {
  outcome: NonNullable<Row['outcome']>
  /** What is known without a finding. */
  said: string
  findings: Finding[]
}

/**
 * The report as JUnit XML for build servers. The elements and their order follow the schema that build servers have in
 * common. It is written by hand: a library would add 4.7 MB for a few elements, and leave the characters that XML forbids.
 */
export function writeJUnit(report: Report): string {
  const cases = casesOf(report)
  const count = (outcome: Case['outcome']) => cases.filter(([, each]) => each.outcome === outcome).length
  const counts = { tests: cases.length, failures: count('failed'), errors: 0 }
  const time = report.seconds.toFixed(3)
  const facts = report.facts.map(({ name, value }) => element('property', { name, value }))
  const suite = element(
    'testsuite',
    // Some schemas do not allow a time zone.
    { name: report.tool, ...counts, skipped: count('skipped'), time, timestamp: report.startedAt?.slice(0, 19) },
    ...(facts.length === 0 ? [] : [element('properties', {}, ...facts)]),
    ...cases.map((each) => describeCase(each, report)),
  )
  const name = `dmarc-understudy ${report.tool}: ${report.title}`
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element('testsuites', { name, ...counts, time }, suite)}\n`
}

/**
 * A case for the whole, which fails if nothing else says why the report failed; one for each row of the table; and one for
 * each kind of finding at a request that is about no row. A finding makes its case fail only if it is an error.
 */
function casesOf({ title, summary, passed, table, findings }: Report): [name: string, Case][] {
  const cases = new Map<string, Case>()
  for (const { outcome, cells } of table?.rows ?? []) {
    const [name = '', ...rest] = cells
    if (outcome !== undefined) cases.set(name, { outcome, said: rest.filter(Boolean).join(' · '), findings: [] })
  }
  for (const finding of findings) {
    const { rule, request, level, row = rule.id } = finding
    const about = request === undefined ? '' : ` at ${describeRequest(request)}`
    const name = cases.has(row) ? row : rule.id + about
    const known: Case = cases.get(name) ?? { outcome: 'passed', said: '', findings: [] }
    known.findings.push(finding)
    if (level === 'error') known.outcome = 'failed'
    cases.set(name, known)
  }
  const isExplained = passed || [...cases.values()].some(({ outcome }) => outcome === 'failed')
  return [[title, { outcome: isExplained ? 'passed' : 'failed', said: summary, findings: [] }], ...cases]
}

function describeCase([name, { outcome, said, findings }]: [string, Case], { tool }: Report): string {
  const text = [said, ...findings.map(describeFinding)].filter(Boolean).join('\n\n----\n\n')
  const worst = findings.find(({ level }) => level === 'error') ?? findings[0]
  const failure = { message: worst?.message ?? said, type: worst?.rule.id ?? outcome }
  const content = {
    passed: () => element('system-out', {}, escapeXml(text)),
    // No attribute, because some schemas do not define one.
    skipped: () => element('skipped', {}, escapeXml(text)),
    failed: () => element('failure', failure, escapeXml(text)),
  }[outcome]
  // A report does not know how long a part took, and a reader adds the times of the cases.
  return element('testcase', { name, classname: `dmarc-understudy.${tool}`, time: 0 }, content())
}

function describeFinding(finding: Finding): string {
  const { rule, message, request, details = [], remedy } = finding
  const quotes = [...(request?.body === undefined ? [] : [{ title: 'Body', text: request.body }]), ...details]
  return [
    `${rule.name}: ${message}`,
    placesOf(finding).join('\n'),
    ...quotes.map(({ title, text }) => `${title}:\n${text}`),
    [remedy?.text, remedy?.command].filter(Boolean).join('\n'),
  ]
    .filter(Boolean)
    .join('\n\n')
}

/** An XML element. Its children are markup from this module, or escaped texts. */
function element(
  name: string,
  attributes: Readonly<Record<string, string | number | undefined>>,
  ...children: readonly string[]
): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${escapeXml(String(value))}"`)
    .join('')
  const content = children.join('\n')
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
