import type { PlannedRequest } from '../behaviour/planned-request.ts'
import { writeCurl } from '../coverage/curl.ts'
import { planGaps } from '../coverage/gap-requests.ts'
import { type CoverageReport, type Gap, reportCoverage } from '../coverage/report.ts'
import { replicateAccount } from '../domain/account.ts'
import { runAtOnce } from '../ground/work.ts'
import { type AccountHandler, done, type Handler } from './handler.ts'

export const getCoverage: AccountHandler<CoverageReport> = async ({
  account,
  now,
  contract,
  worlds,
  exchanges,
  urls,
}) => {
  // The requests are tried on a copy of the account.
  const plans = planGaps(contract, runAtOnce(replicateAccount(account)), now)
  const publicKey = worlds.findPublicKey(account)
  const write = (request: PlannedRequest) => writeCurl(request, urls(), publicKey)
  const coverage = await exchanges.coverage(account.id)
  return done(withCommands(reportCoverage(coverage, plans), write))
}

export const getOverallCoverage: Handler<CoverageReport> = async ({ exchanges }) =>
  done(reportCoverage(await exchanges.coverage()))

/** The report with a curl command for each planned request. */
function withCommands(report: CoverageReport, write: (request: PlannedRequest) => string): CoverageReport {
  const command = <Item extends Gap>(item: Item): Item =>
    item.request === undefined ? item : { ...item, curl: item.request.map(write) }
  return {
    ...report,
    operations: report.operations.map((operation) => ({ ...operation, responses: operation.responses.map(command) })),
    outside: report.outside.map(command),
    rules: report.rules.map(command),
    edges: report.edges.map(command),
  }
}
