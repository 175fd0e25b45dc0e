import type { Operation } from '../contract/api.ts'
import type { Schemas } from '../contract/control-plane.ts'
import { type Coverage, itemsOf, nameOfResponse, type ResponseCount } from './coverage.ts'

/** The parts of the contract that were shown and those that were not, as JSON. */
export type CoverageReport = Schemas['Coverage']

/** The report about a part that was never shown. */
type Gap = Schemas['Gap']

/** The gap of an operation; `response` is its name if it is a response that is missing. */
export type FindGap = (operation: Operation, response?: string) => Gap

type ShownShare = Schemas['SeenShare']
type ResponseCoverage = Schemas['ResponseCoverage']
type OperationCoverage = CoverageReport['operations'][number]
type RuleCoverage = CoverageReport['rules'][number]
type EdgeCoverage = CoverageReport['edges'][number]
type Apart = CoverageReport['apart'][number]

const FAILURE = 'internal_error'
const WHY_NO_FAILURE = 'It tells of a failure of the server itself, which no request can cause.'

/** With `findGap`, each part that was never shown has its result. */
export function reportCoverage(coverage: Coverage, findGap: FindGap = () => ({})): CoverageReport {
  const { operations, outside, failures } = reportResponses(coverage, findGap)
  const { rules, edges, unobservable } = reportItems(coverage, findGap)
  const documented = operations.flatMap((each) => each.responses.filter((response) => response.documented))
  const expected = documented.filter(({ code }) => code !== FAILURE)
  return {
    summary: {
      operations: share(operations, (each) => each.responses.some(({ genuine }) => genuine > 0)),
      responses: share(expected, ({ genuine }) => genuine > 0),
      rules: share(rules, ({ seen }) => seen),
      edges: share(edges, ({ seen }) => seen),
    },
    ...{ operations, outside, rules, edges, apart: [...failures, ...unobservable] },
  }
}

function reportResponses({ contract, responses }: Coverage, findGap: FindGap) {
  const rest = new Map(responses)
  const failures: Apart[] = []
  const operations = contract.operations.map((operation): OperationCoverage => {
    const { id, method, path } = operation
    const listed: ResponseCoverage[] = []
    for (const { status, codes } of operation.responses.values()) {
      for (const code of codes.size === 0 ? [undefined] : codes) {
        const name = nameOfResponse(id, status, code)
        const count = rest.get(name)
        rest.delete(name)
        const isFailure = code === FAILURE
        if (isFailure) failures.push({ kind: 'response', operation: id, status, code, why: WHY_NO_FAILURE })
        if (isFailure && count === undefined) continue
        const gap = isFailure || (count?.genuine ?? 0) > 0 ? {} : findGap(operation, name)
        listed.push({ ...describeResponse(count ?? { status, code, genuine: 0, injected: 0 }, true), ...gap })
      }
    }
    return { operation: id, method, path, responses: listed }
  })
  const outside: ResponseCoverage[] = []
  for (const response of rest.values()) {
    const own = operations.find(({ operation }) => operation === response.operation?.id)?.responses ?? outside
    own.push(describeResponse(response, false))
  }
  return { operations, outside, failures }
}

function reportItems(coverage: Coverage, findGap: FindGap) {
  const { operations } = coverage.contract
  const rules: RuleCoverage[] = []
  const edges: EdgeCoverage[] = []
  const unobservable: Apart[] = []
  for (const item of itemsOf(coverage.contract)) {
    const seen = coverage.hasShown(item.name)
    const gapOf = (operation: Operation | undefined) => (seen || operation === undefined ? {} : findGap(operation))
    if ('edge' in item) {
      const { id, operation, path, field, limit, side } = item.edge
      const gap = gapOf(operation ?? operations.find((each) => each.path === path))
      edges.push({ id, ...(operation && { operation: operation.id }), path, field, limit, side, seen, ...gap })
    } else if (item.rule.unobservable === undefined) {
      const { id, says } = item.rule
      const [first, another] = operations.filter((operation) => operation.rules.includes(item.rule))
      rules.push({ id, ...(first && !another && { operation: first.id }), says, seen, ...gapOf(first) })
    } else {
      const { id, says, unobservable: why } = item.rule
      unobservable.push({ kind: 'rule', id, says, why })
    }
  }
  return { rules, edges, unobservable }
}

function describeResponse(
  { status, code, genuine, injected }: Omit<ResponseCount, 'operation'>,
  documented: boolean,
): ResponseCoverage {
  return { status, ...(code !== undefined && { code }), genuine, injected, documented }
}

function share<Thing>(things: readonly Thing[], isSeen: (thing: Thing) => boolean): ShownShare {
  const seen = things.filter(isSeen).length
  const total = things.length
  // The share is rounded down, so 100 means all.
  return { seen, total, percent: total === 0 ? 100 : Math.floor((seen / total) * 1000) / 10 }
}
