import { type Planes, writeCurl } from '../coverage/curl.ts'
import { planGaps } from '../coverage/gap-requests.ts'
import { type CoverageReport, type Gap, reportCoverage } from '../coverage/report.ts'
import { detachAccount } from '../domain/account.ts'
import { type AccountVerb, done, type Verb } from './verb.ts'

export const getCoverage: AccountVerb = ({ account, now, contract, worlds, planes }) => {
  // The requests are tried on a copy of the account.
  const plans = planGaps(contract, detachAccount(account), now)
  return done(withCommands(reportCoverage(worlds.coverage(account.id), plans), planes()))
}

export const getOverallCoverage: Verb = ({ worlds }) => done(reportCoverage(worlds.coverage()))

/** The report with the commands that send what it plans. */
function withCommands(report: CoverageReport, planes: Planes): CoverageReport {
  const command = <Item extends Gap>(item: Item): Item =>
    item.request === undefined ? item : { ...item, curl: item.request.map((each) => writeCurl(each, planes)) }
  return {
    ...report,
    operations: report.operations.map((operation) => ({ ...operation, responses: operation.responses.map(command) })),
    outside: report.outside.map(command),
    rules: report.rules.map(command),
    edges: report.edges.map(command),
  }
}
