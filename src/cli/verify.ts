import { rmSync } from 'node:fs'
import { LIMITS } from '../domain/limits.ts'
import { isLoopback } from '../ground/hosts.ts'
import { hashKey, nameInstance } from '../ground/secrets.ts'
import { quoteWord, shorten } from '../ground/show.ts'
import { pause, systemClock } from '../ground/timers.ts'
import { Judge } from '../judge/judge.ts'
import {
  fileName,
  type Options,
  optIn,
  readDuration,
  secret,
  text,
  textThat,
  timeLimit,
  type Values,
  wholeNumber,
} from '../server/option.ts'
import { assess } from '../verify/checks.ts'
import { describeCleanup, isAsBefore } from '../verify/cleanup.ts'
import { ConnectionError, sendTo } from '../verify/client.ts'
import type { ConversationOptions } from '../verify/conversation.ts'
import { Holdings, markOf } from '../verify/holdings.ts'
import { digestOf, Ledger, LedgerError, readLedger } from '../verify/ledger.ts'
import { describePlan, planProbes } from '../verify/plan.ts'
import { describeRefusal, describeVerify } from '../verify/report.ts'
import * as running from '../verify/run.ts'
import { TargetError } from '../verify/target.ts'
import { defineCommand, type Reading } from './command.ts'
import { type Execution, execute } from './execution.ts'
import { UsageError } from './options.ts'
import { baseUrl, openReview, REVIEW_OPTIONS, type Review } from './review.ts'

/** The run puts up to 40 characters before the suffix, and a hostname has at most 253. */
const suffix = textThat(
  (written) =>
    written.length <= 200 && /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z][a-z0-9-]{0,61}[a-z0-9]$/.test(written),
  'must be a domain below which names may be added, such as example or test.example.com',
  'DOMAIN',
)

const OPTIONS = {
  baseUrl: { kind: baseUrl, help: 'Base URL of the service, with its version segment.' },
  apiKey: {
    kind: secret,
    placeholder: 'KEY',
    help: 'The API key. In the environment, no list of processes shows it. No report, ledger or log has it.',
  },
  allowWrites: optIn('Also send requests that create and remove things to a host other than this machine.'),
  readOnly: optIn('Send nothing but GET and HEAD, also to this machine.'),
  showPlan: {
    ...optIn('Send nothing; print each request, what it costs, what it decides, and how long everything takes.'),
    flag: 'plan',
  },
  reserve: {
    kind: wholeNumber(0, LIMITS.quota),
    help: 'Requests in the quota of each path that are left to other clients. The cleanup may use them.',
    default: 0,
  },
  wait: optIn(
    'Wait for the reset when a quota is used up, until everything was asked. Without this option, the run ends at that point.',
  ),
  exhaust: optIn(
    'At the end, use up each quota to see how a request beyond it is refused. Other clients with the key are refused, too, until the reset.',
  ),
  soleWriter: optIn('No other client changes the account during the run, so the answers show more about the service.'),
  minReached: {
    kind: wholeNumber(0, 100),
    placeholder: 'PERCENT',
    help: 'The result is inconclusive if a smaller share of the checks was reached.',
    default: 0,
  },
  domainSuffix: {
    kind: suffix,
    help: 'Suffix of the names of added domains. The top-level domain example is reserved for such purposes.',
    default: 'example',
  },
  timeout: { kind: timeLimit, help: 'Time limit of one response.', default: '30s' },
  ledger: {
    kind: fileName,
    help: 'The file in which the run notes each item before it creates it. It is removed when nothing is left to do.',
    defaultText: 'understudy-verify-RUN.json in the working folder',
  },
  sweep: {
    kind: text,
    placeholder: 'LEDGER',
    help: 'Remove only the items that the run of this ledger has left in the account.',
  },
  ...REVIEW_OPTIONS,
} as const satisfies Options

type VerifyReading = Reading<typeof OPTIONS>

export const verify = defineCommand('verify', OPTIONS, async (reading, terminal) => {
  const { values, sources } = reading
  if (values.readOnly && values.allowWrites) {
    throw new UsageError(`${sources.allowWrites}: must be left out, because --read-only sends no writes`)
  }
  const review = await openReview('verify', reading, [
    { source: sources.sweep, file: values.sweep, isRead: true },
    { source: sources.ledger, file: values.ledger },
  ])
  const { contract } = review.choices
  const writes = mayWrite(values)
  if (values.showPlan) {
    const plan = planProbes({ ...values, writes })
    for (const line of describePlan(plan, contract, { ...values, writes })) terminal.print(line)
    return 0
  }
  const { baseUrl: written, apiKey } = values
  if (written === undefined) throw new UsageError('--base-url URL: is needed, such as http://127.0.0.1:4010/api/v1')
  if (apiKey === undefined) {
    throw new UsageError('--api-key KEY: is needed, best in the environment as DMARC_UNDERSTUDY_API_KEY')
  }
  const target = written.replace(/\/+$/, '')
  return execute('verify', terminal, async (execution) => {
    const session = { reading, review, execution, target, apiKey, writes }
    try {
      return await (values.sweep === undefined ? ask(session) : sweep(session, values.sweep))
    } catch (error) {
      const isTarget = error instanceof TargetError
      if (!isTarget && !(error instanceof ConnectionError)) throw error
      const reason = isTarget ? error.message : `${target} cannot be reached: ${error.message}`
      const report = describeRefusal(target, reason, { ...execution.times, exitCode: isTarget ? 1 : 3 })
      execution.say(`verify: ${reason}`)
      return execution.deliver(report, values.report, true)
    }
  })
})

interface VerifySession {
  reading: VerifyReading
  review: Review
  execution: Execution
  target: string
  apiKey: string
  writes: boolean
}

/** Whether requests that change the account are sent. */
function mayWrite({ baseUrl: url, readOnly, allowWrites }: Values<typeof OPTIONS>): boolean {
  return !readOnly && (allowWrites || (url !== undefined && isLoopback(new URL(url).hostname)))
}

/** What a run and a sweep have in common. */
function wayTo({ reading, review, execution, target, apiKey }: VerifySession) {
  const { reserve, wait: waits, timeout } = reading.values
  return {
    ...{ contract: review.choices.contract, apiKey, reserve, waits, clock: systemClock, signal: execution.signal },
    send: sendTo(new URL(target), readDuration(timeout)),
    // Also resolves when the signal is aborted.
    sleep: (milliseconds, signal) => pause(milliseconds, undefined, { signal }).catch(() => {}),
  } satisfies Partial<ConversationOptions>
}

/** Asks the service everything, undoes what that did, and reports what the answers show. */
async function ask(session: VerifySession): Promise<number> {
  const { reading, review, execution, target, apiKey, writes } = session
  const { values, sources } = reading
  const { choices } = review
  const { minReached, soleWriter: isSoleWriter } = values
  const run = hashKey(nameInstance()).slice(0, 8)
  const path = values.ledger ?? `understudy-verify-${run}.json`
  const ledger = await readingLedger(values.ledger === undefined ? path : sources.ledger, async () => {
    return new Ledger(path, { run, target, digest: digestOf(target, apiKey) })
  })
  const sweepLine = writeSweep(path, target)
  const holdings = new Holdings(markOf(run))
  execution.signal.addEventListener('abort', () => {
    execution.say(`verify: restores the account; another signal ends it at once, then ${sweepLine}`)
  })
  const judge = new Judge({ choices, isOwnName: (name) => name.toLowerCase().includes(holdings.mark), isSoleWriter })
  const asking = running.verify({
    ...{ ...wayTo(session), holdings, ledger, writes, judge, suffix: values.domainSuffix },
    plan: planProbes({ writes, exhaust: values.exhaust }),
    onProgress: (line) => execution.show(line),
  })
  const result = await asking.catch((error: unknown) => {
    // The run creates nothing without an intent.
    if (holdings.hasIntents) execution.say(`verify: to clean up: ${sweepLine}`)
    else ledger.remove()
    throw error
  })
  const { conclusion, ended, cleanup } = result
  if (cleanup.restored) ledger.remove()
  const { accepted } = review.compare(conclusion)
  const assessment = assess({ result, choices, target, accepted, minReached, isSoleWriter })
  const { interruptedWith, ...times } = execution.times
  const isBroken = ended?.kind === 'connection' || ended?.kind === 'ledger'
  const exitCode = ended?.kind === 'interrupted' ? interruptedWith : isBroken ? 3 : undefined
  const left = cleanup.restored ? undefined : sweepLine
  const report = describeVerify({ ...{ target, result, assessment, minReached, sweep: left, exitCode }, ...times })
  const found = { conclusion, report, failOn: 'service', isWhole: ended === undefined, target } as const
  return review.finish({ ...found, secrets: [apiKey] }, execution)
}

/** Removes what the run of a ledger has left. Resolves to the exit code. @throws UsageError */
async function sweep(session: VerifySession, path: string): Promise<number> {
  const { reading, execution, target, apiKey } = session
  const content = await readingLedger(reading.sources.sweep, async () => {
    const found = await readLedger(path)
    if (found.head.digest === digestOf(target, apiKey)) return found
    const whose = found.head.target === target ? 'another key' : `another target, ${shorten(found.head.target)}`
    throw new LedgerError(`is the ledger of ${whose}`)
  })
  const cleanup = await running.sweep({ ...wayTo(session), holdings: Holdings.of(content) })
  execution.say(`verify: of the run ${content.head.run}, ${describeCleanup(cleanup)}`)
  if (!cleanup.restored) return execution.say(`verify: to try again: ${writeSweep(path, target)}`, 1)
  rmSync(path, { force: true })
  return isAsBefore(cleanup) || !reading.values.soleWriter ? 0 : 1
}

/** @throws UsageError with the option if the ledger cannot be used */
function readingLedger<Result>(source: string, read: () => Promise<Result>): Promise<Result> {
  return read().catch((error: unknown) => {
    throw error instanceof LedgerError ? new UsageError(`${source}: ${error.message}`) : error
  })
}

/** The command that removes what the run of this ledger has left. */
function writeSweep(path: string, target: string): string {
  return `dmarc-understudy verify --sweep ${quoteWord(path)} --base-url ${quoteWord(target)} --api-key "$API_KEY"`
}
