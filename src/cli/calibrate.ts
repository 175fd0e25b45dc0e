import { existsSync } from 'node:fs'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { constants, tmpdir } from 'node:os'
import { Investigation } from '../conformance/investigation.ts'
import { type Choices, readChoices } from '../contract/choices.ts'
import { loadContract } from '../contract/contract.ts'
import { type Overlay, readOverlay } from '../contract/overlay.ts'
import { type Calibration, calibrate as makeOverlay, readCalibration } from '../evidence/calibration.ts'
import { describeCalibration } from '../evidence/calibration-report.ts'
import { describeEvidence, type EvidenceContent, mergeEvidence, readEvidence } from '../evidence/evidence-file.ts'
import { openRecording } from '../exchanges/har/reader.ts'
import { HarError } from '../exchanges/har/service.ts'
import { elapsed, systemClock } from '../ground/clock.ts'
import { shorten } from '../ground/show.ts'
import { checkTarget, writeTarget } from '../reports/targets.ts'
import { type Options, PREFIX, secret, text, texts, toggle, type Values, variableFor } from '../start/option.ts'
import { COMMAND_LINE_OPTIONS } from '../start/option-table.ts'
import type { Command } from './command.ts'
import { UsageError } from './errors.ts'
import { Interrupted, Interruption } from './interruption.ts'
import { type ReadOptions, readOptions } from './options.ts'
import { Progress } from './progress.ts'
import { checkReports, deliverReport, REPORT_OPTIONS } from './reports.ts'
import { baseUrl } from './target-options.ts'
import type { Terminal } from './terminal.ts'
import { verify } from './verify.ts'

const OPTIONS = {
  evidence: {
    kind: texts,
    placeholder: 'FILE',
    help: 'Evidence that check, proxy or verify has written with --evidence FILE.',
    default: [],
  },
  baseUrl: {
    kind: baseUrl,
    help: 'The base URL of the service: with recordings, the base URL in them; with --api-key, that of the service to ask, as with verify.',
    defaultText: 'in recordings, the one below which paths of the contract are asked for',
  },
  apiKey: {
    kind: secret,
    placeholder: 'KEY',
    help: 'Ask the service at --base-url with this API key. In the environment, no list of processes shows it. The overlay and reports never have it.',
  },
  allowWrites: {
    kind: toggle,
    help: 'With --api-key: also create and remove things at a host other than this machine.',
    default: false,
  },
  wait: {
    kind: toggle,
    help: 'With --api-key: wait for the reset when a quota is used up, until everything was asked.',
    default: false,
  },
  soleWriter: {
    kind: toggle,
    help: 'No other client changed the accounts during the recordings, so what was seen once stays as it is until the recording shows a change.',
    default: false,
  },
  overlays: {
    ...COMMAND_LINE_OPTIONS.overlays,
    flagHelp:
      'OpenAPI Overlay that changes the assumptions about the service: a YAML or JSON file. The printed overlay is applied after it.',
  },
  out: {
    kind: text,
    placeholder: 'FILE',
    help: 'Write the overlay to FILE.',
    defaultText: 'standard output',
  },
  ...REPORT_OPTIONS,
} as const satisfies Options

/** The content of the files that the command line names. */
interface CalibrationInput {
  evidence: EvidenceContent
  warnings: readonly string[]
}

export const calibrate: Command = {
  options: OPTIONS,

  async run(args, terminal) {
    const { values, sources, positionals: recordings } = readOptions(OPTIONS, args, terminal.environment)
    refuseContradictions(values, sources, recordings)
    await refuseFiles(recordings, values)
    await checkReports(values.report, [
      ...recordings.map((file) => ({ source: shorten(file), file, isRead: true })),
      ...values.evidence.map((file) => ({ source: `--evidence ${shorten(file)}`, file, isRead: true })),
      { source: sources.out, file: values.out },
    ])
    const problem = values.out === undefined ? undefined : await checkTarget(values.out)
    if (problem !== undefined) throw new UsageError(`${sources.out}: ${problem}`)
    const overlays = await Promise.all(values.overlays.map(readOverlay))
    const choices = await readChoices(overlays)
    const asked = values.apiKey === undefined ? undefined : await askService(values, choices, terminal)
    if (asked !== undefined && asked.evidence === undefined) return asked.code
    const startedAt = new Date(systemClock()).toISOString()
    const began = elapsed()
    const progress = new Progress(terminal)
    const interruption = new Interruption(terminal, { isOver: true })
    const { signal } = interruption
    try {
      const files: { file: string; evidence: EvidenceContent }[] = []
      for (const file of values.evidence) files.push({ file, evidence: await readEvidence(file, choices) })
      if (asked?.evidence !== undefined) files.push({ file: values.baseUrl ?? '', evidence: asked.evidence })
      const warnings: string[] = []
      if (recordings.length > 0) {
        const seen = await judgeRecordings(recordings, choices, values, signal, progress)
        files.push({ file: recordings[0] ?? '', evidence: seen.evidence })
        warnings.push(...seen.warnings)
      }
      progress.end()
      const evidence = mergeEvidence(files, choices)
      const services = evidence.targets ?? []
      if (services.length > 1) {
        warnings.push(`The evidence is of several services, which may differ: ${services.join(', ')}.`)
      }
      const calibration = await makeOverlay(evidence, choices)
      await requireUsable(calibration, overlays)
      if (values.out === undefined) terminal.write(calibration.text)
      else {
        const reason = await writeTarget(values.out, calibration.text)
        if (reason !== undefined) throw new UsageError(`${sources.out}: ${reason}`)
      }
      const report = describeCalibration({
        title: [...recordings, ...values.evidence, ...(asked === undefined ? [] : [values.baseUrl ?? ''])]
          .map((file) => shorten(file))
          .join(', '),
        evidence,
        calibration,
        choices,
        warnings,
        // The checks of verify may have failed. Only a code above 1 matters here: verify could not ask the service.
        interruptedWith: exitCodeAfter(signal) ?? (asked !== undefined && asked.code > 1 ? asked.code : undefined),
        startedAt,
        seconds: Math.round(elapsed() - began) / 1000,
      })
      return await deliverReport(report, values.report, terminal)
    } catch (error) {
      if (error instanceof HarError) throw new UsageError(`calibrate: ${error.message}`)
      if (!(error instanceof Interrupted)) throw error
      terminal.printError(`dmarc-understudy: calibrate: stopped by ${error.by} before anything was judged`)
      return 128 + constants.signals[error.by]
    } finally {
      progress.end()
      interruption.release()
    }
  },
}

/** @throws UsageError if the options contradict each other */
function refuseContradictions(
  { baseUrl: service, apiKey, allowWrites, wait }: Values<typeof OPTIONS>,
  sources: ReadOptions<typeof OPTIONS>['sources'],
  recordings: readonly string[],
): void {
  if (apiKey === undefined) {
    const needless = allowWrites ? '--allow-writes' : wait ? '--wait' : undefined
    if (needless !== undefined) throw new UsageError(`${needless}: needs --api-key, with which the service is asked`)
    if (service !== undefined && recordings.length === 0) {
      throw new UsageError(`${sources.baseUrl}: needs --api-key KEY to ask the service, or recordings of it`)
    }
    return
  }
  if (service === undefined) throw new UsageError('--api-key: needs --base-url URL, the service that is asked')
  if (recordings.length > 0) {
    throw new UsageError('--api-key: cannot be used with recordings; write --evidence FILE with verify, and join it')
  }
}

/**
 * Asks a service like verify does, with its ledger and its cleanup. If verify could not ask, it has said so and there
 * is no evidence.
 */
async function askService(
  { baseUrl: service = '', apiKey = '', allowWrites, wait, overlays }: Values<typeof OPTIONS>,
  choices: Choices,
  terminal: Terminal,
): Promise<{ code: number; evidence: EvidenceContent | undefined }> {
  const folder = await mkdtemp(`${tmpdir()}/understudy-`)
  const file = `${folder}/evidence.json`
  // These variables must not apply to verify. If they did, verify would write its reports to the same names.
  const environment = Object.fromEntries(
    Object.entries(terminal.environment).filter(([name]) => !name.startsWith(PREFIX)),
  )
  environment[variableFor('api-key')] = apiKey
  const quiet: Terminal = Object.create(terminal, { environment: { value: environment } })
  try {
    const code = await verify.run(
      [
        ...['--base-url', service, '--evidence', file],
        ...(allowWrites ? ['--allow-writes'] : []),
        ...(wait ? ['--wait'] : []),
        ...overlays.flatMap((each) => ['--overlay', each]),
      ],
      quiet,
    )
    return { code, evidence: existsSync(file) ? await readEvidence(file, choices) : undefined }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** @throws UsageError if no file is given, or if a file is given twice and its exchanges would count twice */
async function refuseFiles(recordings: readonly string[], { evidence, apiKey }: Values<typeof OPTIONS>): Promise<void> {
  if (recordings.length + evidence.length === 0 && apiKey === undefined) {
    throw new UsageError(
      'calibrate: needs HAR files, --evidence FILE, or --base-url URL and --api-key KEY, such as dmarc-understudy calibrate traffic.har',
    )
  }
  const files = [...recordings, ...evidence]
  const paths = await Promise.all(files.map((file) => realpath(file).catch(() => file)))
  const repeated = files.find((_, index) => paths.indexOf(paths[index] ?? '') < index)
  if (repeated !== undefined) throw new UsageError(`calibrate: ${shorten(repeated)} is given twice`)
}

interface JudgementOptions {
  baseUrl?: string | undefined
  soleWriter: boolean
  overlays: readonly string[]
}

/** Judges the service by recordings. After a signal, the result covers what was read until then. */
async function judgeRecordings(
  files: readonly string[],
  choices: Choices,
  { baseUrl: service, soleWriter, overlays }: JudgementOptions,
  signal: AbortSignal,
  progress: Progress,
): Promise<CalibrationInput> {
  const recording = await openRecording(files, {
    contract: choices.contract,
    baseUrl: service,
    signal,
    onProgress: (read, total) => progress.show(`calibrate: ${percent(read, total)} of the recordings read`),
  })
  try {
    const investigation = await Investigation.begin({ choices, isSoleWriter: soleWriter })
    const { size, tally, hosts, secrets, baseUrl: target } = recording
    let done = 0
    try {
      for await (const { exchange, isAfterGap } of recording.exchanges()) {
        if (isAfterGap) investigation.forget()
        await investigation.take(exchange)
        progress.show(`calibrate: ${++done} of ${size} exchanges judged`)
      }
    } catch (error) {
      if (!(error instanceof Interrupted) || !signal.aborted) throw error
    }
    const { problems, broken, left } = tally
    return {
      evidence: describeEvidence(investigation.conclude(), {
        tool: 'calibrate',
        choices,
        overlays,
        targets: target === undefined ? [] : [target],
        secrets,
      }),
      warnings: [
        ...problems,
        ...broken,
        ...(left > 0 ? [`${left} exchanges more than can be judged were left out.`] : []),
        ...(signal.aborted ? ['It was told to stop before all exchanges were judged.'] : []),
        ...(size === 0 ? [hosts, 'Say with --base-url where the service is.'] : []),
      ],
    }
  } finally {
    await recording.close()
  }
}

/** Compiles the contract with the overlay like `serve`. @throws ContractError if alternatives contradict each other */
async function requireUsable(calibration: Calibration, overlays: readonly Overlay[]): Promise<void> {
  await loadContract({ overlays: [...overlays, await readCalibration(calibration, 'the overlay of what was seen')] })
}

function percent(read: number, total: number): string {
  return `${total === 0 ? 100 : Math.floor((100 * read) / total)} %`
}

/** The exit code that a shell reports for a program that was told to stop. */
function exitCodeAfter({ aborted, reason }: AbortSignal): number | undefined {
  return aborted && reason instanceof Interrupted ? 128 + constants.signals[reason.by] : undefined
}
