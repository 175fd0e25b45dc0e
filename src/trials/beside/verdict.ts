import type { AccountState } from '../../domain/account.ts'
import { writeShellLine } from '../../ground/shell-word.ts'
import { PAST } from '../../journal/entry.ts'
import { wordEnd } from '../command.ts'
import { describeDifference, type Effects, effectsOf } from '../explore/effects.ts'
import { surplusIn } from '../surplus.ts'
import { HOPELESS, type Step } from './conductor.ts'
import type { PairRun } from './pair-run.ts'
import { type CommandSide, otherSide, SIDES } from './schedule.ts'

/** What became of two commands in one order of their requests. `gave up`: a failure that leaves nothing wrong. */
export type PairVerdict = 'passed' | 'gave up' | PairFailure
/** From the worst to the mildest. */
const PAIR_FAILURES = ['lost update', 'wrong success', 'false failure', 'hang'] as const
export type PairFailure = (typeof PAIR_FAILURES)[number]

export function isPairFailure(verdict: PairVerdict): verdict is PairFailure {
  return PAIR_FAILURES.some((failure) => failure === verdict)
}

/** What the two serial orders have shown. */
export interface SerialOrders {
  /** What the account may be like after both commands. */
  allowed: readonly Effects[]
  /** Whether the same order has the same effects again. If not, only exit codes are judged. */
  isStable: boolean
  /** What each command changes when it comes first, and what is so after both orders. */
  promised: readonly [Promised, Promised]
}

interface Promised {
  made: readonly string[]
  ended: readonly string[]
}

/** The verdict about a run, and the reasons in sentences. */
export interface PairJudgement {
  verdict: PairVerdict
  reasons: readonly string[]
}

/** What a run has left, without the changes on the way. */
export function leftBy({ accounts }: Pick<PairRun, 'accounts'>): Effects {
  return { accounts: effectsOf(accounts.values(), []).accounts, changes: [] }
}

export function hasSucceeded({ end: { ends } }: PairRun, side: CommandSide): boolean {
  return ends[side].exitCode === 0 && !ends[side].timedOut
}

/** What each command promises when it succeeds. The runs are those in both serial orders, by the first command. */
export function promisesOf(serial: readonly [PairRun, PairRun]): SerialOrders['promised'] {
  const ends = serial.map((run) => new Set(leftBy(run).accounts.flat()))
  const promisedBy = (side: CommandSide): Promised => {
    const own = serial[side].end.steps.filter(({ strand }) => strand.side === side).map(changeBy)
    return {
      made: unique(own.flatMap(({ made }) => made)).filter((fact) => ends.every((facts) => facts.has(fact))),
      ended: unique(own.flatMap(({ ended }) => ended)).filter((fact) => ends.every((facts) => !facts.has(fact))),
    }
  }
  return [promisedBy(0), promisedBy(1)]
}

function changeBy({ entry: { [PAST]: past } }: Step): Promised {
  if (past?.after === undefined) return { made: [], ended: [] }
  const [former, now] = [factsOf(past.account), factsOf(past.after)]
  return { made: surplusIn(now, former, String), ended: surplusIn(former, now, String) }
}

function factsOf(account: AccountState): readonly string[] {
  return effectsOf([account], []).accounts.flat()
}

function unique(facts: readonly string[]): string[] {
  return [...new Set(facts)]
}

/** `names` are the commands in words. */
export function judgePair(
  run: PairRun,
  { allowed, isStable, promised }: SerialOrders,
  names: PairNames,
): PairJudgement {
  const { ends, halt } = run.end
  const stuck = halt?.side ?? SIDES.find((side) => ends[side].timedOut)
  if (stuck !== undefined) return { verdict: 'hang', reasons: [wordHang(run, stuck, names)] }
  const failed = SIDES.filter((side) => !hasSucceeded(run, side))
  const left = leftBy(run)
  const isAllowed = !isStable || allowed.some((each) => JSON.stringify(each) === JSON.stringify(left))
  const [side, both] = failed
  if (side === undefined) {
    if (isAllowed) return { verdict: 'passed', reasons: [] }
    return { verdict: 'lost update', reasons: ['Both commands said that all is well.', ...nearest(allowed, left)] }
  }
  const failures = failed.map((each) => `${names[each]} ${wordEnd(ends[each])}`).join(', and ')
  if (!isStable) return { verdict: 'gave up', reasons: [`${failures}.`] }
  if (isAllowed) {
    return { verdict: 'false failure', reasons: [`${failures}, and the account is as it should be.`] }
  }
  const other = otherSide(side)
  const missing = both === undefined ? brokenPromises(promised[other], left) : []
  if (missing.length === 0) return { verdict: 'gave up', reasons: [`${failures}.`] }
  return { verdict: 'wrong success', reasons: [`${failures}. ${names[other]} said that all is well.`, ...missing] }
}

/** The commands in words, as a shell would read them. */
export type PairNames = readonly [string, string]

export function nameCommands([first, second]: readonly [readonly string[], string]): PairNames {
  const names = [writeShellLine(first), second] as const
  return names[0] === names[1] ? ['the first command', 'the second command'] : names
}

function wordHang({ end: { halt, ends } }: PairRun, side: CommandSide, names: PairNames): string {
  if (halt !== undefined && ends.every(({ exitCode }) => exitCode === undefined)) {
    return 'Neither of them ended: each waits for what only the other command can do.'
  }
  if (halt === undefined) return `${names[side]} did not end, although it had more time when it was repeated.`
  if (halt.reason === 'repeats') {
    return `${names[side]} sent the same request ${HOPELESS} times, and nothing changed: it waits for what only the other command can do.`
  }
  if (halt.reason === 'unfinished') return `${names[side]} did not end the body of a request.`
  return `${names[side]} sent nothing for ${halt.seconds} s: it waits for what only the other command can do.`
}

/** The differences from the serial order that is the most like it. */
function nearest(allowed: readonly Effects[], left: Effects): string[] {
  const differences = allowed.map((each) => describeDifference(each, left))
  return differences.toSorted((one, other) => one.length - other.length)[0] ?? []
}

function brokenPromises({ made, ended }: Promised, left: Effects): string[] {
  const facts = new Set(left.accounts.flat())
  return [
    ...made.filter((fact) => !facts.has(fact)).map((fact) => `missing at the end: ${fact}`),
    ...ended.filter((fact) => facts.has(fact)).map((fact) => `too much at the end: ${fact}`),
  ]
}
