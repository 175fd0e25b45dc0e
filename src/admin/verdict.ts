import { reportVerdict } from '../journal/verdict-report.ts'
import { explainViolation } from './explanation.ts'
import { done, type Handlers } from './handler.ts'

export const verdictHandlers = {
  async getVerdict(call) {
    const { exchanges, observed } = call
    const report = await reportVerdict(await exchanges.verdict(), (violation) => explainViolation(violation, call))
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
