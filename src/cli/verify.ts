import { constants } from 'node:os'
import { type Choices, readChoices } from '../contract/choices.ts'
import { readOverlay } from '../contract/overlay.ts'
import { AnswerCounts } from '../evidence/answers.ts'
import { writeEvidence } from '../evidence/evidence-file.ts'
import { elapsed, systemClock } from '../ground/clock.ts'
import { hashKey, nameInstance } from '../ground/secrets.ts'
import { quoteWord } from '../ground/shell-word.ts'
import { printable, shorten } from '../ground/show.ts'
import { isLoopback } from '../http/hosts.ts'
import { checkTarget } from '../reports/targets.ts'
import {
  type OptionKind,
  type Options,
  readDuration,
  secret,
  text,
  timeLimit,
  toggle,
  type Values,
  wholeNumber,
} from '../start/option.ts'
import { COMMAND_LINE_OPTIONS } from '../start/option-table.ts'
import { assess, concernsService } from '../verify/assessment.ts'
import { Client, ConnectionError } from '../verify/client.ts'
import { Custody } from '../verify/custody.ts'
import { digestOf, Ledger, type LedgerContent, LedgerError } from '../verify/ledger.ts'
import { TargetError } from '../verify/opening.ts'
import { describePlan } from '../verify/plan-text.ts'
import { sweep as runSweep } from '../verify/sweep.ts'
import { verify as runVerify, type VerifyResult } from '../verify/verification.ts'
import { describeVerify } from '../verify/verify-report.ts'
import { BASELINE_OPTIONS, openBaseline } from './baselines.ts'
import type { Command } from './command.ts'
import { UsageError } from './errors.ts'
import { Interrupted, Interruption } from './interruption.ts'
import { type ReadOptions, readOptions, refuseOperands } from './options.ts'
import { Progress } from './progress.ts'
import { checkReports, deliverReport, REPORT_OPTIONS } from './reports.ts'
import { baseUrl } from './target-options.ts'
import type { Terminal } from './terminal.ts'
import { describeProgress } from './verify-progress.ts'

/** The run puts up to 40 characters before the suffix, and a hostname has at most 253. */
const suffix: OptionKind<string> = {
  ...text,
  remedy: 'must be a domain below which names may be added, such as example or test.example.com',
  placeholder: 'DOMAIN',
  fits: (value): value is string =>
    typeof value === 'string' &&
    value.length <= 200 &&
    /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z][a-z0-9-]{0,61}[a-z0-9]$/.test(value),
}

const OPTIONS = {
  baseUrl: { kind: baseUrl, help: 'The base URL of the service, with its version segment.' },
  apiKey: {
    kind: secret,
    placeholder: 'KEY',
    help: 'The API key. In the environment, no list of processes shows it. No report, ledger or log has it.',
  },
  allowWrites: {
    kind: toggle,
    help: 'Also send requests that create and remove things to a host other than this machine.',
    default: false,
  },
  readOnly: { kind: toggle, help: 'Send nothing but GET and HEAD, also to this machine.', default: false },
  showPlan: {
    kind: toggle,
    flag: 'plan',
    help: 'Send nothing; print each request, what it costs, what it decides, and how long everything takes.',
    default: false,
  },
  reserve: {
    kind: wholeNumber(0, 1_000),
    help: 'Number of requests in the quota of each path that are left to other clients.',
    default: 0,
  },
  wait: {
    kind: toggle,
    help: 'Wait for the reset when a quota is used up, until everything was asked. Without this option, the run ends at that point.',
    default: false,
  },
  exhaust: {
    kind: toggle,
    help: 'At the end, use up each quota to see how a request beyond it is refused. Other clients with the key are refused, too, until the reset.',
    default: false,
  },
  soleWriter: {
    kind: toggle,
    help: 'No other client changes the account during the run, so the answers show more about the service.',
    default: false,
  },
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
    kind: text,
    placeholder: 'FILE',
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
  overlays: {
    ...COMMAND_LINE_OPTIONS.overlays,
    flagHelp: 'OpenAPI Overlay that changes the assumptions about the service: a YAML or JSON file.',
  },
  evidence: {
    kind: text,
    placeholder: 'FILE',
    help: 'Write the results to FILE, for calibrate and assumptions. It holds no key.',
  },
  ...BASELINE_OPTIONS,
  ...REPORT_OPTIONS,
} as const satisfies Options

type VerifyReading = ReadOptions<typeof OPTIONS>

export const verify: Command = {
  options: OPTIONS,

  async run(args, terminal) {
    const reading = readOptions(OPTIONS, args, terminal.environment)
    const { values, sources } = reading
    refuseOperands('verify', reading.positionals)
    refuseContradictions(reading)
    await checkReports(values.report, [
      { source: sources.resume, file: values.resume, isRead: true },
      { source: sources.sweep, file: values.sweep, isRead: true },
      { source: sources.ledger, file: values.ledger },
      { source: sources.baseline, file: values.baseline, isRead: !values.updateBaseline },
      { source: sources.evidence, file: values.evidence },
    ])
    const reason = values.evidence === undefined ? undefined : await checkTarget(values.evidence)
    if (reason !== undefined) throw new UsageError(`${sources.evidence}: ${reason}`)
    const choices = await readChoices(await Promise.all(values.overlays.map(readOverlay)))
    if (values.showPlan) {
      const writes = mayWrite(values)
      for (const line of await describePlan(choices, { ...values, writes })) terminal.print(line)
      return 0
    }
    const { baseUrl: written, apiKey } = values
    if (written === undefined) throw new UsageError('--base-url URL: is needed, such as http://127.0.0.1:4010/api/v1')
    if (apiKey === undefined) {
      throw new UsageError('--api-key KEY: is needed, best in the environment as DMARC_UNDERSTUDY_API_KEY')
    }
    const target = written.replace(/\/+$/, '')
    const client = new Client(new URL(target), readDuration(values.timeout))
    const interruption = new Interruption(terminal, { isOver: true })
    const session = { reading, terminal, choices, target, apiKey, client, interruption }
    try {
      return values.sweep === undefined ? await verifyTarget(session) : await sweepTarget(session, values.sweep)
    } catch (error) {
      if (error instanceof TargetError) return say(terminal, error.message, 1)
      if (error instanceof ConnectionError) return say(terminal, `${target} cannot be reached: ${error.message}`, 3)
      throw error
    } finally {
      interruption.release()
      client.close()
    }
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

function mayWrite({ baseUrl: target, readOnly, allowWrites }: Values<typeof OPTIONS>): boolean {
  if (readOnly) return false
  return allowWrites || (target !== undefined && isLoopback(new URL(target).hostname))
}

interface VerifySession {
  reading: VerifyReading
  terminal: Terminal
  choices: Choices
  target: string
  apiKey: string
  client: Client
  interruption: Interruption
}

async function verifyTarget(session: VerifySession): Promise<number> {
  const { reading, terminal, choices, target, apiKey, client, interruption } = session
  const { values } = reading
  const baseline = await openBaseline(values)
  const { ledger, earlier, suffix: ending, writes } = openLedger(session)
  const custody = earlier === undefined ? new Custody(runOf(ledger)) : Custody.of(earlier)
  const progress = new Progress(terminal)
  let shown = ''
  /** A long wait repeats the same text, and a log needs it only once. */
  function show(text: string): void {
    if (text !== shown) progress.show(`verify: ${text}`)
    shown = text
  }
  const startedAt = new Date(systemClock()).toISOString()
  const began = elapsed()
  interruption.signal.addEventListener('abort', () => {
    progress.end()
    terminal.printError(
      `dmarc-understudy: verify: restores the account; another signal ends it at once, then ${sweepLine(session, ledger)}`,
    )
  })
  let result: VerifyResult
  try {
    result = await runVerify({
      choices,
      client,
      apiKey,
      custody,
      ledger,
      earlier,
      suffix: ending,
      writes,
      exhaust: values.exhaust,
      soleWriter: values.soleWriter,
      reserve: values.reserve,
      waits: values.wait,
      sleep,
      signal: interruption.signal,
      onProgress: (told) => show(describeProgress(told, values.wait)),
      onRehearsal: (done, all) => show(`rehearses its questions under each choice: ${done} of ${all}`),
    })
  } catch (error) {
    progress.end()
    // The run creates nothing without an intent. Without intents, the ledger is not needed.
    if (custody.hasIntents) terminal.printError(`dmarc-understudy: verify: to clean up: ${sweepLine(session, ledger)}`)
    else ledger.remove()
    throw error
  } finally {
    progress.end()
  }
  const answers = new AnswerCounts(choices.contract)
  for (const { exchange } of result.exchanges) answers.note(exchange)
  const found = result.conclusion.findings.filter(concernsService)
  const accepted = new Set(baseline?.apply(found, answers.looked).accepted.map(({ finding }) => finding.id))
  const isAccepted = ({ id }: { id: string }) => accepted.has(id)
  const assessment = assess({ result, choices, target, isAccepted, minReached: values.minReached })
  const isOpen = result.probes.some(({ state }) => state !== 'asked') && result.ended !== undefined
  const keeps = isOpen || !result.cleanup.restored
  if (keeps) ledger.close()
  else ledger.remove()
  const report = describeVerify({
    target,
    result,
    assessment,
    choices,
    minReached: values.minReached,
    resume: keeps ? commandLine(session, 'resume', ledger) : undefined,
    sweep: result.cleanup.restored ? undefined : commandLine(session, 'sweep', ledger),
    exitCode: exitCodeAfter(result, interruption.signal),
    startedAt,
    seconds: Math.round(elapsed() - began) / 1000,
  })
  if (values.evidence !== undefined) {
    await writeEvidence(values.evidence, result.conclusion, {
      tool: 'verify',
      choices,
      overlays: values.overlays,
      targets: [target],
      secrets: [apiKey],
    })
  }
  if (result.ended === undefined) await baseline?.finish(found, answers.looked)
  return deliverReport(report, values.report, terminal, (written) => written.replaceAll(apiKey, '$API_KEY'))
}

async function sweepTarget(session: VerifySession, path: string): Promise<number> {
  const { reading, terminal, choices, apiKey, client, interruption } = session
  const { ledger, content } = useLedger(session, path)
  const cleanup = await runSweep({
    client,
    contract: choices.contract,
    apiKey,
    ledger,
    content,
    reserve: reading.values.reserve,
    waits: reading.values.wait,
    sleep,
    signal: interruption.signal,
  })
  const { removed, left, restored, changes, reason } = cleanup
  const did = `removed ${removed.domains} domains and ${removed.groups} groups of the run ${content.head.run}`
  if (restored) {
    ledger.remove()
    const others =
      changes.length === 0 ? '' : ` Others have changed it meanwhile: ${shorten(changes.join('; '), 1_000)}.`
    return say(terminal, `${did}; the account is as before.${others}`, 0)
  }
  ledger.close()
  const remains = [...left.domains, ...left.groups.map((id) => `group ${id}`)]
  const parts = [
    reason ?? 'the reason is not known',
    ...(remains.length > 0 ? [`still there: ${remains.join(', ')}`] : []),
    ...changes,
  ]
  return say(terminal, `${did}; it is not shown that the account is as before: ${shorten(parts.join('; '), 2_000)}`, 1)
}

function say(terminal: Terminal, message: string, exitCode: number): number {
  terminal.printError(`dmarc-understudy: verify: ${printable(message.replaceAll(/\s*\n\s*/g, ' '))}`)
  return exitCode
}

interface OpenLedger {
  ledger: Ledger
  earlier: LedgerContent | undefined
  suffix: string
  writes: boolean
}

/** Opens the ledger of a new run, or of the run that continues. @throws UsageError */
function openLedger(session: VerifySession): OpenLedger {
  const { values, sources } = session.reading
  if (values.resume !== undefined) {
    const { ledger, content } = useLedger(session, values.resume)
    return { ledger, earlier: content, suffix: content.head.suffix, writes: content.head.writes && mayWrite(values) }
  }
  const run = hashKey(nameInstance()).slice(0, 8)
  const path = values.ledger ?? `understudy-verify-${run}.json`
  const writes = mayWrite(values)
  const head = {
    run,
    target: session.target,
    digest: digestOf(session.target, session.apiKey),
    suffix: values.domainSuffix,
    writes,
  }
  try {
    const ledger = Ledger.create(path, head)
    runs.set(ledger, run)
    return { ledger, earlier: undefined, suffix: values.domainSuffix, writes }
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error
    throw new UsageError(`${values.ledger === undefined ? `--ledger ${path}` : sources.ledger}: ${error.message}`)
  }
}

const runs = new WeakMap<Ledger, string>()

function runOf(ledger: Ledger): string {
  return runs.get(ledger) ?? ''
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

function commandLine({ target }: Pick<VerifySession, 'target'>, option: 'resume' | 'sweep', { path }: Ledger): string {
  return `dmarc-understudy verify --${option} ${quoteWord(path)} --base-url ${quoteWord(target)} --api-key "$API_KEY"`
}

function sweepLine(session: VerifySession, ledger: Ledger): string {
  return commandLine(session, 'sweep', ledger)
}

/** The exit code if the program could not do its task. */
function exitCodeAfter({ ended }: VerifyResult, { reason }: AbortSignal): number | undefined {
  if (ended === 'interrupted' && reason instanceof Interrupted) return 128 + constants.signals[reason.by]
  return ended === 'connection' || ended === 'ledger' ? 3 : undefined
}

/** The longest delay of a timer in milliseconds. Node.js treats a longer delay as no delay. */
const LONGEST_PAUSE = 2 ** 31 - 1

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, Math.min(milliseconds, LONGEST_PAUSE))
    function end(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    if (signal.aborted) end()
    else signal.addEventListener('abort', end)
  })
}
