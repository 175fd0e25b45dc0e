import { availableParallelism, constants } from 'node:os'
import { type Alternative, type Choices, nameOf, readChoices } from '../contract/choices.ts'
import { readOverlay } from '../contract/overlay.ts'
import { elapsed, systemClock } from '../ground/clock.ts'
import { nearestName } from '../ground/edit-distance.ts'
import { shorten } from '../ground/show.ts'
import {
  flagOf,
  type Option,
  type Options,
  placeholderOf,
  readDuration,
  text,
  texts,
  timeLimit,
  toggle,
  wholeNumber,
} from '../start/option.ts'
import { pickServerOptions } from '../start/option-table.ts'
import { DependenciesError, readDependencies } from '../trials/vary/dependencies-file.ts'
import { BaselineError, vary as runVary, type VaryResult } from '../trials/vary/vary.ts'
import { describeVary } from '../trials/vary/vary-report.ts'
import type { Command } from './command.ts'
import { UsageError } from './errors.ts'
import { Interrupted, Interruption } from './interruption.ts'
import { readOptions } from './options.ts'

import { Progress } from './progress.ts'
import { checkReports, deliverReport, REPORT_OPTIONS } from './reports.ts'
import { withNamedOptions } from './start.ts'
import { PARALLEL_OPTIONS, refuseEarlyOperands, splitCommand, TRIAL_OPTIONS } from './trial-options.ts'

/** Options that contradict a new server per trial, and the reasons. */
const REFUSED: Readonly<Record<string, string>> = {
  data: 'each trial has an account of its own in memory, so that trials do not affect each other',
  durability: 'nothing is kept, because each trial has an account of its own in memory',
  'skip-damaged': 'no account is kept, because each trial has an account of its own in memory',
  store: 'each trial has an account of its own in memory, so that trials do not affect each other',
  'store-prefix': 'each trial has an account of its own in memory, so that trials do not affect each other',
  'ready-file': 'each trial has a server of its own; the command reads its address in UNDERSTUDY_BASE_URL',
  'exit-with-parent': 'a signal ends this program and its trials',
}

const {
  data: _data,
  durability: _durability,
  skipDamaged: _skipDamaged,
  store: _store,
  storePrefix: _storePrefix,
  readyFile: _readyFile,
  exitWithParent: _exit,
  ...SHARED
} = TRIAL_OPTIONS

/** The options of `vary` itself. The others are options of the server and of the command. */
const OWN_OPTIONS = {
  ...PARALLEL_OPTIONS,
  repeats: {
    kind: wholeNumber(2, 100),
    help: 'Number of runs of each trial, if the command does not do the same each time.',
    default: 3,
  },
  since: {
    kind: text,
    placeholder: 'FILE',
    help: 'Report of an earlier run of the same command (--report json=FILE). Only what is new or has changed since is tried.',
  },
  accept: {
    kind: texts,
    placeholder: 'ID[/N]',
    help: 'Assumption, or alternative N of it, on which the command may depend.',
    default: [],
  },
  bail: { kind: toggle, help: 'Stop at the first dependency that is not accepted.', default: false },
  maxTime: {
    kind: timeLimit,
    help: 'Time limit of the whole search. Alternatives that were not tried until then are not decided.',
    defaultText: 'no limit',
  },
  bundles: {
    kind: toggle,
    flag: 'no-bundles',
    help: 'Try several alternatives in one trial, where they change different parts of the responses.',
    default: true,
    flagHelp: 'Try each alternative in a trial of its own.',
  },
  exhaustive: {
    kind: toggle,
    help: 'Try all alternatives, each in a trial of its own, also those that cannot change what the command is answered.',
    default: false,
  },
  ...REPORT_OPTIONS,
} as const satisfies Options

const OPTIONS = {
  ...SHARED,
  timeout: { ...SHARED.timeout, defaultText: 'ten times as long as it takes by itself, and at least 10s' },
  ...OWN_OPTIONS,
} as const satisfies Options

export const vary: Command = {
  options: OPTIONS,

  async run(args, terminal) {
    const { options: given, command } = splitCommand('vary', args)
    refuseOptions(given)
    const { values, sources, positionals } = readOptions(OPTIONS, given, terminal.environment)
    refuseEarlyOperands('vary', positionals)
    if (values.jobs > 1 && values.port !== 0) {
      throw new UsageError(`${sources.port}: only one trial at a time can have the port; leave it out, or --jobs`)
    }
    await checkReports(values.report)
    const choices = await readChoices(await Promise.all(values.overlays.map(readOverlay)))
    const accepts = readAccepted(values.accept, choices)
    const since =
      values.since === undefined
        ? undefined
        : await readDependencies(values.since, command, choices.ids).catch((error: unknown) => {
            throw error instanceof DependenciesError ? new UsageError(`${sources.since}: ${error.message}`) : error
          })
    const startedAt = new Date(systemClock()).toISOString()
    const began = elapsed()
    const progress = new Progress(terminal)
    const interruption = new Interruption(terminal, { isOver: true })
    const { log, close } = await terminal.openLog(values.logLevel, values.logFormat)
    let result: VaryResult
    try {
      result = await withNamedOptions(sources, () =>
        runVary({
          command,
          environment: terminal.environment,
          variables: values.setEnv,
          server: { ...pickServerOptions(values), overlays: [], log },
          choices,
          jobs: values.jobs,
          repeats: values.repeats,
          timeout: milliseconds(values.timeout),
          maxTime: milliseconds(values.maxTime),
          bail: values.bail,
          bundles: values.bundles,
          exhaustive: values.exhaustive,
          accepts,
          since,
          signal: interruption.signal,
          onSignal: interruption.onSignal,
          onProgress: (said) => progress.show(`dmarc-understudy vary: ${said}`),
        }),
      )
    } catch (error) {
      progress.end()
      const exitCode = exitCodeFor(error)
      if (exitCode === undefined) throw error
      terminal.printError(`dmarc-understudy: vary: ${(error as Error).message.replaceAll(/\s*\n\s*/g, ' ')}`)
      return exitCode
    } finally {
      interruption.release()
      progress.end()
      await close()
    }
    const report = describeVary({
      result,
      choices,
      startedAt,
      seconds: Math.round(elapsed() - began) / 1000,
      jobs: values.jobs,
      processors: availableParallelism(),
      sameOptions: withoutOwn(given),
    })
    return deliverReport(report, values.report, terminal)
  },
}

function exitCodeFor(error: unknown): number | undefined {
  if (error instanceof BaselineError) return 1
  return error instanceof Interrupted ? 128 + constants.signals[error.by] : undefined
}

function milliseconds(written: string | undefined): number | undefined {
  return written === undefined ? undefined : readDuration(written)
}

/** @throws UsageError if an option of `serve` has no meaning here */
function refuseOptions(given: readonly string[]): void {
  for (const argument of given) {
    const flag = /^--([a-z-]+)/.exec(argument)?.[1] ?? ''
    const reason = Object.hasOwn(REFUSED, flag) ? REFUSED[flag] : undefined
    if (reason !== undefined) throw new UsageError(`--${flag}: cannot be used with vary; ${reason}`)
  }
}

/** Whether the user accepts an alternative. @throws UsageError if an accepted alternative does not exist */
function readAccepted(
  accepted: readonly string[],
  { alternatives, ids }: Choices,
): (alternative: Alternative) => boolean {
  for (const written of accepted) {
    const [id = '', number, ...more] = written.split('/')
    if (!ids.includes(id)) {
      const nearest = nearestName(id, ids)
      const remedy = nearest === undefined ? 'the command assumptions lists them' : `did you mean ${nearest}?`
      throw new UsageError(`--accept ${shorten(written)}: must be the id of an assumption; ${remedy}`)
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

/** The arguments with which `run` starts the same server. */
function withoutOwn(given: readonly string[]): string[] {
  const own = new Map(
    Object.entries<Option<unknown>>(OWN_OPTIONS).map(([name, option]) => [flagOf(name, option), option]),
  )
  const kept: string[] = []
  for (let index = 0; index < given.length; index++) {
    const argument = given[index] ?? ''
    const [, flag = '', value] = /^--([a-z-]+)(=)?/.exec(argument) ?? []
    const option = own.get(flag)
    if (option === undefined) kept.push(argument)
    else if (value === undefined && placeholderOf(option) !== undefined) index++
  }
  return kept
}
