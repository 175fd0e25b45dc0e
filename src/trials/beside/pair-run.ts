import { runCommand } from '../command.ts'
import type { CommandEnd } from '../running-command.ts'
import { environmentIn, serveTrial, type Trial, type TrialResult, withoutKeys } from '../trial.ts'
import { type ConductedCommand, Conductor, type Halt, type Step } from './conductor.ts'
import { type CommandSide, otherSide, type Schedule, SIDES } from './schedule.ts'
import { Turnstile } from './turnstile.ts'

/** A run of two commands against one account, in an order. `ConductorDeps` explains most of it. */
export interface PairTrial
  extends Pick<
    Trial,
    'name' | 'environment' | 'variables' | 'options' | 'contract' | 'signal' | 'onSignal' | 'timeout' | 'carryOut'
  > {
  commands: readonly [readonly string[], readonly string[]]
  schedule: Schedule
  isSerial: boolean
  repeats: number
  silence: number
  restless: readonly [boolean, boolean]
}

/** What became of the two commands of a run. */
interface PairEnd {
  ends: readonly [CommandEnd, CommandEnd]
  steps: readonly Step[]
  /** Whether the requests came as the schedule says. */
  isFollowed: boolean
  halt: Halt | undefined
  /** How often a thread has repeated one request while nothing changed. */
  repeats: number
  /** See `Conductor`. */
  quiet: number
  restless: readonly [boolean, boolean]
  /** The commands that gave up a request while it was held for the other one. */
  impatient: readonly CommandSide[]
}

export type PairRun = Pick<TrialResult<PairEnd>, 'end' | 'contract' | 'accounts' | 'lost'>

/** Starts a server, and both commands with a key each. @throws CommandError, errors of the start */
export async function runPair(trial: PairTrial): Promise<PairRun> {
  const { schedule, isSerial } = trial
  const impatient = new Set<CommandSide>()
  let turn: CommandSide | undefined
  const turnstile = new Turnstile((side) => {
    // A command whose turn it is may end with requests under way.
    if (side !== turn) impatient.add(side)
  })
  return serveTrial({ ...trial, turnstile: turnstile.guard }, async (service, { journal }) => {
    const { api_key } = await service.account.keys.create({ label: 'beside' })
    const keys = [service.apiKey ?? '', api_key] as const
    turnstile.close(service.contract, keys)
    const unsubscribe = journal.subscribe((entry) => turnstile.note(entry))
    const ending = new AbortController()
    const signal = AbortSignal.any([ending.signal, ...(trial.signal === undefined ? [] : [trial.signal])])
    const commands: [ConductedCommand, ConductedCommand] = [{ hasEnded: false }, { hasEnded: false }]
    const conductor = new Conductor({
      ...{ turnstile, commands, signal },
      ...{ schedule, isSerial, silence: trial.silence, repeats: trial.repeats, restless: trial.restless },
      pass(strand) {
        turn = strand.side
        return turnstile.pass(strand)
      },
    })
    const start = async (side: CommandSide): Promise<CommandEnd> => {
      const environment = environmentIn({ ...trial, name: `${trial.name}-${side + 1}` }, service, keys[side])
      const { timeout, onSignal, carryOut = runCommand } = trial
      const { [side]: command } = trial.commands
      const ended = await carryOut({
        ...{ command, environment, timeout, onSignal, signal, inherits: false },
        started: (running) => {
          commands[side].isAsleep = () => running.isAsleep
        },
      })
      const end = withoutKeys(ended, journal)
      commands[side].hasEnded = true
      turnstile.tell()
      return end
    }
    const conduct = async () => {
      const halt = await conductor.conduct()
      if (halt !== undefined) ending.abort()
      turnstile.open()
      return halt
    }
    const first = schedule[0]?.side ?? 0
    const earlier = start(first)
    const later = isSerial ? earlier.then(() => start(otherSide(first))) : start(otherSide(first))
    const conducted = conduct()
    const work = first === 0 ? ([earlier, later, conducted] as const) : ([later, earlier, conducted] as const)
    try {
      const [one, other, halt] = await Promise.all(work)
      const { steps, isFollowed, repeats, quiet, restless } = conductor
      return {
        ends: [one, other],
        ...{ steps, isFollowed, halt, repeats, quiet, restless },
        impatient: SIDES.filter((side) => impatient.has(side)),
      }
    } finally {
      // After an error, nothing is left behind.
      ending.abort()
      await Promise.allSettled(work)
      unsubscribe()
    }
  })
}
