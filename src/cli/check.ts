import { describeFindings } from '../evidence/report.ts'
import { shorten } from '../ground/show.ts'
import { listFacts } from '../reports/report.ts'
import type { Options } from '../server/option.ts'
import { defineCommand } from './command.ts'
import { execute } from './execution.ts'
import { UsageError } from './options.ts'
import { judgeRecordings, SOLE_WRITER } from './recordings.ts'
import { baseUrl, FAIL_ON_OPTION, openReview, REVIEW_OPTIONS } from './review.ts'

const OPTIONS = {
  baseUrl: {
    kind: baseUrl,
    help: 'Base URL of the service in the recordings. Requests to anything else are left out.',
    defaultText: 'the one below which paths of the contract are asked for',
  },
  soleWriter: SOLE_WRITER,
  failOn: FAIL_ON_OPTION,
  ...REVIEW_OPTIONS,
} as const satisfies Options

export const check = defineCommand(
  'check',
  OPTIONS,
  async ({ values, sources, positionals: files }, terminal) => {
    if (files.length === 0) {
      throw new UsageError('check: needs at least one HAR file, such as dmarc-understudy check traffic.har')
    }
    const recordings = files.map((file) => ({ source: shorten(file), file, isRead: true }))
    const review = await openReview('check', { values, sources }, recordings)
    const { choices } = review
    return execute('check', terminal, async (execution) => {
      const seen = await judgeRecordings(files, { choices, ...values }, execution)
      const { conclusion, target, leftOut } = seen
      const report = describeFindings({
        ...{ ...seen, ...execution.times, tool: 'check', title: files.join(', '), choices, failOn: values.failOn },
        baseline: review.compare(conclusion),
        facts: listFacts({ Service: target ?? false, 'Left out': leftOut !== '' && leftOut }),
      })
      return review.finish({ ...seen, report, failOn: values.failOn, isWhole: !execution.signal.aborted }, execution)
    })
  },
  'operands',
)
