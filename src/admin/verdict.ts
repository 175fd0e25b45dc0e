import { pageAddress } from '../explain/page-address.ts'
import { reportVerdict } from '../journal/verdict-report.ts'
import { readdress } from './address.ts'
import { done, type Handlers } from './handler.ts'

export const verdictHandlers = {
  async getVerdict({ exchanges, observed, urls, ownUrls }) {
    const report = await reportVerdict(await exchanges.verdict())
    for (const example of report.violations.first) {
      if (example.correction !== null) example.correction = readdress(example.correction, ownUrls(), urls())
      example.page = pageAddress(example.id, example.account, urls()) ?? null
    }
    if (observed === undefined) return done(report)
    const judged = await observed.verdict()
    const ofClients = report.violations.count === 0 ? '' : ` ${report.message}`
    return done({ ...report, ...judged, message: judged.message + ofClients })
  },

  async clearVerdict({ exchanges }) {
    await exchanges.clearVerdict()
    return done()
  },
} satisfies Handlers
