import { rmSync } from 'node:fs'
import type { Contract } from '../contract/contract.ts'
import { LIMITS } from '../domain/limits.ts'
import { AnswerCounts } from '../evidence/answers.ts'
import { systemClock } from '../ground/clock.ts'
import { isLoopback } from '../ground/hosts.ts'
import { hashKey, nameInstance } from '../ground/secrets.ts'
import { quoteWord } from '../ground/shell-word.ts'
import { shorten, show } from '../ground/show.ts'
import { pause } from '../ground/timers.ts'
import { Judge } from '../judge/judge.ts'
import {
  fileName,
  type OptionKind,
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
import type { Reserve } from '../verify/budget.ts'
import { assess, concernsService } from '../verify/checks.ts'
import { describeRest, isAsBefore } from '../verify/cleanup.ts'
import { Client, ConnectionError } from '../verify/client.ts'
import { Holdings, markOf } from '../verify/holdings.ts'
import { digestOf, Ledger, type LedgerContent, LedgerError, readLedger } from '../verify/ledger.ts'
import { describePlan, planProbes } from '../verify/plan.ts'
import { describeRefusal, describeVerify } from '../verify/report.ts'
import * as running from '../verify/run.ts'
import { inWords, TargetError } from '../verify/target.ts'
import type { Command } from './command.ts'
import { UsageError } from './errors.ts'
import { type Execution, execute } from './execution.ts'
import { type ReadOptions, readOptions, refuseOperands } from './options.ts'
import { openReview, REVIEW_OPTIONS, type Review } from './review.ts'
import { baseUrl } from './target-options.ts'

/** The run puts up to 40 characters before the suffix, and a hostname has at most 253. */
const suffix = textThat(
  (written) =>
    written.length <= 200 && /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z][a-z0-9-]{0,61}[a-z0-9]$/.test(written),
  'must be a domain below which names may be added, such as example or test.example.com',
  'DOMAIN',
)

/** `5` for all paths, or `domains=5` for one. */
const reserve: OptionKind<readonly string[]> = {
  remedy: `must be a whole number from 0 to ${LIMITS.quota}, or a quota and such a number, as domains=5`,
  placeholder: '[PATH=]N',
  repeatable: true,
  fits: (value): value is readonly string[] =>
    Array.isArray(value) && value.every((each) => /^(?:[^=]+=)?\d{1,15}$/.test(each) && amountIn(each) <= LIMITS.quota),
  read: (written) => written,
}

function amountIn(written: string): number {
  return Number(written.split('=').at(-1))
}

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
    kind: reserve,
    help: 'Requests in the quota of each path that are left to other clients; domains=5 is for one path. The cleanup may use them.',
    default: [],
    defaultText: '0',
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

type VerifyReading = ReadOptions<typeof OPTIONS>

export const verify: Command = {
  options: OPTIONS,

  async run(args, terminal) {
    const reading = readOptions(OPTIONS, args, terminal.environment)
    const { values, sources } = reading
    refuseOperands('verify', reading.positionals)
    if (values.readOnly && values.allowWrites)
      throw new UsageError('--read-only: contradicts --allow-writes; give one of them')
    if (values.sweep !== undefined && values.ledger !== undefined)
      throw new UsageError(`${sources.ledger}: contradicts --sweep, which names the ledger`)
    const review = await openReview('verify', reading, [
      { source: sources.sweep, file: values.sweep, isRead: true },
      { source: sources.ledger, file: values.ledger },
    ])
    const reserve = readReserve(reading, review.choices.contract)
    if (values.showPlan) {
      const writes = mayWrite(values)
      const plan = planProbes({ ...values, writes })
      for (const line of describePlan(plan, review.choices.contract, { writes, reserve })) terminal.print(line)
      return 0
    }
    const { baseUrl: written, apiKey } = values
    if (written === undefined) throw new UsageError('--base-url URL: is needed, such as http://127.0.0.1:4010/api/v1')
    if (apiKey === undefined) {
      throw new UsageError('--api-key KEY: is needed, best in the environment as DMARC_UNDERSTUDY_API_KEY')
    }
    const target = written.replace(/\/+$/, '')
    const client = new Client(new URL(target), readDuration(values.timeout))
    return execute('verify', terminal, async (execution) => {
      const session = { reading, review, reserve, target, apiKey, client, execution }
      try {
        return values.sweep === undefined ? await verifyTarget(session) : await sweepTarget(session, values.sweep)
      } catch (error) {
        const isReached = error instanceof TargetError
        if (!isReached && !(error instanceof ConnectionError)) throw error
        const reason = isReached ? error.message : `${target} cannot be reached: ${error.message}`
        const exitCode = isReached ? 1 : 3
        if (values.sweep !== undefined) return execution.say(`verify: ${reason}`, exitCode)
        const report = describeRefusal(target, reason, { ...execution.times, exitCode })
        return execution.refuse(report, values.report)
      }
    })
  },
}

/** @throws UsageError for a path without a quota */
function readReserve({ values, sources }: VerifyReading, { operations }: Contract): Reserve {
  const names = [...new Set(operations.flatMap(({ path, quota }) => (quota === undefined ? [] : [path.slice(1)])))]
  const amounts = new Map<string, number>()
  for (const written of values.reserve) {
    const [name = ''] = written.includes('=') ? written.split('=') : ['']
    if (name !== '' && !names.includes(name)) {
      throw new UsageError(`${sources.reserve}: there is no quota ${show(name)}; the quotas are ${names.join(', ')}`)
    }
    amounts.set(name, amountIn(written))
  }
  return (path) => amounts.get(path.slice(1)) ?? amounts.get('') ?? 0
}

function mayWrite({ baseUrl: target, readOnly, allowWrites }: Values<typeof OPTIONS>): boolean {
  if (readOnly) return false
  return allowWrites || (target !== undefined && isLoopback(new URL(target).hostname))
}

interface VerifySession {
  reading: VerifyReading
  review: Review
  reserve: Reserve
  target: string
  apiKey: string
  client: Client
  execution: Execution
}

async function verifyTarget(session: VerifySession): Promise<number> {
  const { reading, review, target, apiKey, execution } = session
  const { minReached, soleWriter: isSoleWriter } = reading.values
  const { choices } = review
  const { ledger, run } = createLedger(session)
  const sweepLine = commandLine(target, ledger.path)
  const result = await askTarget(session, { ledger, run, sweepLine })
  const { conclusion, cleanup, ended } = result
  const answers = new AnswerCounts(choices.contract)
  for (const { exchange } of result.exchanges) answers.note(exchange)
  const findings = conclusion.findings.filter(concernsService)
  const accepted = new Set(review.apply(findings, answers)?.accepted.map(({ finding }) => finding.id))
  const isAccepted = ({ id }: { id: string }) => accepted.has(id)
  const assessment = assess({ result, choices, target, isAccepted, minReached, isSoleWriter })
  if (cleanup.restored) ledger.remove()
  const { interruptedWith, ...times } = execution.times
  const isBroken = ended?.kind === 'connection' || ended?.kind === 'ledger'
  const report = describeVerify({
    ...{ target, result, assessment, choices, minReached, ...times },
    sweep: cleanup.restored ? undefined : sweepLine,
    exitCode: ended?.kind === 'interrupted' ? interruptedWith : isBroken ? 3 : undefined,
  })
  const isWhole = ended === undefined
  return review.finish({ conclusion, answers, report, findings, isWhole, target, secrets: [apiKey] }, execution)
}

/** Asks the service everything, and shows the progress. `sweepLine` is the command that cleans up afterwards. */
async function askTarget(
  { reading, review, reserve, apiKey, client, execution }: VerifySession,
  { ledger, run, sweepLine }: { ledger: Ledger; run: string; sweepLine: string },
): Promise<running.VerifyResult> {
  const { values } = reading
  const { exhaust, soleWriter: isSoleWriter, domainSuffix, wait: waits } = values
  const { choices } = review
  const { contract } = choices
  const { signal } = execution
  const writes = mayWrite(values)
  const holdings = new Holdings(markOf(run))
  const isOwnName = (name: string) => name.toLowerCase().includes(holdings.mark)
  let shown = ''
  signal.addEventListener('abort', () => {
    execution.say(`verify: restores the account; another signal ends it at once, then ${sweepLine}`)
  })
  execution.lastWords = () => describeStop(holdings, sweepLine)
  const asking = running.verify({
    ...{ client, contract, apiKey, holdings, ledger, reserve, waits, sleep, signal, writes },
    clock: systemClock,
    plan: planProbes({ writes, exhaust }),
    suffix: domainSuffix,
    judge: await Judge.begin({ choices, isOwnName, isSoleWriter }),
    onProgress(progress) {
      const text = describeProgress(progress)
      // A long wait repeats the same text, and a log needs it only once.
      if (text !== shown) execution.show(text)
      shown = text
    },
  })
  return asking.catch((error: unknown) => {
    // The run creates nothing without an intent.
    if (holdings.hasIntents) execution.say(`verify: to clean up: ${sweepLine}`)
    else ledger.remove()
    throw error
  })
}

async function sweepTarget(session: VerifySession, path: string): Promise<number> {
  const { reading, review, execution, target } = session
  const content = await openLedger(session, path)
  const holdings = Holdings.of(content)
  const { signal } = execution
  execution.lastWords = () => describeStop(holdings, commandLine(target, path))
  const { contract } = review.choices
  const { values } = reading
  // What is swept up creates nothing.
  const ledger = { write: () => {} }
  const terms = { contract, ledger, holdings, waits: values.wait, sleep, signal, clock: systemClock }
  const cleanup = await running.sweep({ ...session, ...terms })
  const { removed, restored, gained } = cleanup
  const did = `verify: removed ${removed.domains} domains and ${removed.groups} groups of the run ${content.head.run}`
  if (!restored) {
    execution.say(`${did}; it is not shown that nothing is left: ${shorten(describeRest(cleanup), 2_000)}`)
    return execution.say(`verify: to try again: ${commandLine(target, path)}`, 1)
  }
  rmSync(path, { force: true })
  if (!isAsBefore(cleanup)) {
    const changes = `another client or the service has changed the rest: ${shorten(describeRest(cleanup), 2_000)}.`
    return execution.say(`${did}; nothing of it is left; ${changes}`, values.soleWriter ? 1 : 0)
  }
  const others = gained.length === 0 ? '' : ` Others have added meanwhile: ${shorten(gained.join('; '), 1_000)}.`
  return execution.say(`${did}; the account is as before.${others}`, 0)
}

/** What the run has in the account when a second signal ends it, as far as the answers have shown. */
function describeStop({ domains, groups, unknown }: Holdings, sweepLine: string): string {
  const left = [...domains, ...[...groups.keys()].map((id) => `group ${id}`)]
  const more = unknown === 0 ? '' : `, and what ${unknown} requests may have created`
  const still = left.length === 0 ? 'nothing that is known' : shorten(left.join(', '), 2_000)
  return `verify: ended at once; still there: ${still}${more}; to clean up: ${sweepLine}`
}

/** @throws UsageError */
function createLedger({ reading, target, apiKey }: VerifySession): { ledger: Ledger; run: string } {
  const { values, sources } = reading
  const run = hashKey(nameInstance()).slice(0, 8)
  const path = values.ledger ?? `understudy-verify-${run}.json`
  try {
    return { run, ledger: new Ledger(path, { run, target, digest: digestOf(target, apiKey) }) }
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error
    throw new UsageError(`${values.ledger === undefined ? `--ledger ${path}` : sources.ledger}: ${error.message}`)
  }
}

/** Reads the ledger of an earlier run. @throws UsageError if its target or its account is a different one */
async function openLedger({ reading, target, apiKey }: VerifySession, path: string): Promise<LedgerContent> {
  try {
    const content = await readLedger(path)
    const { head } = content
    if (head.digest === digestOf(target, apiKey)) return content
    const whose = head.target === target ? 'another key' : `another target, ${shorten(head.target)}`
    throw new LedgerError(`is the ledger of ${whose}`)
  } catch (error) {
    if (error instanceof LedgerError) throw new UsageError(`${reading.sources.sweep}: ${error.message}`)
    throw error
  }
}

/** The command that removes what the run of this ledger has left. */
function commandLine(target: string, path: string): string {
  return `dmarc-understudy verify --sweep ${quoteWord(path)} --base-url ${quoteWord(target)} --api-key "$API_KEY"`
}

/** Also resolves when the signal is aborted. */
function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return pause(milliseconds, undefined, { signal }).catch(() => {})
}

/** The progress of a run in one line, with the most important part first: a terminal may show only 80 columns. */
export function describeProgress({ asked, planned, doing, quotas }: running.VerifyProgress): string {
  const left = quotas.map((quota) => `${quota.path} ${quota.left}`).join(', ')
  const resets = quotas.flatMap(({ resetsIn }) => resetsIn ?? [])
  const reset = resets.length === 0 ? '' : `; reset in ${inWords(Math.min(...resets))}`
  const state = `left: ${left}${reset}`
  // The name of a question is the least informative part; a sentence is the most informative part.
  const parts = doing.includes(' ') ? [doing, state] : [state, doing]
  return `${asked} of ${planned}; ${parts.join('; ')}`
}
