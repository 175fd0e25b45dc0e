import type { AccountState } from '../domain/account.ts'
import { timeOn } from '../domain/clock.ts'
import { type Counters, type CountingPlan, type CountingResult, decideCounts } from '../domain/counting.ts'
import type { FaultTally } from '../domain/faults.ts'
import type { Hits } from '../domain/quotas.ts'
import { beginChanceOfFault, chanceOfFault, fraction } from '../ground/chance.ts'
import type { RedisReply } from './connection.ts'

export function readCounters(quotas: Iterable<[string, string]>, tallies: Iterable<[string, string]>): Counters {
  const windows = [...quotas].map(([bucket, text]) => [bucket, readHits(text)] as const)
  // Windows are sorted by their beginning.
  windows.sort(([, one], [, other]) => one.startedAt - other.startedAt)
  return {
    quotas: new Map(windows),
    tallies: new Map([...tallies].map(([rule, text]) => [rule, readTally(text)] as const)),
  }
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

/** The part of a plan that the script needs, see `enter.lua`. */
export function writePlan({ charge, toldBucket, rules }: CountingPlan, account: AccountState): string[] {
  const charged =
    charge === undefined
      ? [toldBucket ?? '', '0', '0', '0', '0', '1', '0', '0']
      : [
          ...[charge.bucket, '1', `${charge.limit}`, `${charge.graceLimit}`, writeNumber(charge.graceEnds)],
          ...[`${charge.window * 1000}`, charge.start === 'aligned' ? '1' : '0', charge.enforced ? '1' : '0'],
        ]
  const asked = rules.flatMap(({ id, skip, times, probability, ends }) => [
    ...[id, `${skip}`, writeNumber(times), `${probability}`, writeNumber(ends)],
    ...(probability < 1 ? beginChanceOfFault(account, id) : [0, 0, 0, 0]).map((word) => `${word >>> 0}`),
  ])
  return [...charged, ...asked]
}

/** The values before a request was counted, as the script returns them. */
interface FormerCounters {
  requests: RedisReply | undefined
  /** For the bucket of the plan. */
  hits: RedisReply | undefined
  /** For the rules of the plan, in their order. Rules after one that acts are missing. */
  tallies: RedisReply | undefined
}

/** What a request has counted by its plan. The script has counted the same. `real` is the time of the store. */
export function readCount(
  plan: CountingPlan,
  account: AccountState,
  real: number,
  { requests, hits, tallies }: FormerCounters,
): CountingResult {
  const former = isThere(hits) ? readHits(hits) : undefined
  const texts = tallies as readonly RedisReply[]
  const known = plan.rules.flatMap(({ id }, index) => {
    const text = texts[index]
    return isThere(text) ? [[id, readTally(text)] as const] : []
  })
  const before = { requests: Number(requests), quotas: { get: () => former }, tallies: new Map(known) }
  const draw = (rule: string, ordinal: number) => fraction(chanceOfFault(account, rule, ordinal)[0])
  return decideCounts(plan, before, timeOn(account.clock, real), draw)
}

function isThere(text: RedisReply | undefined): text is string {
  return typeof text === 'string' && text !== ''
}

/** The script gets the greatest finite number in place of infinity. */
function writeNumber(number: number): string {
  return Number.isFinite(number) ? `${number}` : `${Math.sign(number) * Number.MAX_VALUE}`
}
