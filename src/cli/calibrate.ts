import { readChoices } from '../contract/choices.ts'
import { loadContract } from '../contract/contract.ts'
import { readOverlays } from '../contract/overlay.ts'
import { calibrate as makeOverlay, readCalibration } from '../evidence/calibration.ts'
import { describeCalibration } from '../evidence/calibration-report.ts'
import { describeEvidence, joinEvidence, readEvidence, type SeenChoices } from '../evidence/evidence-file.ts'
import { shorten } from '../ground/show.ts'
import { writeTarget } from '../reports/targets.ts'
import { fileName, fileNames, type Options } from '../server/option.ts'
import { defineCommand } from './command.ts'
import { execute } from './execution.ts'
import { UsageError } from './options.ts'
import { judgeRecordings, SOLE_WRITER } from './recordings.ts'
import { checkFiles, REPORT_OPTIONS } from './reports.ts'
import { baseUrl, SERVICE_OVERLAYS } from './review.ts'

const OPTIONS = {
  evidence: {
    kind: fileNames,
    help: 'Evidence that check, proxy or verify has written with --evidence FILE.',
    default: [],
  },
  baseUrl: {
    kind: baseUrl,
    help: 'Base URL of the service in the recordings.',
    defaultText: 'the one below which paths of the contract are asked for',
  },
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

export const calibrate = defineCommand(
  'calibrate',
  OPTIONS,
  async ({ values, sources, positionals: recordings }, terminal) => {
    const inputs = [...recordings, ...values.evidence]
    if (inputs.length === 0) {
      throw new UsageError(
        'calibrate: needs HAR files or --evidence FILE, such as npx dmarc-understudy calibrate traffic.har; verify --evidence FILE asks a service',
      )
    }
    await checkFiles(values.report, [
      ...recordings.map((file) => ({ source: shorten(file), file, isRead: true })),
      ...values.evidence.map((file) => ({ source: `--evidence ${shorten(file)}`, file, isRead: true })),
      { source: sources.out, file: values.out },
    ])
    const overlays = await readOverlays(values.overlays)
    const choices = await readChoices(overlays)
    return execute('calibrate', terminal, async (execution) => {
      const all: SeenChoices[] = []
      const warnings: string[] = []
      for (const file of values.evidence) all.push(await readEvidence(file, choices))
      if (recordings.length > 0) {
        const seen = await judgeRecordings(recordings, { choices, ...values }, execution)
        const { conclusion, target, secrets } = seen
        terminal.learn(secrets)
        const targets = target === undefined ? [] : [target]
        all.push(
          describeEvidence(conclusion, { tool: 'calibrate', choices, overlays: values.overlays, targets, secrets }),
        )
        warnings.push(...seen.failures, ...seen.warnings)
      }
      const evidence = all.reduce(joinEvidence)
      const { targets: services = [] } = evidence
      if (services.length > 1) {
        warnings.push(`The evidence is of several services, which may differ: ${services.join(', ')}.`)
      }
      const calibration = await makeOverlay(evidence, choices)
      // Compiles the contract with the overlay like `serve`, because alternatives may contradict each other.
      const overlay = await readCalibration(calibration, 'the overlay of what was seen')
      await loadContract({ overlays: [...overlays, overlay] })
      const title = inputs.map((file) => shorten(file)).join(', ')
      const report = describeCalibration({ evidence, calibration, choices, warnings, title, ...execution.times })
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
  'operands',
)
