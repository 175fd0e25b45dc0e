import type { CoverageReport } from '../coverage/report.ts'

/** The parts of the contract of one kind that both sides have shown, and those that only one has. */
interface PartsComparison<Part> {
  alike: number
  only_in_one: Part[]
  only_in_other: Part[]
}

interface CoveredResponse {
  /** Null if the request belongs to no operation. */
  operation: string | null
  status: number
  code: string | null
}

interface CoveredRule {
  id: string
  says: string
}

interface CoveredEdge {
  id: string
  path: string
  field: string
  limit: number
  side: CoverageReport['edges'][number]['side']
}

/** The parts of the contract that the requests of two sides have shown. Answers of faults show nothing of it. */
export interface CoverageComparison {
  responses: PartsComparison<CoveredResponse>
  rules: PartsComparison<CoveredRule>
  edges: PartsComparison<CoveredEdge>
}

export function compareCoverage(one: CoverageReport, other: CoverageReport): CoverageComparison {
  return {
    responses: compareParts(responsesOf(one), responsesOf(other), ({ operation, status, code }) => {
      return `${operation} ${status} ${code}`
    }),
    rules: compareParts(rulesOf(one), rulesOf(other), ({ id }) => id),
    edges: compareParts(edgesOf(one), edgesOf(other), ({ id }) => id),
  }
}

function compareParts<Part>(
  one: readonly Part[],
  other: readonly Part[],
  nameOf: (part: Part) => string,
): PartsComparison<Part> {
  const lacking = (parts: readonly Part[], others: readonly Part[]) => {
    const names = new Set(others.map(nameOf))
    return parts.filter((part) => !names.has(nameOf(part)))
  }
  const onlyInOne = lacking(one, other)
  return { alike: one.length - onlyInOne.length, only_in_one: onlyInOne, only_in_other: lacking(other, one) }
}

function responsesOf({ operations, outside }: CoverageReport): CoveredResponse[] {
  const all = [...operations, { operation: null, responses: outside }]
  return all.flatMap(({ operation, responses }) =>
    responses.flatMap(({ status, code = null, genuine }) => (genuine > 0 ? [{ operation, status, code }] : [])),
  )
}

function rulesOf({ rules }: CoverageReport): CoveredRule[] {
  return rules.flatMap(({ seen, id, says }) => (seen ? [{ id, says }] : []))
}

function edgesOf({ edges }: CoverageReport): CoveredEdge[] {
  return edges.flatMap(({ seen, id, path, field, limit, side }) => (seen ? [{ id, path, field, limit, side }] : []))
}
