import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { type Choices, readChoices } from '../contract/choices.ts'
import { loadContract } from '../contract/contract.ts'
import { readOverlays } from '../contract/overlay.ts'
import { calibrate as makeOverlay, readCalibration } from '../evidence/calibration.ts'
import { describeCalibration } from '../evidence/calibration-report.ts'
import { describeEvidence, type Evidence, joinEvidence, readEvidence } from '../evidence/evidence-file.ts'
import { shorten } from '../ground/show.ts'
import { writeTarget } from '../reports/targets.ts'
import { fileName, fileNames, type Options, optIn, PREFIX, secret, type Values, variableFor } from '../server/option.ts'
import type { Command } from './command.ts'
import type { DiscreetTerminal } from './discreet-terminal.ts'
import { UsageError } from './errors.ts'
import { execute } from './execution.ts'
import { type ReadOptions, readOptions } from './options.ts'
import { judgeRecordings, refuseRepeated, SOLE_WRITER } from './recordings.ts'
import { checkFiles, REPORT_OPTIONS } from './reports.ts'
import { baseUrl, SERVICE_OVERLAYS, warnOfSeveral } from './target-options.ts'
import { verify } from './verify.ts'

const OPTIONS = {
  evidence: {
    kind: fileNames,
    help: 'Evidence that check, proxy or verify has written with --evidence FILE.',
    default: [],
  },
  baseUrl: {
    kind: baseUrl,
    help: 'Base URL of the service in recordings, or, with --api-key, of the service to ask.',
    defaultText: 'in recordings, the one below which paths of the contract are asked for',
  },
  apiKey: {
    kind: secret,
    placeholder: 'KEY',
    help: 'Ask the service at --base-url with this API key. In the environment, no list of processes shows it. The overlay and reports never have it.',
  },
  allowWrites: optIn('With --api-key: also create and remove things at a host other than this machine.'),
  wait: optIn('With --api-key: wait for the reset when a quota is used up, until everything was asked.'),
  soleWriter: SOLE_WRITER,
  overlays: {
    ...SERVICE_OVERLAYS,
    help: `${SERVICE_OVERLAYS.help} The printed overlay is applied after it.`,
  },
  out: {
    kind: fileName,
    help: 'Write the overlay to FILE.',
    defaultText: 'standard output',
  },
  ...REPORT_OPTIONS,
} as const satisfies Options

export const calibrate: Command = {
  options: OPTIONS,

  async run(args, terminal) {
    const reading = readOptions(OPTIONS, args, terminal.environment)
    const { sources, positionals: recordings } = reading
    const values = dropIdleKey(reading)
    refuseContradictions(values, sources, recordings)
    const inputs = [...recordings, ...values.evidence]
    await refuseRepeated('calibrate', inputs)
    await checkFiles(values.report, [
      ...recordings.map((file) => ({ source: shorten(file), file, isRead: true })),
      ...values.evidence.map((file) => ({ source: `--evidence ${shorten(file)}`, file, isRead: true })),
      { source: sources.out, file: values.out },
    ])
    const overlays = await readOverlays(values.overlays)
    const choices = await readChoices(overlays)
    const asked = values.apiKey === undefined ? undefined : await askService(values, choices, terminal)
    if (asked !== undefined && asked.evidence === undefined) return asked.code
    return execute('calibrate', terminal, async (execution) => {
      const all: Evidence[] = []
      for (const file of values.evidence) all.push(await readEvidence(file, choices))
      if (asked?.evidence !== undefined) all.push(asked.evidence)
      const warnings: string[] = []
      if (recordings.length > 0) {
        const seen = await judgeRecordings(recordings, { choices, ...values }, execution)
        const targets = seen.target === undefined ? [] : [seen.target]
        const origin = {
          tool: 'calibrate',
          choices,
          overlays: values.overlays,
          targets,
          secrets: seen.secrets,
        } as const
        terminal.learn(seen.secrets)
        all.push(describeEvidence(seen.conclusion, origin))
        warnings.push(...seen.failures, ...seen.warnings)
      }
      const evidence = all.reduce(joinEvidence)
      warnings.push(...warnOfSeveral(evidence.targets))
      const calibration = await makeOverlay(evidence, choices)
      // Compiles the contract with the overlay like `serve`, because alternatives may contradict each other.
      const overlay = await readCalibration(calibration, 'the overlay of what was seen')
      await loadContract({ overlays: [...overlays, overlay] })
      const { interruptedWith, ...times } = execution.times
      const report = describeCalibration({
        ...{ evidence, calibration, choices, warnings, ...times },
        title: [...inputs, ...(asked === undefined ? [] : [values.baseUrl ?? ''])]
          .map((file) => shorten(file))
          .join(', '),
        // The checks of verify may have failed. Only a code above 1 matters here: verify could not ask the service.
        interruptedWith: interruptedWith ?? (asked !== undefined && asked.code > 1 ? asked.code : undefined),
      })
      // The report comes first, so a full disk cannot keep it back.
      const code = await execution.deliver(report, values.report)
      if (values.out === undefined) terminal.write(calibration.text)
      else {
        const reason = await writeTarget(values.out, terminal.redact(calibration.text))
        if (reason !== undefined) throw new UsageError(`${sources.out}: ${reason}`)
      }
      return code
    })
  },
}

/** A key in the environment is there for verify, too. It asks for nothing if only files are given. */
function dropIdleKey({
  values,
  sources,
  positionals: recordings,
}: ReadOptions<typeof OPTIONS>): Values<typeof OPTIONS> {
  const readsOnly = recordings.length > 0 || (values.evidence.length > 0 && values.baseUrl === undefined)
  return readsOnly && sources.apiKey === variableFor('api-key') ? { ...values, apiKey: undefined } : values
}

/** @throws UsageError if nothing is given to read or to ask, or the options contradict each other */
function refuseContradictions(
  { baseUrl: service, apiKey, allowWrites, wait, evidence }: Values<typeof OPTIONS>,
  sources: ReadOptions<typeof OPTIONS>['sources'],
  recordings: readonly string[],
): void {
  if (apiKey === undefined) {
    const needless = allowWrites ? '--allow-writes' : wait ? '--wait' : undefined
    if (needless !== undefined) throw new UsageError(`${needless}: needs --api-key, with which the service is asked`)
    if (service !== undefined && recordings.length === 0) {
      throw new UsageError(`${sources.baseUrl}: needs --api-key KEY to ask the service, or recordings of it`)
    }
    if (recordings.length + evidence.length === 0) {
      throw new UsageError(
        'calibrate: needs HAR files, --evidence FILE, or --base-url URL and --api-key KEY, such as dmarc-understudy calibrate traffic.har',
      )
    }
    return
  }
  if (service === undefined) throw new UsageError(`${sources.apiKey}: needs --base-url URL, the service that is asked`)
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
  terminal: DiscreetTerminal,
): Promise<{ code: number; evidence: Evidence | undefined }> {
  const folder = await mkdtemp(`${tmpdir()}/understudy-`)
  const file = `${folder}/evidence.json`
  // These variables must not apply to verify. If they did, verify would write its reports to the same names.
  const environment = Object.fromEntries(
    Object.entries(terminal.environment).filter(([name]) => !name.startsWith(PREFIX)),
  )
  environment[variableFor('api-key')] = apiKey
  const quiet: DiscreetTerminal = Object.create(terminal, { environment: { value: environment } })
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
