import type { ExplanationReport } from '../explain/explanation.ts'
import { pageAddress } from '../explain/page-address.ts'
import { hasPassed, type Reckoning, type VerdictCounts } from '../journal/verdict.ts'
import { readdress } from './address.ts'
import { done, type Handler } from './handler.ts'
import type { VerdictReport } from './reports.ts'

export const getVerdict: Handler<VerdictReport> = async ({ exchanges, observed, urls, ownUrls }) => {
  const report = await reportVerdict(await exchanges.verdict())
  for (const example of report.violations.first) {
    if (example.correction !== null) example.correction = readdress(example.correction, ownUrls(), urls())
    example.page = pageAddress(example.request_id, example.account, urls()) ?? null
  }
  if (observed === undefined) return done(report)
  const judged = await observed.verdict()
  const ofClients = report.violations.count === 0 ? '' : ` ${report.message}`
  return done({ ...report, ...judged, message: judged.message + ofClients })
}

/** The verdict as JSON. */
export async function reportVerdict(verdict: Reckoning<ExplanationReport | undefined>): Promise<VerdictReport> {
  // The counts are read before the examples are awaited, so that all numbers are of the same moment.
  const counts = verdict.counts
  const { requests, judged, injected, violations, byCode, politeness } = counts
  const first = (await verdict.examples()).flatMap((explanation) => explanation ?? []).map(describeExample)
  return {
    passed: hasPassed(counts),
    message: summarise(counts, first[0]),
    requests,
    judged,
    injected,
    violations: { count: violations, by_code: { ...byCode }, first },
    politeness: [...politeness],
  }
}

export const clearVerdict: Handler = async ({ exchanges }) => {
  await exchanges.clearVerdict()
  return done()
}

type Example = VerdictReport['violations']['first'][number]

/** A violation in the form of the verdict, from its explanation. */
export function describeExample({ exchange, problems, summary, correction, ...explained }: ExplanationReport): Example {
  const { request_id, account, operation, status, code, position, page } = explained
  const { method, path } = exchange
  const what = problems[0]?.message ?? summary
  const message = position == null ? what : `${what} ${position.says}`
  const described = { request_id, account, operation, method, path, status, code, message }
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
