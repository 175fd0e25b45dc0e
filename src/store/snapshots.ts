import { timeOn } from '../domain/clock.ts'
import type { Account, SnapshotOutcome, SnapshotRequest, SnapshotSummary } from './store.ts'

/** What a new snapshot makes of the snapshots of its account. `left` are the others; `replaced` had its name. */
export type SnapshotPlan<Kept> =
  | (Extract<SnapshotOutcome, { ok: true }> & { left: Kept[]; replaced: Kept | undefined })
  | Extract<SnapshotOutcome, { ok: false }>

/** Decides whether an account gets another snapshot. One that replaces another is the newest. */
export function planSnapshot<Kept extends SnapshotSummary>(
  kept: readonly Kept[],
  { name, replace, limit }: SnapshotRequest,
  { state: { clock, domains, groups } }: Pick<Account, 'state'>,
  real: number,
): SnapshotPlan<Kept> {
  const replaced = kept.find((each) => each.name === name)
  if (replaced !== undefined && !replace) return { ok: false, reason: 'taken' }
  if (replaced === undefined && kept.length >= limit) return { ok: false, reason: 'too-many' }
  const snapshot = { name, takenAt: timeOn(clock, real), domains: domains.size, groups: groups.size }
  return { ok: true, snapshot, left: kept.filter((each) => each !== replaced), replaced }
}

export function summarize({ name, takenAt, domains, groups }: SnapshotSummary): SnapshotSummary {
  return { name, takenAt, domains, groups }
}
