import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { isFailure, type JudgedDifference, partyOf } from '../conformance/finding.ts'
import type { Conclusion } from '../conformance/investigation.ts'
import { type Choices, readChoices } from '../contract/choices.ts'
import { readLines } from '../contract/lines.ts'
import { readOverlay } from '../contract/overlay.ts'
import { AnswerCounts } from '../evidence/answers.ts'
import { writeEvidence } from '../evidence/evidence-file.ts'
import { describeFindings } from '../evidence/report.ts'
import { HarFileError, HarWriter } from '../exchanges/har/writer.ts'
import { elapsed, systemClock } from '../ground/clock.ts'
import { plural } from '../ground/plural.ts'
import { printable, shorten } from '../ground/show.ts'
import { isLoopback } from '../http/hosts.ts'
import { type ExchangeJudge, openJudge } from '../proxy/judge.ts'
import { type RunningProxy, startProxy } from '../proxy/proxy.ts'
import { type ProxyTarget, readTarget } from '../proxy/target.ts'
import type { Report } from '../reports/report.ts'
import { checkTarget } from '../reports/targets.ts'
import { type Options, text, toggle } from '../start/option.ts'
import { COMMAND_LINE_OPTIONS } from '../start/option-table.ts'
import { BASELINE_OPTIONS, openBaseline } from './baselines.ts'
import type { Command } from './command.ts'
import { StartError, UsageError } from './errors.ts'
import { Interruption } from './interruption.ts'
import { type ReadOptions, readOptions, refuseOperands } from './options.ts'
import { Progress } from './progress.ts'
import { ReadyFile } from './ready-file.ts'
import { checkReports, deliverReport, REPORT_OPTIONS, readVersion } from './reports.ts'
import { withNamedOptions } from './start.ts'
import type { Terminal } from './terminal.ts'

const { port, host, adminToken, admin, overlays, maxConnections, readyFile, exitWithParent } = COMMAND_LINE_OPTIONS

export const OPTIONS = {
  target: {
    kind: text,
    placeholder: 'URL',
    help: 'Base URL of the service, or its origin. A client changes only host and port: those of the proxy take the place of those of the service.',
  },
  port,
  host,
  ca: {
    kind: text,
    placeholder: 'FILE',
    help: 'Certificates in PEM form that are trusted beside the usual ones, such as that of a test service.',
  },
  insecure: { kind: toggle, help: 'Trust any certificate of the service.', default: false },
  record: {
    kind: text,
    placeholder: 'FILE',
    help: 'Record the traffic in a HAR 1.2 file, without keys. The file is complete at every moment.',
  },
  evidence: {
    kind: text,
    placeholder: 'FILE',
    help: 'Write the results to FILE at the end, for calibrate and assumptions. It holds no key.',
  },
  failOnViolation: {
    kind: toggle,
    help: 'End with 1 if the service or a client did something wrong, or nothing was judged.',
    default: false,
  },
  soleWriter: {
    kind: toggle,
    help: 'All changes of the accounts go through the proxy, so what was seen once stays as it is until a request changes it.',
    default: false,
  },
  overlays: {
    ...overlays,
    flagHelp: 'OpenAPI Overlay that changes the assumptions about the service: a YAML or JSON file.',
  },
  adminToken,
  admin,
  maxConnections: {
    ...maxConnections,
    help: 'The maximum number of client connections at the same time. A further one is closed.',
    default: 1_000,
    defaultText: '1000',
  },
  readyFile: {
    ...readyFile,
    help: 'JSON file that is written when the proxy takes connections, with base_url, admin_url, api_key (null), pid and instance. It is removed at the stop.',
  },
  exitWithParent: {
    ...exitWithParent,
    help: 'Stop when the program that started the proxy has ended, also through npx.',
  },
  ...BASELINE_OPTIONS,
  ...REPORT_OPTIONS,
} as const satisfies Options

/** How many findings are printed immediately. The others wait for the end. */
export const SHOWN_LIVE = 30
/** How long the judging at the end may take, in milliseconds. */
export const JUDGING_PATIENCE = 30_000

export const proxy: Command = {
  options: OPTIONS,

  async run(args, terminal) {
    const reading = readOptions(OPTIONS, args, terminal.environment)
    const { values, sources } = reading
    refuseOperands('proxy', reading.positionals)
    await checkReports(values.report, [
      { source: sources.record, file: values.record },
      { source: sources.baseline, file: values.baseline, isRead: !values.updateBaseline },
      { source: sources.evidence, file: values.evidence },
    ])
    const evidenceProblem = values.evidence === undefined ? undefined : await checkTarget(values.evidence)
    if (evidenceProblem !== undefined) throw new UsageError(`${sources.evidence}: ${evidenceProblem}`)
    if (values.admin && values.adminToken === undefined && !isLoopback(values.host)) {
      throw new UsageError(`${sources.host}: others can reach this address, so give --admin-token TOKEN or --no-admin`)
    }
    const baseline = await openBaseline(values)
    const read = await Promise.all(values.overlays.map(readOverlay))
    const choices = await readChoices(read)
    const target = readTargetOption(reading, choices)
    refuseLoop(target, reading)
    const ready = values.readyFile === undefined ? undefined : new ReadyFile(values.readyFile, sources.readyFile)
    const progress = new Progress(terminal)
    const recording = await openRecording(values.record, sources.record)
    const judge = await openJudge({ choices, overlays: read, isSoleWriter: values.soleWriter }).catch(async (error) => {
      await recording?.close()
      throw error
    })
    const session: ProxySession = {
      reading,
      choices,
      target,
      progress,
      answers: new AnswerCounts(choices.contract),
      recording,
      judge,
      startedAt: new Date(systemClock()).toISOString(),
      began: elapsed(),
    }
    const interruption = new Interruption(terminal, { isOver: true })
    if (values.exitWithParent) void terminal.untilParentEnded().then(() => interruption.receive('SIGTERM'))
    try {
      const running = await withNamedOptions(sources, () => start(session))
      try {
        await checkService(running, session, terminal)
        ready?.write({
          base_url: running.baseUrl,
          admin_url: running.adminUrl ?? null,
          api_key: null,
          pid: process.pid,
          instance: running.instance,
        })
        terminal.print(greeting(running, session))
        await untilAborted(interruption.signal)
        ready?.remove()
      } finally {
        if (running.waiting > 0)
          progress.show(`dmarc-understudy proxy: ${plural(running.waiting, 'exchange')} still to be judged`)
        await running.stop(AbortSignal.timeout(JUDGING_PATIENCE))
        await session.recording?.close()
        progress.end()
      }
      const conclusion = await session.judge.conclude()
      const report = describe(running, session, conclusion, baseline)
      if (values.evidence !== undefined) {
        await writeEvidence(values.evidence, conclusion, {
          tool: 'proxy',
          choices,
          overlays: values.overlays,
          targets: [target.url],
          secrets: running.witness.keys.secrets,
        })
      }
      await baseline?.finish(conclusion.findings.filter(isFailure), session.answers.looked)
      // A report may go to a pipe without a reader. From here on, a signal ends the program.
      interruption.release()
      return await deliverReport(await report, values.report, terminal)
    } finally {
      interruption.release()
      progress.end()
      ready?.remove()
      await session.recording?.close()
      await session.judge.close()
    }
  },
}

interface ProxySession {
  reading: ReadOptions<typeof OPTIONS>
  choices: Choices
  target: ProxyTarget
  progress: Progress
  answers: AnswerCounts
  judge: ExchangeJudge & { close(): Promise<void> }
  recording: HarWriter | undefined
  startedAt: string
  began: number
}

/** @throws UsageError */
function readTargetOption({ values, sources }: ProxySession['reading'], { contract }: Choices): ProxyTarget {
  if (values.target === undefined) {
    throw new UsageError('proxy: needs --target URL, such as --target https://api.example.com')
  }
  let ca: string | undefined
  if (values.ca !== undefined) {
    try {
      ca = readFileSync(values.ca, 'utf8')
    } catch (error) {
      throw new UsageError(`${sources.ca}: cannot be read (${(error as NodeJS.ErrnoException).code})`)
    }
    if (!ca.includes('-----BEGIN CERTIFICATE-----')) {
      throw new UsageError(`${sources.ca}: holds no certificate in PEM form`)
    }
  }
  const target = readTarget(values.target, contract.basePath, { ca, insecure: values.insecure })
  // The URL may contain a password, so the error does not repeat it.
  if (typeof target === 'string') {
    const shown = /@/.test(values.target) ? '--target' : sources.target
    throw new UsageError(`${shown}: ${target}`)
  }
  return target
}

/** @throws UsageError if the target is the proxy itself */
function refuseLoop(target: ProxyTarget, { values, sources }: ProxySession['reading']): void {
  if (values.port === 0 || target.port !== values.port) return
  const isHere = isLoopback(target.host) ? isLoopback(values.host) || isAny(values.host) : target.host === values.host
  const own = isAny(values.host)
    ? Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === target.host))
    : false
  if (isHere || own) throw new UsageError(`${sources.target}: is the proxy itself; give another --port`)
}

function isAny(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

/** @throws UsageError */
async function openRecording(file: string | undefined, source: string): Promise<HarWriter | undefined> {
  if (file === undefined) return undefined
  try {
    return await HarWriter.open(file, { version: await readVersion() })
  } catch (error) {
    if (error instanceof HarFileError) throw new UsageError(`${source}: ${error.message}`)
    throw error
  }
}

function start(session: ProxySession): Promise<RunningProxy> {
  const { choices, judge, recording, target, answers, progress, reading } = session
  const { values } = reading
  const seen = new Set<string>()
  const say = (sentence: string) => progress.print(`dmarc-understudy: ${printable(sentence)}`)
  return startProxy({
    target,
    contract: choices.contract,
    judge,
    host: values.host,
    port: values.port,
    maxConnections: values.maxConnections,
    admin: values.admin,
    adminToken: values.adminToken,
    log: {
      info: () => {},
      warn: () => {},
      error: (fields, message) => say(`${message} ${JSON.stringify(describeErrorIn(fields))}`),
    },
    record: recording && ((exchange) => recording.add(exchange)),
    seen: (exchange) => answers.note(exchange),
    found(finding) {
      if (finding.label === 'cannot tell' || seen.has(finding.id) || seen.size > SHOWN_LIVE) return
      seen.add(finding.id)
      say(seen.size > SHOWN_LIVE ? 'There are more findings; the summary at the end has them.' : describeLive(finding))
    },
    said: say,
  })
}

/** The stack of an error in the log. Such an error is a bug of this program. */
function describeErrorIn(fields: object): unknown {
  const { err, ...rest } = fields as { err?: unknown }
  return { ...rest, err: err instanceof Error ? err.stack : err }
}

function describeLive(finding: JudgedDifference): string {
  const { label, method, path, status, request_id: id, message } = finding
  const by = isFailure(finding) ? ` by the ${partyOf(finding)}` : ''
  const answer = status === undefined ? '' : ` → ${status}`
  return shorten(`${label}${by}: ${method} ${path}${answer}${id === undefined ? '' : ` (${id})`}: ${message}`, 500)
}

/** Warns about what does not work yet. @throws UsageError, StartError for problems that the user must fix */
async function checkService(
  running: RunningProxy,
  { reading, progress }: ProxySession,
  terminal: Terminal,
): Promise<void> {
  const probe = await running.probe()
  if (probe.kind === 'wrong') {
    const message = probe.usage ? `${reading.sources.target}: ${probe.reason}` : probe.reason
    throw probe.usage ? new UsageError(message) : new StartError(message)
  }
  if (probe.kind === 'silent') {
    progress.end()
    terminal.printError(`dmarc-understudy: ${probe.reason} The proxy waits for it: until then, connections are closed.`)
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

function greeting({ baseUrl, adminUrl }: RunningProxy, { target, reading: { values } }: ProxySession): string {
  const token = values.adminToken === undefined ? '' : '   (it asks for the token of --admin-token)'
  const instead = new URL(target.url).origin + target.basePath
  return [
    'dmarc-understudy passes everything on.',
    '',
    `  Base URL   ${baseUrl}   (in place of ${instead})`,
    '  API key    the one of the service, as before',
    ...(adminUrl === undefined ? [] : [`  Dashboard  ${adminUrl}/${token}`]),
    ...(values.record === undefined ? [] : [`  Recording  ${values.record}`]),
    '',
    '  Try it:',
    `  curl -H 'Authorization: Bearer YOUR_KEY' ${baseUrl}/domains`,
    '',
    '  Ctrl-C ends it and says what was found.',
    '',
  ].join('\n')
}

async function describe(
  running: RunningProxy,
  session: ProxySession,
  conclusion: Conclusion,
  baseline: Awaited<ReturnType<typeof openBaseline>>,
): Promise<Report> {
  const { choices, target, answers, recording, reading, startedAt, began } = session
  const { sightings } = running.witness
  const report = describeFindings({
    tool: 'proxy',
    title: target.url,
    conclusion,
    choices,
    answers,
    baseline: baseline?.apply(conclusion.findings, answers.looked),
    failures: failuresOf(running),
    warnings: warningsOf(running, recording),
    facts: [
      { name: 'Passed on', value: `${plural(sightings.exchanges, 'request')} to ${target.url}` },
      ...(recording === undefined
        ? []
        : [{ name: 'Recording', value: `${reading.values.record}, ${recording.entries} exchanges` }]),
    ],
    startedAt,
    seconds: Math.round(elapsed() - began) / 1000,
    lineOf: await readLines(),
  })
  // If this program could not judge an exchange, that is its own failure.
  if (sightings.failures > 0) return { ...report, exitCode: 3 }
  return reading.values.failOnViolation ? report : { ...report, exitCode: 0 }
}

function failuresOf({ witness: { sightings } }: RunningProxy): string[] {
  const { failures } = sightings
  return failures === 0
    ? []
    : [`${plural(failures, 'exchange')} could not be judged, because this program has made a mistake.`]
}

/** Warnings about the traffic itself, apart from the findings about the service. */
function warningsOf(
  { witness: { sightings }, refused, failed }: RunningProxy,
  recording: HarWriter | undefined,
): string[] {
  const { exchanges, foreign, unanswered, redirects, refusedByQuota, html, skipped, unread, unreadReason } = sightings
  const said: [number, string][] = [
    [
      foreign,
      `${plural(foreign, 'request')} to paths that are not below the base URL of the service ${foreign === 1 ? 'was' : 'were'} passed on and not judged.`,
    ],
    [
      unread,
      `${plural(unread, 'time')} something was passed on that is not followed: ${unreadReason ?? ''}. What was known of the accounts was forgotten.`,
    ],
    [skipped, `${plural(skipped, 'exchange')} came faster than they could be judged.`],
    [
      failed,
      `${plural(failed, 'connection')} to the service could not be made or ${failed === 1 ? 'was' : 'were'} broken off.`,
    ],
    [unanswered, `${plural(unanswered, 'request')} got no whole response.`],
    [
      redirects,
      `${plural(redirects, 'response')} led elsewhere (3xx), where the proxy does not see what a client does.`,
    ],
    [
      html,
      `${plural(html, 'response')} ${html === 1 ? 'is' : 'are'} HTML; is ${exchanges === html ? 'the target' : 'every path'} right?`,
    ],
    [
      refused,
      `${plural(refused, 'connection')} ${refused === 1 ? 'was' : 'were'} closed, because there were too many (--max-connections).`,
    ],
    [
      exchanges > 0 && refusedByQuota === exchanges ? 1 : 0,
      'All requests were refused with 429, so nothing could be judged.',
    ],
    [
      recording?.dropped ?? 0,
      recording?.problem ??
        `${plural(recording?.dropped ?? 0, 'exchange')} ${recording?.dropped === 1 ? 'is' : 'are'} missing in the recording.`,
    ],
  ]
  return said.flatMap(([times, sentence]) => (times > 0 ? [sentence] : []))
}
