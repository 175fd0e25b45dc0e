import { type Choices, readChoices } from '../contract/choices.ts'
import { loadContract } from '../contract/contract.ts'
import { readOverlays } from '../contract/overlay.ts'
import { calibrate as makeOverlay, readCalibration } from '../evidence/calibration.ts'
import { describeCalibration } from '../evidence/calibration-report.ts'
import { describeEvidence, type Evidence, joinEvidence, readEvidence } from '../evidence/evidence-file.ts'
import { shorten } from '../ground/show.ts'
import type { Conclusion } from '../judge/judge.ts'
import { writeTarget } from '../reports/targets.ts'
import { fileName, fileNames, type Options, optIn, secret, type Values, variableFor } from '../server/option.ts'
import type { Command } from './command.ts'
import { UsageError } from './errors.ts'
import { type Execution, execute } from './execution.ts'
import { type ReadOptions, readOptions } from './options.ts'
import { judgeRecordings, refuseRepeated, SOLE_WRITER } from './recordings.ts'
import { checkFiles, REPORT_OPTIONS } from './reports.ts'
import { askService, explainTrouble, type Trouble, targetOf } from './service-asking.ts'
import { baseUrl, SERVICE_OVERLAYS, warnOfSeveral } from './target-options.ts'
import { VERIFY_OPTIONS } from './verify.ts'

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
    return execute('calibrate', terminal, async (execution) => {
      const gathered = await gather({ values, recordings, choices, execution })
      if ('reason' in gathered) return execution.say(`calibrate: ${gathered.reason}`, gathered.exitCode)
      const { evidence, warnings, exitCode } = gathered
      const calibration = await makeOverlay(evidence, choices)
      // Compiles the contract with the overlay like `serve`, because alternatives may contradict each other.
      const overlay = await readCalibration(calibration, 'the overlay of what was seen')
      await loadContract({ overlays: [...overlays, overlay] })
      const { interruptedWith = exitCode, ...times } = execution.times
      const service = values.apiKey === undefined ? [] : [values.baseUrl ?? '']
      const title = [...inputs, ...service].map((file) => shorten(file)).join(', ')
      const report = describeCalibration({ evidence, calibration, choices, warnings, title, interruptedWith, ...times })
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

interface Gathering {
  values: Values<typeof OPTIONS>
  recordings: readonly string[]
  choices: Choices
  execution: Execution
}

interface Gathered {
  evidence: Evidence
  warnings: readonly string[]
  /** The exit code, if the service could not be asked to the end. */
  exitCode: number | undefined
}

/** The evidence of the files, of the recordings and of the service. */
async function gather({ values, recordings, choices, execution }: Gathering): Promise<Gathered | Trouble> {
  const all: Evidence[] = []
  const warnings: string[] = []
  let exitCode: number | undefined
  function add(conclusion: Conclusion, targets: readonly string[], secrets: readonly string[]): void {
    execution.terminal.learn(secrets)
    const origin = { tool: 'calibrate', choices, overlays: values.overlays, targets, secrets } as const
    all.push(describeEvidence(conclusion, origin))
  }
  for (const file of values.evidence) all.push(await readEvidence(file, choices))
  if (recordings.length > 0) {
    const seen = await judgeRecordings(recordings, { choices, ...values }, execution)
    add(seen.conclusion, seen.target === undefined ? [] : [seen.target], seen.secrets)
    warnings.push(...seen.failures, ...seen.warnings)
  }
  const { apiKey, baseUrl: service } = values
  if (apiKey !== undefined && service !== undefined) {
    const asked = await askService({ ...ASKED, ...values, execution, choices, apiKey, baseUrl: service }).catch(
      explainTrouble(service),
    )
    if ('reason' in asked) return asked
    const { conclusion, ended } = asked.result
    add(conclusion, [targetOf(service)], [apiKey])
    if (ended !== undefined) warnings.push(`Not everything was asked, because ${ended.reason}.`)
    if (ended?.kind === 'connection' || ended?.kind === 'ledger') exitCode = 3
    if (asked.sweep !== undefined) warnings.push(`The account may not be as before; to clean up: ${asked.sweep}`)
  }
  const evidence = all.reduce(joinEvidence)
  return { evidence, warnings: [...warnings, ...warnOfSeveral(evidence.targets)], exitCode }
}

/** What is asked beside the options: all that `verify` asks by default. */
const ASKED = {
  ...{ reserve: () => 0, readOnly: false, exhaust: false, ledger: undefined, ledgerSource: undefined },
  ...{ domainSuffix: VERIFY_OPTIONS.domainSuffix.default, timeout: VERIFY_OPTIONS.timeout.default },
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
