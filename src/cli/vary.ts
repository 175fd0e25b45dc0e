import { type Alternative, type Choices, nameOf, readChoices } from '../contract/choices.ts'
import { readOverlays } from '../contract/overlay.ts'
import { shorten } from '../ground/show.ts'
import { type Options, texts, timeLimit, wholeNumber } from '../server/option.ts'
import { describeVary } from '../trials/vary/report.ts'
import { BaselineError, vary as runVary } from '../trials/vary/vary.ts'
import { defineCommand, withoutOptions } from './command.ts'
import { type Execution, execute } from './execution.ts'
import { refuseId, UsageError } from './options.ts'
import { checkFiles, REPORT_OPTIONS } from './reports.ts'
import { withServerOptions } from './start.ts'
import { JOBS, millisecondsOf, SEPARATE_TRIAL_OPTIONS } from './trial-options.ts'

/** The options of `vary` itself. The others are options of the server and of the command. */
const OWN_OPTIONS = {
  ...JOBS,
  repeats: {
    kind: wholeNumber(2, 100),
    help: 'Number of runs of each trial, if the command does not do the same each time.',
    default: 3,
  },
  accept: {
    kind: texts,
    placeholder: 'ID[/N]',
    help: 'Assumption, or alternative N of it, on which the command may depend.',
    default: [],
  },
  maxTime: {
    kind: timeLimit,
    help: 'Time limit of the whole search. Alternatives that were not tried until then are not decided.',
    defaultText: 'no limit',
  },
  ...REPORT_OPTIONS,
} as const satisfies Options

const OPTIONS = {
  ...SEPARATE_TRIAL_OPTIONS,
  timeout: {
    ...SEPARATE_TRIAL_OPTIONS.timeout,
    defaultText: 'ten times as long as it takes by itself, and at least 10s',
  },
  ...OWN_OPTIONS,
} as const satisfies Options

export const vary = defineCommand(
  'vary',
  OPTIONS,
  async (reading, terminal) => {
    const { values, words, command } = reading
    await checkFiles(values.report)
    const choices = await readChoices(await readOverlays(values.overlays))
    const accepts = readAccepted(values.accept, choices)
    const { setEnv: variables, jobs, repeats } = values
    async function work(execution: Execution): Promise<number> {
      const { onSignal, signal } = execution
      const result = await withServerOptions(reading, terminal, (options) =>
        runVary({
          ...{ command, variables, choices, accepts, signal, onSignal, jobs, repeats },
          environment: terminal.environment,
          redact: terminal.redact,
          server: { ...options, overlays: [] },
          timeout: millisecondsOf(values.timeout),
          maxTime: millisecondsOf(values.maxTime),
          onProgress: (said) => execution.show(said),
        }),
      ).catch((error: unknown) => {
        if (error instanceof BaselineError) return error
        throw error
      })
      if (result instanceof BaselineError) return execution.say(`vary: ${result.message}`, 1)
      const { writeCommandLine } = terminal
      const sameOptions = withoutOptions(words, OWN_OPTIONS)
      const report = describeVary({ result, choices, sameOptions, writeCommandLine, ...execution.times })
      return execution.deliver(report, values.report)
    }
    return execute('vary', terminal, work, values)
  },
  'a command',
)

/** Whether the user accepts an alternative. @throws UsageError if an accepted alternative does not exist */
function readAccepted(
  accepted: readonly string[],
  { alternatives, ids }: Choices,
): (alternative: Alternative) => boolean {
  for (const written of accepted) {
    const [id = '', number, ...more] = written.split('/')
    if (!ids.includes(id)) {
      throw new UsageError(`--accept ${shorten(written)}: ${refuseId(id, ids)}`)
    }
    const own = alternatives.filter((each) => each.id === id)
    if (number === undefined) continue
    if (more.length > 0 || !own.some((each) => `${each.number}` === number)) {
      const remedy = own.length === 0 ? 'has no alternative' : `has the alternatives 1 to ${own.length}`
      throw new UsageError(`--accept ${shorten(written)}: ${id} ${remedy}`)
    }
  }
  return (alternative) => accepted.includes(alternative.id) || accepted.includes(nameOf(alternative))
}
