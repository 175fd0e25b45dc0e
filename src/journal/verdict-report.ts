import type { Schemas } from '../contract/control-plane.ts'
import { hasPassed, type Reckoning, type VerdictCounts, type Violation } from './verdict.ts'

type Verdict = Schemas['Verdict']
type Example = Verdict['violations']['first'][number]

/** The verdict as JSON. */
export async function reportVerdict(
  { counts, first: kept }: Reckoning,
  explain: (violation: Violation) => Promise<Schemas['Explanation']>,
): Promise<Verdict> {
  const { requests, judged, injected, violations, byCode, politeness } = counts
  const first: Example[] = []
  // Meanwhile, there may be more. All numbers are of the same moment.
  for (const violation of [...kept]) first.push(describeExample(await explain(violation)))
  return {
    passed: hasPassed(counts),
    message: summarise(counts, first[0]),
    requests,
    judged,
    injected,
    violations: { count: violations, by_code: { ...byCode }, first },
    politeness,
  }
}

/** A violation in the form of the verdict, from its explanation. */
export function describeExample({
  exchange,
  problems,
  summary,
  correction,
  ...explained
}: Schemas['Explanation']): Example {
  const { id, request_id, account, operation, status, code, position, page } = explained
  const { method, path } = exchange
  const what = problems[0]?.message ?? summary
  const message = position == null ? what : `${what} ${position.says}`
  const described = { id, request_id, account, operation, method, path, status, code, message }
  // The request may need what the commands before it create.
  const commands = correction && [...correction.before, correction.curl].join(' && ')
  return { ...described, correction: commands, page }
}

function summarise({ requests, judged, violations }: VerdictCounts, first: Example | undefined): string {
  if (violations > 0) {
    const what = violations === 1 ? '1 request violates' : `${violations.toLocaleString('en')} requests violate`
    const example = first && ` The first is ${first.method} ${first.path}: ${first.message}`
    return `${what} the contract, of ${requests.toLocaleString('en')}.${example ?? ''}`
  }
  if (requests === 0) return 'No request has come, so nothing was checked.'
  if (judged === 0) {
    return `Nothing was checked: no request passed its Host, key, plan and quota, and the faults. Requests that came: ${requests.toLocaleString('en')}.`
  }
  return `No request violates the contract. Requests that were checked: ${judged.toLocaleString('en')}.`
}
