import { nameOfResponse } from '../coverage/coverage.ts'
import { writeCurl } from '../coverage/curl.ts'
import { reportCoverage } from '../coverage/report.ts'
import { sampleRequests } from '../coverage/samples.ts'
import { reportVerdict } from '../journal/verdict-report.ts'
import { explainViolation } from './explanations.ts'
import { done, type Handlers } from './handler.ts'

const HINT = 'This is an accepted request of the operation. Change it, or the account, so that it shows this.'

export const evidenceHandlers = {
  async getCoverage(call) {
    const { account, now, contract, worlds, exchanges, urls } = call
    const samples = sampleRequests(contract, account, now)
    const publicKey = worlds.findPublicKey(account)
    const write = (name: string) => samples.get(name)?.map((request) => writeCurl(request, urls(), publicKey))
    const coverage = await exchanges.coverage(account.id)
    return done(
      reportCoverage(coverage, ({ id, success }, response = '') => {
        const own = write(response)
        if (own !== undefined) return { curl: own }
        const curl = write(nameOfResponse(id, success.status, undefined))
        return curl === undefined ? {} : { curl, hint: HINT }
      }),
    )
  },

  getOverallCoverage: async ({ exchanges }) => done(reportCoverage(await exchanges.coverage())),

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
