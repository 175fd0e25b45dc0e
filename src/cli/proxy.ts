import { once } from 'node:events'
import { describeFindings } from '../evidence/report.ts'
import { HarError } from '../exchanges/har/file.ts'
import { HarWriter } from '../exchanges/har/writer.ts'
import { readInput } from '../ground/files.ts'
import { isLoopback } from '../ground/hosts.ts'
import { plural, shorten } from '../ground/show.ts'
import { isCounted, isFailure, type JudgedDifference, partyOf } from '../judge/finding.ts'
import { Judge } from '../judge/judge.ts'
import { listUnjudged, type RunningProxy, startProxy } from '../proxy/proxy.ts'
import { isOwnAddress, type ProxyTarget, probeTarget, targetAt } from '../proxy/target.ts'
import { listFacts } from '../reports/report.ts'
import { fileName, type Options, optIn } from '../server/option.ts'
import { COMMAND_LINE_OPTIONS } from '../server/option-table.ts'
import { defineCommand, type Reading, readVersion } from './command.ts'
import { type Execution, execute } from './execution.ts'
import { StartError, UsageError } from './options.ts'
import { openReadyFile } from './ready-file.ts'
import { baseUrl, FAIL_ON_OPTION, openReview, REVIEW_OPTIONS, type Review } from './review.ts'
import { withNamedOptions } from './start.ts'

const { port, host, adminToken, admin, readyFile, exitWith } = COMMAND_LINE_OPTIONS

const OPTIONS = {
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
  readyFile: {
    ...readyFile,
    help: 'JSON file with base_url, admin_url, api_key (null), pid and instance. It exists while the proxy takes connections.',
  },
  exitWith,
  ...REVIEW_OPTIONS,
} as const satisfies Options

/** How many things are printed immediately. The others wait for the end. */
const SHOWN_LIVE = 30
/** In milliseconds: how long the start waits for a connection to the service. */
const PROBE_PATIENCE = 3_000

export const proxy = defineCommand('proxy', OPTIONS, async (reading, terminal) => {
  const { values, sources } = reading
  if (values.admin && values.adminToken === undefined && !isLoopback(values.host)) {
    throw new UsageError(`${sources.host}: others can reach this address, so give --admin-token TOKEN or --no-admin`)
  }
  const review = await openReview('proxy', reading, [{ source: sources.record, file: values.record }])
  const { choices } = review
  const target = await readTargetOption(reading, choices.contract.basePath)
  if (await isOwnAddress(target, values.host, values.port)) {
    throw new UsageError(`${sources.target}: is the proxy itself; give another --port`)
  }
  const ready = openReadyFile(reading)
  const recording = await openRecording(values.record, sources.record)
  async function work(execution: Execution): Promise<number> {
    const judge = new Judge({ choices, isSoleWriter: values.soleWriter })
    const session = { reading, review, target, execution, recording, judge }
    const running = await withNamedOptions(sources, () => start(session))
    try {
      await checkService(session)
      ready.write(running)
      terminal.print(greeting(running, session))
      if (!execution.signal.aborted) await once(execution.signal, 'abort')
    } finally {
      ready.remove()
      await running.stop()
      execution.progress.end()
      await recording?.close()
    }
    return report(running, session)
  }
  try {
    return await execute('proxy', terminal, work, values)
  } finally {
    await recording?.close()
  }
})

interface ProxySession {
  reading: Reading<typeof OPTIONS>
  review: Review
  target: ProxyTarget
  execution: Execution
  judge: Judge
  recording: HarWriter | undefined
}

/** @throws UsageError */
async function readTargetOption({ values, sources }: ProxySession['reading'], usualPath: string): Promise<ProxyTarget> {
  if (values.target === undefined) {
    throw new UsageError('proxy: needs --target URL, such as --target https://api.example.com')
  }
  const fail = (reason: string) => new UsageError(`${sources.ca}: ${reason} Give certificates in PEM form.`)
  const ca = values.ca === undefined ? undefined : await readInput(values.ca, { content: 'file', fail })
  if (ca?.includes('-----BEGIN CERTIFICATE-----') === false) throw fail('The file has no certificate.')
  return targetAt(values.target, usualPath, { ca, insecure: values.insecure })
}

/** @throws UsageError */
async function openRecording(file: string | undefined, source: string): Promise<HarWriter | undefined> {
  if (file === undefined) return undefined
  try {
    return await HarWriter.open(file, readVersion())
  } catch (error) {
    if (error instanceof HarError) throw new UsageError(`${source}: ${error.message}`)
    throw error
  }
}

function start(session: ProxySession): Promise<RunningProxy> {
  const { review, judge, recording, target, execution, reading } = session
  const { host, port, admin, adminToken, failOn } = reading.values
  const told = new Set<string>()
  /** Says something once, and not everything. */
  function say(sentence: string, id = sentence): void {
    if (told.has(id) || told.size > SHOWN_LIVE) return
    told.add(id)
    const line = told.size > SHOWN_LIVE ? 'There is more; the summary at the end has it.' : sentence
    execution.say(line)
  }
  return startProxy({
    ...{ target, judge, host, port, admin, adminToken },
    contract: review.choices.contract,
    log: {
      info: () => {},
      warn: () => {},
      error: (fields, message) => say(`${message} ${'err' in fields ? (fields.err as Error).stack : ''}`),
    },
    record: recording && ((exchange) => recording.add(exchange)),
    counts: (finding) =>
      isCounted(finding, failOn) &&
      !review.compare({ findings: [finding], answers: judge.answers }).accepted.has(finding.id),
    found: (finding) => finding.label !== 'cannot tell' && say(describeLive(finding), finding.id),
    said: (sentence) => say(sentence),
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

/** Says at the end what was found. Resolves to the exit code. */
async function report(running: RunningProxy, session: ProxySession): Promise<number> {
  const { review, target, recording, reading, execution, judge } = session
  const { values } = reading
  const { sightings, keys } = running.witness
  const unjudged = listUnjudged(sightings)
  const conclusion = judge.conclude()
  const { startedAt, seconds } = execution.times
  const described = describeFindings({
    ...{ tool: 'proxy', title: target.url, conclusion, choices: review.choices, startedAt, seconds },
    failOn: values.failOn,
    baseline: review.compare(conclusion),
    failures: unjudged,
    warnings: warningsOf(running, recording),
    facts: listFacts({
      'Passed on': `${plural(sightings.exchanges, 'request')} to ${target.url}`,
      Recording: recording !== undefined && `${values.record}, ${plural(recording.entries, 'exchange')}`,
    }),
  })
  // If this program could not judge an exchange, that is its own failure.
  const exitCode = sightings.failures > 0 ? 3 : values.failOnViolation ? described.exitCode : 0
  const found = { conclusion, failOn: values.failOn, isWhole: unjudged.length === 0, secrets: keys.secrets }
  return review.finish({ ...found, report: { ...described, exitCode }, target: target.url }, execution)
}

/** Warnings about the traffic itself, apart from the findings about the service. */
function warningsOf(
  { witness: { sightings }, troubles: { failed, unpassed } }: RunningProxy,
  recording: HarWriter | undefined,
): string[] {
  const { foreign, redirects } = sightings
  const dropped = recording?.dropped ?? 0
  const counted = {
    'Requests to paths that are not below the base URL of the service, which were passed on and not judged': foreign,
    'Messages that were malformed or not for the service, and not passed on': unpassed,
    'Connections to the service that could not be made or were broken off': failed,
    'Responses that led elsewhere (3xx), where the proxy does not see what a client does': redirects,
    'Exchanges that are missing in the recording': dropped,
  }
  const problem = dropped > 0 ? recording?.problem : undefined
  return [
    ...Object.entries(counted).flatMap(([what, count]) => (count > 0 ? [`${what}: ${count}.`] : [])),
    ...(problem === undefined ? [] : [problem]),
  ]
}
