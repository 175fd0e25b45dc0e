import { once } from 'node:events'
import type { Choices } from '../contract/choices.ts'
import { describeFindings } from '../evidence/report.ts'
import { HarFileError, HarWriter } from '../exchanges/har/writer.ts'
import { isLoopback } from '../ground/hosts.ts'
import { readInput } from '../ground/input-file.ts'
import { plural } from '../ground/plural.ts'
import { printable, shorten } from '../ground/show.ts'
import { isCounted, isFailure, type JudgedDifference, partyOf } from '../judge/finding.ts'
import { type Conclusion, Judge } from '../judge/judge.ts'
import { listUnjudged, type RunningProxy, startProxy } from '../proxy/proxy.ts'
import { isOwnAddress, type ProxyTarget, probeTarget, targetAt } from '../proxy/target.ts'
import type { Report } from '../reports/report.ts'
import { fileName, type Options, optIn, wholeNumber } from '../server/option.ts'
import { COMMAND_LINE_OPTIONS } from '../server/option-table.ts'
import type { Command } from './command.ts'
import { StartError, UsageError } from './errors.ts'
import { type Execution, execute } from './execution.ts'
import { type ReadOptions, readOptions, refuseOperands } from './options.ts'
import { ReadyFile } from './ready-file.ts'
import { FAIL_ON_OPTION, openReview, REVIEW_OPTIONS, type Review } from './review.ts'
import { withNamedOptions } from './start.ts'
import { baseUrl } from './target-options.ts'
import { readVersion } from './version.ts'

const { port, host, adminToken, admin, readyFile, exitWith } = COMMAND_LINE_OPTIONS

export const OPTIONS = {
  target: {
    kind: baseUrl,
    help: 'Base URL of the service, or its origin. A client changes only host and port.',
  },
  port,
  host,
  ca: {
    kind: fileName,
    help: 'Certificates in PEM form that are trusted beside the usual ones, such as that of a test service.',
  },
  insecure: optIn('Trust any certificate of the service.'),
  record: {
    kind: fileName,
    help: 'Record the traffic in a HAR 1.2 file, without keys. The file is complete after each exchange.',
  },
  failOnViolation: optIn('End with 1 if the result is FAILED: something was done wrong, or not everything was judged.'),
  failOn: FAIL_ON_OPTION,
  soleWriter: optIn(
    'All changes of the accounts go through the proxy, so what was seen once stays as it is until a request changes it.',
  ),
  adminToken,
  admin,
  maxConnections: {
    kind: wholeNumber(1, 1_000_000),
    help: 'Maximum number of client connections. A further one is closed.',
    default: 1_000,
  },
  readyFile: {
    ...readyFile,
    help: 'JSON file with base_url, admin_url, api_key (null), pid and instance. It exists while the proxy takes connections.',
  },
  exitWith,
  ...REVIEW_OPTIONS,
} as const satisfies Options

/** How many findings are printed immediately. The others wait for the end. */
export const SHOWN_LIVE = 30
/** In milliseconds: how long the start waits for a connection to the service. */
const PROBE_PATIENCE = 3_000

export const proxy: Command = {
  options: OPTIONS,

  async run(args, terminal) {
    const reading = readOptions(OPTIONS, args, terminal.environment)
    const { values, sources } = reading
    refuseOperands('proxy', reading.positionals)
    if (values.admin && values.adminToken === undefined && !isLoopback(values.host)) {
      throw new UsageError(`${sources.host}: others can reach this address, so give --admin-token TOKEN or --no-admin`)
    }
    const review = await openReview('proxy', reading, [{ source: sources.record, file: values.record }])
    const { choices } = review
    const target = await readTargetOption(reading, choices)
    if (await isOwnAddress(target, values.host, values.port)) {
      throw new UsageError(`${sources.target}: is the proxy itself; give another --port`)
    }
    const ready = values.readyFile === undefined ? undefined : new ReadyFile(values.readyFile, sources.readyFile)
    const recording = await openRecording(values.record, sources.record)
    const work = async (execution: Execution) => {
      const judge = new Judge({ choices, isSoleWriter: values.soleWriter })
      const session = { reading, review, target, execution, recording, judge }
      const running = await withNamedOptions(sources, () => start(session))
      try {
        await checkService(session)
        ready?.write(running)
        terminal.print(greeting(running, session))
        if (!execution.signal.aborted) await once(execution.signal, 'abort')
        ready?.remove()
      } finally {
        await running.stop()
        execution.progress.end()
        await recording?.close()
      }
      const unjudged = listUnjudged(running.witness.sightings)
      const conclusion = judge.conclude()
      const report = await describe(running, session, conclusion, unjudged)
      const { secrets } = running.witness.keys
      const isWhole = unjudged.length === 0
      const findings = conclusion.findings.filter((finding) => isCounted(finding, values.failOn))
      return review.finish({ conclusion, report, findings, isWhole, target: target.url, secrets }, execution)
    }
    try {
      return await execute('proxy', terminal, work, { exitsWith: values.exitWith })
    } finally {
      ready?.remove()
      await recording?.close()
    }
  },
}

interface ProxySession {
  reading: ReadOptions<typeof OPTIONS>
  review: Review
  target: ProxyTarget
  execution: Execution
  judge: Judge
  recording: HarWriter | undefined
}

/** @throws UsageError */
async function readTargetOption(
  { values, sources }: ProxySession['reading'],
  { contract }: Choices,
): Promise<ProxyTarget> {
  if (values.target === undefined) {
    throw new UsageError('proxy: needs --target URL, such as --target https://api.example.com')
  }
  let ca: string | undefined
  if (values.ca !== undefined) {
    const fail = (reason: string) => new UsageError(`${sources.ca}: ${reason} Give certificates in PEM form.`)
    ca = await readInput(values.ca, { content: 'file', fail })
    if (!ca.includes('-----BEGIN CERTIFICATE-----')) throw fail('The file has no certificate.')
  }
  return targetAt(values.target, contract.basePath, { ca, insecure: values.insecure })
}

/** @throws UsageError */
async function openRecording(file: string | undefined, source: string): Promise<HarWriter | undefined> {
  if (file === undefined) return undefined
  try {
    return await HarWriter.open(file, readVersion())
  } catch (error) {
    if (error instanceof HarFileError) throw new UsageError(`${source}: ${error.message}`)
    throw error
  }
}

function start(session: ProxySession): Promise<RunningProxy> {
  const { review, judge, recording, target, execution, reading } = session
  const { host, port, maxConnections, admin, adminToken, failOn } = reading.values
  const seen = new Set<string>()
  const say = (sentence: string) => execution.progress.print(`dmarc-understudy: ${printable(sentence)}`)
  return startProxy({
    ...{ target, judge, host, port, maxConnections, admin, adminToken },
    contract: review.choices.contract,
    log: {
      info: () => {},
      warn: () => {},
      error: (fields, message) => say(`${message} ${'err' in fields ? (fields.err as Error).stack : ''}`),
    },
    record: recording && ((exchange) => recording.add(exchange)),
    counts: (finding) =>
      isCounted(finding, failOn) && (review.apply([finding], judge.answers)?.accepted ?? []).length === 0,
    found(finding) {
      if (finding.label === 'cannot tell' || seen.has(finding.id) || seen.size > SHOWN_LIVE) return
      seen.add(finding.id)
      say(seen.size > SHOWN_LIVE ? 'There are more findings; the summary at the end has them.' : describeLive(finding))
    },
    said: say,
  })
}

function describeLive(finding: JudgedDifference): string {
  const { label, method, path, status, request_id: id, message } = finding
  const by = isFailure(finding) ? ` by the ${partyOf(finding)}` : ''
  const answer = status === undefined ? '' : ` → ${status}`
  return shorten(`${label}${by}: ${method} ${path}${answer}${id === undefined ? '' : ` (${id})`}: ${message}`, 500)
}

/** Warns about what does not work yet. @throws UsageError, StartError for problems that the user must fix */
async function checkService({ target, reading, execution }: ProxySession): Promise<void> {
  const failure = await probeTarget(target, PROBE_PATIENCE)
  if (failure?.kind === 'plain') throw new UsageError(`${reading.sources.target}: ${failure.text}`)
  if (failure?.kind === 'certificate') throw new StartError(failure.text)
  if (failure !== undefined) execution.say(`${failure.text} The proxy waits for it: until then, its clients get 502.`)
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
  unjudged: readonly string[],
): Promise<Report> {
  const { review, target, recording, reading, execution } = session
  const { values } = reading
  const { sightings } = running.witness
  const { startedAt, seconds } = execution.times
  const report = describeFindings({
    ...{ tool: 'proxy', title: target.url, conclusion, choices: review.choices, startedAt, seconds },
    failOn: values.failOn,
    baseline: review.apply(conclusion.findings, conclusion.answers),
    failures: unjudged,
    warnings: warningsOf(running, recording),
    facts: [
      { name: 'Passed on', value: `${plural(sightings.exchanges, 'request')} to ${target.url}` },
      ...(recording === undefined
        ? []
        : [{ name: 'Recording', value: `${values.record}, ${recording.entries} exchanges` }]),
    ],
  })
  // If this program could not judge an exchange, that is its own failure.
  if (sightings.failures > 0) return { ...report, exitCode: 3 }
  return values.failOnViolation ? report : { ...report, exitCode: 0 }
}

/** Warnings about the traffic itself, apart from the findings about the service. */
function warningsOf(
  { witness: { sightings }, troubles: { refused, failed, unpassed } }: RunningProxy,
  recording: HarWriter | undefined,
): string[] {
  const { exchanges, foreign, unanswered, redirects, refusedByQuota, html } = sightings
  const dropped = recording?.dropped ?? 0
  const was = (count: number) => (count === 1 ? 'was' : 'were')
  const is = (count: number) => (count === 1 ? 'is' : 'are')
  const counted: [count: number, noun: string, rest: string][] = [
    [
      foreign,
      'request',
      `to paths that are not below the base URL of the service ${was(foreign)} passed on and not judged.`,
    ],
    [unpassed, 'message', `${was(unpassed)} malformed or not for the service, and not passed on.`],
    [failed, 'connection', `to the service could not be made or ${was(failed)} broken off.`],
    [unanswered, 'request', 'got no whole response.'],
    [redirects, 'response', 'led elsewhere (3xx), where the proxy does not see what a client does.'],
    [html, 'response', `${is(html)} HTML; is ${exchanges === html ? 'the target' : 'every path'} right?`],
    [refused, 'connection', `${was(refused)} closed, because there were too many (--max-connections).`],
  ]
  const missing = `${plural(dropped, 'exchange')} ${is(dropped)} missing in the recording.`
  return [
    ...counted.flatMap(([count, noun, rest]) => (count > 0 ? [`${plural(count, noun)} ${rest}`] : [])),
    ...(exchanges > 0 && refusedByQuota === exchanges ? [ONLY_REFUSED] : []),
    ...(dropped > 0 ? [recording?.problem ?? missing] : []),
  ]
}

const ONLY_REFUSED = 'All requests were refused with 429, so nothing could be judged.'
