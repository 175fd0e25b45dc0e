import { type Fact, failuresFirst, type Report, worstFirst } from './report.ts'

/** The size limits of a report. They apply to all formats except `json`, which is complete. */
export const BOUNDS = {
  /** The findings; the worst are kept. Code scanning accepts 5,000, and a person does not read a thousand. */
  findings: 1000,
  /** The checks, which are the cases of a test report. Failed checks are kept first. */
  checks: 10_000,
  /** The rows of a table. */
  rows: 1000,
  /** The characters of a body, of code, or of one side of a comparison. */
  code: 10 * 1024,
  /** The characters of any other text. */
  text: 4000,
} as const

/**
 * Prepares the report for the formats: every text is redacted, also in `json`, and the size is limited. The names of
 * fields are those of this program. The facts say how much is left out.
 */
export function boundReport(report: Report, redact: (text: string) => string): Report {
  const clean = mapTexts(report, { text: redact }) as Report
  const { json, ...rest } = clean
  const kept = new Set(worstFirst(clean.findings).slice(0, BOUNDS.findings))
  const keptChecks = new Set(failuresFirst(clean.checks).slice(0, BOUNDS.checks))
  const checks = clean.checks.filter((check) => keptChecks.has(check))
  const facts = [
    ...rest.facts,
    ...leftOut('Findings', rest.findings.length - kept.size, BOUNDS.findings),
    ...leftOut('Checks', rest.checks.length - checks.length, BOUNDS.checks),
  ]
  const shown = {
    ...rest,
    facts,
    findings: rest.findings.filter((finding) => kept.has(finding)),
    checks: checks.map((check) =>
      check.findings === undefined ? check : { ...check, findings: check.findings.filter((each) => kept.has(each)) },
    ),
  }
  const text = (text: string, isCode: boolean) => cut(text, isCode ? BOUNDS.code : BOUNDS.text)
  return { ...(mapTexts(shown, { text, rows: cutRows }) as Omit<Report, 'json'>), json }
}

function leftOut(what: string, count: number, bound: number): Fact[] {
  return count <= 0 ? [] : [{ name: `${what} left out`, value: `${count}, because a report shows at most ${bound}` }]
}

/** What becomes of the parts of a report. */
interface Mapping {
  /** A text. `isCode` says that it gets the longer limit. */
  text(text: string, isCode: boolean): string
  /** The rows of a table. */
  rows?(rows: Rows): Rows
}

type Rows = readonly (readonly string[])[]

/** Fields that contain code. They get the longer limit. */
const CODE = new Set(['body', 'expected', 'received', 'command'])

/** Fields with a word of this program. It holds no secret, and a short secret may be the same word. */
const OWN_WORDS = new Set(['tool', 'level', 'outcome', 'kind', 'language', 'label', 'by', 'verdict'])

/** A copy with every text of others changed. Objects that occur twice are copied once. */
function mapTexts(root: unknown, { text, rows = (same) => same }: Mapping): unknown {
  const known = new Map<object, unknown>()
  function map(value: unknown, isCode: boolean): unknown {
    if (typeof value === 'string') return text(value, isCode)
    if (typeof value !== 'object' || value === null) return value
    const before = known.get(value)
    if (before !== undefined) return before
    const mapField = ([key, item]: [string, unknown]) => {
      if (OWN_WORDS.has(key) && typeof item === 'string') return [key, item]
      const isLong = CODE.has(key) || ('kind' in value && value.kind === 'code' && key === 'text')
      return [key, map(key === 'rows' ? rows(item as Rows) : item, isLong)]
    }
    const after = Array.isArray(value)
      ? value.map((item) => map(item, isCode))
      : Object.fromEntries(Object.entries(value).map(mapField))
    known.set(value, after)
    return after
  }
  return map(root, false)
}

function cutRows(rows: Rows): Rows {
  if (rows.length <= BOUNDS.rows) return rows
  return [...rows.slice(0, BOUNDS.rows), [`… and ${rows.length - BOUNDS.rows} more rows`]]
}

/** The first `limit` characters, and the number of the omitted ones. Surrogate pairs are not split. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text
  const end = /[\ud800-\udbff]/.test(text.charAt(limit - 1)) ? limit - 1 : limit
  return `${text.slice(0, end)}… (${text.length - end} more characters)`
}
