import { pageAddress } from '../explain/page-address.ts'
import { reportVerdict } from '../journal/verdict-report.ts'
import { readdress } from './address.ts'
import { done, type Handler } from './handler.ts'

export const getVerdict: Handler<'getVerdict'> = async ({ exchanges, observed, urls, ownUrls }) => {
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

export const clearVerdict: Handler<'clearVerdict'> = async ({ exchanges }) => {
  await exchanges.clearVerdict()
  return done()
}
