import { realpath } from 'node:fs/promises'
import { constants } from 'node:os'
import { isFailure } from '../conformance/finding.ts'
import { type Conclusion, Investigation } from '../conformance/investigation.ts'
import { type Choices, readChoices } from '../contract/choices.ts'
import { readLines } from '../contract/lines.ts'
import { readOverlay } from '../contract/overlay.ts'
import { AnswerCounts } from '../evidence/answers.ts'
import { EvidenceError } from '../evidence/evidence-error.ts'
import { writeEvidence } from '../evidence/evidence-file.ts'
import { describeFindings } from '../evidence/report.ts'
import { type HarRecording, openRecording } from '../exchanges/har/reader.ts'
import { HarError } from '../exchanges/har/service.ts'
import type { RecordingCounts } from '../exchanges/har/survey.ts'
import { elapsed, systemClock } from '../ground/clock.ts'
import { shorten } from '../ground/show.ts'
import type { Fact } from '../reports/report.ts'
import { checkTarget } from '../reports/targets.ts'
import { type Options, text, toggle, type Values } from '../start/option.ts'
import { COMMAND_LINE_OPTIONS } from '../start/option-table.ts'
import { BASELINE_OPTIONS, openBaseline } from './baselines.ts'
import type { Command } from './command.ts'
import { UsageError } from './errors.ts'
import { Interrupted, Interruption } from './interruption.ts'
import { readOptions } from './options.ts'
import { Progress } from './progress.ts'
import { checkReports, deliverReport, REPORT_OPTIONS } from './reports.ts'
import { baseUrl } from './target-options.ts'
import type { Terminal } from './terminal.ts'

const OPTIONS = {
  baseUrl: {
    kind: baseUrl,
    help: 'The base URL of the service in the recordings. Requests to anything else are left out.',
    defaultText: 'the one below which paths of the contract are asked for',
  },
  overlays: {
    ...COMMAND_LINE_OPTIONS.overlays,
    flagHelp: 'OpenAPI Overlay that changes the assumptions about the service: a YAML or JSON file.',
  },
  soleWriter: {
    kind: toggle,
    help: 'No other client changed the accounts during the recording, so what was seen once stays as it is until the recording shows a change.',
    default: false,
  },
  evidence: {
    kind: text,
    placeholder: 'FILE',
    help: 'Write the results to FILE, for calibrate and assumptions. It holds no key.',
  },
  ...BASELINE_OPTIONS,
  ...REPORT_OPTIONS,
} as const satisfies Options

export const check: Command = {
  options: OPTIONS,

  async run(args, terminal) {
    const { values, sources, positionals: files } = readOptions(OPTIONS, args, terminal.environment)
    await checkReports(values.report, [
      { source: sources.baseline, file: values.baseline, isRead: !values.updateBaseline },
      { source: sources.evidence, file: values.evidence },
    ])
    await refuseEvidence(values.evidence, sources.evidence)
    const reports = values.report.map(({ format, file }) => ({ source: `--report ${format}=${shorten(file)}`, file }))
    await refuseFiles(files, [{ source: sources.evidence, file: values.evidence }, ...reports])
    const baseline = await openBaseline(values)
    const choices = await readChoices(await Promise.all(values.overlays.map(readOverlay)))
    const startedAt = new Date(systemClock()).toISOString()
    const began = elapsed()
    const progress = new Progress(terminal)
    const interruption = new Interruption(terminal, { isOver: true })
    const { signal } = interruption
    let recording: HarRecording | undefined
    try {
      recording = await openRecording(files, {
        contract: choices.contract,
        baseUrl: values.baseUrl,
        signal,
        onProgress: (read, total) =>
          progress.show(`dmarc-understudy check: ${share(read, total)} of the recordings read`),
      })
      const { investigation, answers } = await judge(recording, { values, choices, signal, progress })
      progress.end()
      const conclusion = investigation.conclude()
      const applied = baseline?.apply(conclusion.findings, answers.looked)
      const report = describeFindings({
        tool: 'check',
        title: files.join(', '),
        conclusion,
        choices,
        answers,
        baseline: applied,
        ...describeRecording(recording, signal),
        interruptedWith: exitCodeAfter(signal),
        startedAt,
        seconds: Math.round(elapsed() - began) / 1000,
        lineOf: await readLines(),
      })
      const code = await deliverReport(report, values.report, terminal)
      if (!signal.aborted) await baseline?.finish(conclusion.findings.filter(isFailure), answers.looked)
      return (await saveEvidence(recording, conclusion, { values, choices }, terminal)) ? code : NOT_WRITTEN
    } catch (error) {
      if (error instanceof HarError) throw new UsageError(`check: ${error.message}`)
      if (!(error instanceof Interrupted)) throw error
      terminal.printError(`dmarc-understudy: check: stopped by ${error.by} before anything was judged`)
      return 128 + constants.signals[error.by]
    } finally {
      progress.end()
      interruption.release()
      await recording?.close()
    }
  },
}

/** The exit code if a file could not be written. */
const NOT_WRITTEN = 3

/** Writes the evidence if the user asked for it. Resolves to false if that failed. */
async function saveEvidence(
  { baseUrl: target, secrets }: HarRecording,
  conclusion: Conclusion,
  { values, choices }: Pick<CheckTerms, 'values' | 'choices'>,
  terminal: Terminal,
): Promise<boolean> {
  const { evidence: file, overlays } = values
  if (file === undefined) return true
  try {
    const targets = target === undefined ? [] : [target]
    await writeEvidence(file, conclusion, { tool: 'check', choices, overlays, targets, secrets })
    return true
  } catch (error) {
    if (!(error instanceof EvidenceError)) throw error
    terminal.printError(`dmarc-understudy: --evidence ${error.message}`)
    return false
  }
}

/**
 * @throws UsageError if no file is given, a file is given twice (its exchanges would count twice), or an output would
 * replace an input
 */
async function refuseFiles(
  files: readonly string[],
  outputs: readonly { source: string; file: string | undefined }[],
): Promise<void> {
  if (files.length === 0) {
    throw new UsageError('check: needs at least one HAR file, such as dmarc-understudy check traffic.har')
  }
  const placeOf = (file: string) => realpath(file).catch(() => file)
  const places = await Promise.all(files.map(placeOf))
  const repeated = files.find((_, index) => places.indexOf(places[index] ?? '') < index)
  if (repeated !== undefined) throw new UsageError(`check: ${shorten(repeated)} is given twice`)
  for (const { source, file } of outputs) {
    if (file !== undefined && places.includes(await placeOf(file))) {
      throw new UsageError(`${source}: this is a recording that is to be checked; name another file`)
    }
  }
}

/** @throws UsageError if the file could not be written at the end */
async function refuseEvidence(file: string | undefined, source: string): Promise<void> {
  const reason = file === undefined ? undefined : await checkTarget(file)
  if (reason !== undefined) throw new UsageError(`${source}: ${reason}`)
}

interface CheckTerms {
  values: Values<typeof OPTIONS>
  choices: Choices
  signal: AbortSignal
  progress: Progress
}

/** Judges the exchanges one after another, until a signal comes. */
async function judge(
  recording: HarRecording,
  { values, choices, signal, progress }: CheckTerms,
): Promise<{ investigation: Investigation; answers: AnswerCounts }> {
  progress.show(`dmarc-understudy check: 0 of ${recording.size} exchanges judged`)
  const investigation = await Investigation.begin({ choices, isSoleWriter: values.soleWriter })
  const answers = new AnswerCounts(choices.contract)
  let done = 0
  try {
    for await (const { exchange, isAfterGap } of recording.exchanges()) {
      if (isAfterGap) investigation.forget()
      answers.note(exchange)
      await investigation.take(exchange)
      progress.show(`dmarc-understudy check: ${++done} of ${recording.size} exchanges judged`)
    }
  } catch (error) {
    if (!(error instanceof Interrupted) || !signal.aborted) throw error
  }
  return { investigation, answers }
}

/** The part of the report about the recordings themselves. */
function describeRecording(
  { baseUrl: service, size, tally, hosts }: HarRecording,
  signal: AbortSignal,
): { failures: string[]; warnings: string[]; facts: Fact[] } {
  const { lost, problems, broken, left } = tally
  const stopped = signal.aborted ? ['It was told to stop before all exchanges were judged.'] : []
  const remedy = service === undefined ? ' Say with --base-url where the service is.' : ''
  const foreign = size === 0 ? [`No request went to ${service ?? 'a path of the service'}. ${hosts}${remedy}`] : []
  const more = lost > problems.length ? [`${lost - problems.length} more entries cannot be read.`] : []
  const beyond = left > 0 ? [`${left} exchanges more than can be judged were left out.`] : []
  const elsewhere = describeElsewhere(tally)
  return {
    failures: [...broken, ...beyond, ...stopped, ...foreign],
    warnings: [...problems, ...more],
    facts: [
      ...(service === undefined ? [] : [{ name: 'Service', value: service }]),
      ...(elsewhere === '' ? [] : [{ name: 'Left out', value: elsewhere }]),
    ],
  }
}

const ASIDES: readonly [
  kind: keyof RecordingCounts & ('elsewhere' | 'preflight' | 'cache' | 'fulfilled'),
  words: string,
][] = [
  ['elsewhere', 'to other addresses'],
  ['preflight', 'of a browser that asked whether a page may call the service'],
  ['cache', 'answered by the cache of a browser'],
  ['fulfilled', 'answered by a test itself'],
]

function describeElsewhere(tally: RecordingCounts): string {
  return ASIDES.filter(([kind]) => tally[kind] > 0)
    .map(([kind, words]) => `${tally[kind]} ${words}`)
    .join(', ')
}

function share(read: number, total: number): string {
  return `${total === 0 ? 100 : Math.floor((100 * read) / total)} %`
}

/** The exit code that a shell reports for a program that was told to stop. */
function exitCodeAfter({ aborted, reason }: AbortSignal): number | undefined {
  return aborted && reason instanceof Interrupted ? 128 + constants.signals[reason.by] : undefined
}
