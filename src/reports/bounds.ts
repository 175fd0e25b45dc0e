import { type Report, worstFirst } from './report.ts'

/** The size limits of a report. They apply to all formats except `json`, which is complete. */
export const BOUNDS = {
  /** The findings; the worst are kept. A person does not read a thousand. */
  findings: 1000,
  /** The characters of a text. */
  text: 10 * 1024,
} as const

/**
 * Prepares the report for the formats: every text is redacted, also in `json`, and the size is limited. The facts say how
 * much is left out.
 */
export function boundReport(report: Report, redact: (text: string) => string): Report {
  const { json, ...rest } = mapTexts(report, redact) as Report
  const { facts, findings, ...shown } = mapTexts(rest, (text) => cut(text, BOUNDS.text)) as typeof rest
  const kept = new Set(worstFirst(findings).slice(0, BOUNDS.findings))
  const left = findings.length - kept.size
  const value = `${left}, because a report shows at most ${BOUNDS.findings}`
  return {
    ...shown,
    facts: left === 0 ? facts : [...facts, { name: 'Findings left out', value }],
    findings: findings.filter((finding) => kept.has(finding)),
    json,
  }
}

/** Fields with a word of this program. It holds no secret, and a short secret may be the same word. */
const OWN_WORDS = new Set(['tool', 'level', 'outcome', 'by', 'verdict'])

/** A copy with every text changed. The names of fields are those of this program. */
function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change))
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const isKept = OWN_WORDS.has(key) && typeof item === 'string'
      return [key, isKept ? item : mapTexts(item, change)]
    }),
  )
}

/** The first `limit` characters, and the number of the omitted ones. Surrogate pairs are not split. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text
  const end = /[\ud800-\udbff]/.test(text.charAt(limit - 1)) ? limit - 1 : limit
  return `${text.slice(0, end)}… (${text.length - end} more characters)`
}
