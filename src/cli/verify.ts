import type { Contract } from '../contract/contract.ts'
import { LIMITS } from '../domain/limits.ts'
import { AnswerCounts } from '../evidence/answers.ts'
import { hashKey, nameInstance } from '../ground/secrets.ts'
import { quoteWord } from '../ground/shell-word.ts'
import { shorten, show } from '../ground/show.ts'
import { pause } from '../ground/timers.ts'
import { isLoopback } from '../http/hosts.ts'
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
} from '../start/option.ts'
import type { VerifyProgress } from '../verify/asking.ts'
import { assess, concernsService } from '../verify/assessment.ts'
import type { Reserve } from '../verify/budget.ts'
import { Client, ConnectionError } from '../verify/client.ts'
import { foresee } from '../verify/foresight.ts'
import { Holdings, markOf } from '../verify/holdings.ts'
import { digestOf, Ledger, type LedgerContent, LedgerError, type LedgerHead } from '../verify/ledger.ts'
import { describePlan, planProbes } from '../verify/plan.ts'
import { describeRefusal, describeVerify } from '../verify/report.ts'
import { inWords, TargetError } from '../verify/target-check.ts'
import * as verification from '../verify/verification.ts'
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
  type: 'readonly string[]',
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
    help: 'Fail if a smaller share of the checks was reached.',
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
  resume: {
    kind: text,
    placeholder: 'LEDGER',
    help: 'Continue the run of this ledger with what was not asked yet.',
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
    refuseContradictions(reading)
    const review = await openReview('verify', reading, [
      { source: sources.resume, file: values.resume, isRead: true },
      { source: sources.sweep, file: values.sweep, isRead: true },
      { source: sources.ledger, file: values.ledger },
    ])
    const reserve = readReserve(reading, review.choices.contract)
    if (values.showPlan) {
      const { contract } = review.choices
      const writes = mayWrite(values)
      const plan = planProbes(await foresee(review.choices), contract, { ...values, writes })
      for (const line of describePlan(plan, contract, { writes, reserve })) terminal.print(line)
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
      } finally {
        client.close()
      }
    })
  },
}

function refuseContradictions({ values, sources }: VerifyReading): void {
  if (values.readOnly && values.allowWrites)
    throw new UsageError('--read-only: contradicts --allow-writes; give one of them')
  if (values.resume !== undefined && values.sweep !== undefined) {
    throw new UsageError(`${sources.resume}: contradicts --sweep; a run is either continued or undone`)
  }
  for (const name of ['resume', 'sweep'] as const) {
    if (values[name] !== undefined && values.ledger !== undefined) {
      throw new UsageError(`${sources.ledger}: contradicts --${name}, which names the ledger`)
    }
  }
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
  const { minReached } = reading.values
  const { choices } = review
  const opened = openLedger(session)
  const { ledger } = opened
  const sweepLine = commandLine(target, 'sweep', ledger)
  // A sweep always may remove things.
  const permission = reading.values.allowWrites ? ' --allow-writes' : ''
  const result = await askTarget(session, opened, sweepLine)
  const { conclusion, cleanup, ended } = result
  const answers = new AnswerCounts(choices.contract)
  for (const { exchange } of result.exchanges) answers.note(exchange)
  const findings = conclusion.findings.filter(concernsService)
  const accepted = new Set(review.apply(findings, answers)?.accepted.map(({ finding }) => finding.id))
  const isAccepted = ({ id }: { id: string }) => accepted.has(id)
  const assessment = assess({ result, choices, target, isAccepted, minReached })
  const isOpen = result.probes.some(({ state }) => state !== 'asked') && ended !== undefined
  const keeps = isOpen || !cleanup.restored
  if (keeps) ledger.close()
  else ledger.remove()
  const { interruptedWith, ...times } = execution.times
  const report = describeVerify({
    ...{ target, result, assessment, choices, minReached, ...times },
    resume: keeps ? commandLine(target, 'resume', ledger) + permission : undefined,
    sweep: cleanup.restored ? undefined : sweepLine,
    exitCode: ended === 'interrupted' ? interruptedWith : ended === 'connection' || ended === 'ledger' ? 3 : undefined,
  })
  const isWhole = ended === undefined
  return review.finish({ conclusion, answers, report, findings, isWhole, target, secrets: [apiKey] }, execution)
}

/** Asks the service everything, and shows the progress. `sweepLine` is the command that cleans up afterwards. */
async function askTarget(
  { reading, review, reserve, apiKey, client, execution }: VerifySession,
  { ledger, earlier, run, suffix: ending, writes }: ReturnType<typeof openLedger>,
  sweepLine: string,
): Promise<verification.VerifyResult> {
  const { exhaust, soleWriter, wait: waits } = reading.values
  const { signal } = execution
  let shown = ''
  /** A long wait repeats the same text, and a log needs it only once. */
  function show(text: string): void {
    if (text !== shown) execution.show(text)
    shown = text
  }
  signal.addEventListener('abort', () => {
    execution.say(`verify: restores the account; another signal ends it at once, then ${sweepLine}`)
  })
  const holdings = earlier === undefined ? new Holdings(markOf(run)) : Holdings.of(earlier)
  execution.lastWords = () => describeStop(holdings, sweepLine)
  const running = verification.verify({
    ...{ choices: review.choices, client, apiKey, holdings, ledger, earlier, suffix: ending, writes },
    ...{ exhaust, soleWriter, reserve, waits, sleep, signal },
    onProgress: (told) => show(describeProgress(told, waits)),
    onRehearsal: (done, all) => show(`rehearses its questions under each choice: ${done} of ${all}`),
  })
  return running.catch((error: unknown) => {
    // The run creates nothing without an intent, and an earlier run has asked something.
    if (holdings.hasIntents) execution.say(`verify: to clean up: ${sweepLine}`)
    else if (earlier === undefined) ledger.remove()
    throw error
  })
}

async function sweepTarget(session: VerifySession, path: string): Promise<number> {
  const { reading, review, reserve, apiKey, client, execution, target } = session
  const { wait: waits } = reading.values
  const { ledger, content } = useLedger(session, path)
  const { contract } = review.choices
  const holdings = Holdings.of(content)
  execution.lastWords = () => describeStop(holdings, commandLine(target, 'sweep', ledger))
  const cleanup = await verification.sweep({
    ...{ client, contract, apiKey, ledger, holdings, reserve, waits, sleep, signal: execution.signal },
  })
  const { removed, left, restored, changes, reason } = cleanup
  const did = `verify: removed ${removed.domains} domains and ${removed.groups} groups of the run ${content.head.run}`
  if (restored) {
    ledger.remove()
    const others =
      changes.length === 0 ? '' : ` Others have changed it meanwhile: ${shorten(changes.join('; '), 1_000)}.`
    return execution.say(`${did}; the account is as before.${others}`, 0)
  }
  ledger.close()
  const remains = [...left.domains, ...left.groups.map((id) => `group ${id}`)]
  const parts = [
    reason ?? 'the reason is not known',
    ...(remains.length > 0 ? [`still there: ${remains.join(', ')}`] : []),
    ...changes,
  ]
  execution.say(`${did}; it is not shown that the account is as before: ${shorten(parts.join('; '), 2_000)}`)
  return execution.say(`verify: to try again: ${commandLine(target, 'sweep', ledger)}`, 1)
}

/** What the run has in the account when a second signal ends it, as far as the answers have shown. */
function describeStop({ domains, groups, unknown }: Holdings, sweepLine: string): string {
  const left = [...domains, ...[...groups.keys()].map((id) => `group ${id}`)]
  const more = unknown === 0 ? '' : `, and what ${unknown} requests may have created`
  const still = left.length === 0 ? 'nothing that is known' : shorten(left.join(', '), 2_000)
  return `verify: ended at once; still there: ${still}${more}; to clean up: ${sweepLine}`
}

/** Opens the ledger of a new run, or of the run that continues. @throws UsageError */
function openLedger(
  session: VerifySession,
): Pick<LedgerHead, 'run' | 'suffix' | 'writes'> & { ledger: Ledger; earlier: LedgerContent | undefined } {
  const { reading, target, apiKey } = session
  const { values, sources } = reading
  const writes = mayWrite(values)
  if (values.resume !== undefined) {
    const { ledger, content } = useLedger(session, values.resume)
    return { ...content.head, ledger, earlier: content, writes: content.head.writes && writes }
  }
  const run = hashKey(nameInstance()).slice(0, 8)
  const path = values.ledger ?? `understudy-verify-${run}.json`
  const head = { run, target, digest: digestOf(target, apiKey), suffix: values.domainSuffix, writes }
  try {
    return { ...head, ledger: Ledger.create(path, head), earlier: undefined }
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error
    throw new UsageError(`${values.ledger === undefined ? `--ledger ${path}` : sources.ledger}: ${error.message}`)
  }
}

/** Opens the ledger of an earlier run. @throws UsageError if its target or its account is a different one */
function useLedger(
  { reading, target, apiKey }: VerifySession,
  path: string,
): { ledger: Ledger; content: LedgerContent } {
  const source = reading.values.resume === undefined ? reading.sources.sweep : reading.sources.resume
  try {
    const { head } = Ledger.read(path)
    if (head.digest !== digestOf(target, apiKey)) {
      const whose = head.target === target ? 'another key' : `another target, ${shorten(head.target)}`
      throw new LedgerError(`is the ledger of ${whose}`)
    }
    return Ledger.continue(path)
  } catch (error) {
    if (error instanceof LedgerError) throw new UsageError(`${source}: ${error.message}`)
    throw error
  }
}

function commandLine(target: string, option: 'resume' | 'sweep', { path }: Ledger): string {
  return `dmarc-understudy verify --${option} ${quoteWord(path)} --base-url ${quoteWord(target)} --api-key "$API_KEY"`
}

/** The longest delay of a timer in milliseconds. Node.js treats a longer delay as no delay. */
const LONGEST_PAUSE = 2 ** 31 - 1

/** Also resolves when the signal is aborted. */
function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return pause(Math.min(milliseconds, LONGEST_PAUSE), undefined, { signal }).catch(() => {})
}

/**
 * The progress of a run in one line, with the most important part first: a terminal may show only 80 columns. `waits`:
 * whether the run waits for quotas, so that it has a remaining time.
 */
export function describeProgress({ asked, planned, doing, quotas, toGo }: VerifyProgress, waits: boolean): string {
  const time = waits && toGo > 0 ? `, ${inWords(toGo)} to go` : ''
  const left = quotas.map((quota) => `${quota.path} ${quota.left}`).join(', ')
  const resets = quotas.flatMap(({ resetsIn }) => resetsIn ?? [])
  const reset = resets.length === 0 ? '' : `; reset in ${inWords(Math.min(...resets))}`
  const state = `left: ${left}${reset}`
  // The name of a question is the least informative part; a sentence is the most informative part.
  const parts = doing.includes(' ') ? [doing, state] : [state, doing]
  return `${asked} of ${planned}${time}; ${parts.join('; ')}`
}
