import type { AccountState } from '../domain/account.ts'
import { timeOn } from '../domain/clock.ts'
import { type Counters, type CountingPlan, type CountingResult, decideCounts } from '../domain/counting.ts'
import type { FaultTally } from '../domain/faults.ts'
import type { Hits } from '../domain/quotas.ts'
import { beginChanceOfFault, chanceOfFault, fraction } from '../ground/chance.ts'

/** The counters in fields whose names begin with `q` for a window and with `t` for a tally. */
export function readCounters(fields: Iterable<readonly [name: string, text: string]>): Counters {
  const windows: [bucket: string, hits: Hits][] = []
  const tallies = new Map<string, FaultTally>()
  for (const [name, text] of fields) {
    if (name.startsWith('q')) windows.push([name.slice(1), readHits(text)])
    else tallies.set(name.slice(1), readTally(text))
  }
  // Windows are sorted by their beginning.
  windows.sort(([, one], [, other]) => one.startedAt - other.startedAt)
  return { quotas: new Map(windows), tallies }
}

function readHits(text: string): Hits {
  const [startedAt, used] = readNumbers(text)
  return { startedAt, used }
}

function readTally(text: string): FaultTally {
  const [matched, hits] = readNumbers(text)
  return { matched, hits }
}

export function writeHits({ startedAt, used }: Hits): string {
  return `${startedAt}:${used}`
}

export function writeTally({ matched, hits }: FaultTally): string {
  return `${matched}:${hits}`
}

function readNumbers(text: string): [number, number] {
  const colon = text.indexOf(':')
  return [Number(text.slice(0, colon)), Number(text.slice(colon + 1))]
}

/** The part of a plan that the function `enter` needs. */
export function writePlan({ charge, toldBucket, rules }: CountingPlan, account: AccountState): string[] {
  const charged =
    charge === undefined
      ? [toldBucket ?? '', '0', '0', '0', '0', '1', '0', '0']
      : [
          ...[charge.bucket, '1', `${charge.limit}`, `${charge.graceLimit}`, writeNumber(charge.graceEnds)],
          ...[`${charge.window * 1000}`, charge.start === 'aligned' ? '1' : '0', charge.enforced ? '1' : '0'],
        ]
  for (const { id, skip, times, probability, ends } of rules) {
    const words = probability < 1 ? beginChanceOfFault(account, id) : [0, 0, 0, 0]
    charged.push(id, `${skip}`, writeNumber(times), `${probability}`, writeNumber(ends))
    for (const word of words) charged.push(`${word >>> 0}`)
  }
  return charged
}

/** How a request has entered an account, as the function `enter` tells it. */
export interface EnterReply {
  /** The time of the store, in microseconds since the Unix epoch. */
  micros: number
  /** The number of earlier requests, and of earlier changes of the counters. */
  requests: number
  sequence: number
  /** What undoes its counts, see `requests.lua`; absent if it was not counted. */
  undo: string | undefined
}

/** Three numbers, and for a counted request, the number of its change and what undoes that. */
export function readEnterReply(told: string): EnterReply {
  const [first, second] = [told.indexOf(' '), told.indexOf(' ', told.indexOf(' ') + 1)]
  const third = told.indexOf(' ', second + 1)
  return {
    micros: Number(told.slice(0, first)),
    requests: Number(told.slice(first + 1, second)),
    sequence: Number(third < 0 ? told.slice(second + 1) : told.slice(second + 1, third)),
    undo: third < 0 ? undefined : told.slice(told.indexOf(' ', third + 1) + 1),
  }
}

/** What a request has counted by its plan. The function has counted the same. */
export function readCount(
  plan: CountingPlan,
  account: AccountState,
  { micros, requests, undo }: EnterReply,
): CountingResult {
  let former: Hits | undefined
  let tallies = NO_TALLIES
  if (undo !== undefined && (plan.rules.length > 0 || plan.charge !== undefined || plan.toldBucket !== undefined)) {
    const read = plan.charge === undefined ? 'h' : `q${plan.charge.bucket}`
    const known = new Map<string, FaultTally>()
    for (const [name, text] of readUndo(undo)) {
      if (text === '') continue
      if (name === read) former = readHits(text)
      else if (name.startsWith('t')) known.set(name.slice(1), readTally(text))
    }
    tallies = known
  }
  const before = { requests, quotas: { get: () => former }, tallies }
  const draw = (rule: string, ordinal: number) => fraction(chanceOfFault(account, rule, ordinal)[0])
  return decideCounts(plan, before, timeOn(account.clock, Math.floor(micros / 1000)), draw)
}

const NO_TALLIES: ReadonlyMap<string, FaultTally> = new Map()

/** The names and the old values in a text that undoes a change of counters. An empty value stands for no counter. */
export function* readUndo(undo: string): Generator<[name: string, text: string]> {
  const lines = undo.split('\n')
  for (let index = 0; index < lines.length; index += 2) yield [lines[index] ?? '', lines[index + 1] ?? '']
}

/** The function gets the greatest finite number in place of infinity. */
function writeNumber(number: number): string {
  return Number.isFinite(number) ? `${number}` : `${Math.sign(number) * Number.MAX_VALUE}`
}
