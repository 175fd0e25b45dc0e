import { writeInstant } from '../domain/iso-8601.ts'
import type { SnapshotSummary } from '../store/store.ts'
import { reportAccount } from './accounts.ts'
import { type AccountHandler, done } from './handler.ts'
import { answerPage, type PageOf } from './paging.ts'
import { notFound, taken, tooMany } from './refusals.ts'
import type { AccountReport, SnapshotReport } from './reports.ts'

export const listSnapshots: AccountHandler<PageOf<'snapshots', SnapshotReport>> = async (call) => {
  const items = await call.store.snapshots.list(call.account.id)
  return answerPage(call, 'snapshots', { items, count: items.length, idOf: ({ name }) => name }, reportSnapshot)
}

export interface NewSnapshot {
  name: string
  /** Whether it takes the place of a snapshot with the same name. */
  replace?: boolean
}

export const takeSnapshot: AccountHandler<{ snapshot: SnapshotReport }, NewSnapshot> = async (call) => {
  const { name, replace = false } = call.body
  const limit = call.limits.snapshotsPerAccount
  const outcome = await call.worlds.takeSnapshot(call.account.id, { name, replace, limit })
  if (outcome.ok) return done({ snapshot: reportSnapshot(outcome.snapshot) })
  return outcome.reason === 'taken' ? taken('a snapshot', name) : tooMany(limit, 'snapshots')
}

export const restoreSnapshot: AccountHandler<{ account: AccountReport }> = async (call) => {
  const name = call.parameters['snapshot'] ?? ''
  const account = await call.worlds.restore(call.account.id, name)
  return account === undefined ? notFound('snapshot', name) : done({ account: await reportAccount(call, account) })
}

export const deleteSnapshot: AccountHandler = async ({ account, store, parameters }) => {
  const name = parameters['snapshot'] ?? ''
  return (await store.snapshots.delete(account.id, name)) ? done() : notFound('snapshot', name)
}

function reportSnapshot({ name, takenAt, domains, groups }: SnapshotSummary): SnapshotReport {
  return { name, taken_at: writeInstant(takenAt), domains, groups }
}
