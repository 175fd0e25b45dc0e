import type { Snapshot } from '../accounts/worlds.ts'
import { writeInstant } from '../domain/iso-8601.ts'
import { reportAccount } from './accounts.ts'
import { type AccountHandler, done } from './handler.ts'
import { answerPage } from './paging.ts'
import { notFound, taken, tooMany } from './refusals.ts'
import type { SnapshotReport } from './reports.ts'

export const listSnapshots: AccountHandler = (call) => {
  const items = call.worlds.snapshots(call.account.id)
  return answerPage(call, 'snapshots', { items, count: items.length, idOf: ({ name }) => name }, reportSnapshot)
}

export const takeSnapshot: AccountHandler = async ({ account, worlds, body, limits }) => {
  const name = String(body['name'])
  const known = worlds.snapshots(account.id)
  const namesake = known.some((snapshot) => snapshot.name === name)
  if (namesake && body['replace'] !== true) return taken('a snapshot', name)
  if (!namesake && known.length >= limits.snapshotsPerAccount) return tooMany(limits.snapshotsPerAccount, 'snapshots')
  return done({ snapshot: reportSnapshot(await worlds.takeSnapshot(account.id, name)) })
}

export const restoreSnapshot: AccountHandler = async (call) => {
  const name = call.parameters['snapshot'] ?? ''
  const account = await call.worlds.restore(call.account.id, name)
  return account === undefined ? notFound('snapshot', name) : done({ account: reportAccount(call, account) })
}

export const deleteSnapshot: AccountHandler = ({ account, worlds, parameters }) => {
  const name = parameters['snapshot'] ?? ''
  return worlds.deleteSnapshot(account.id, name) ? done() : notFound('snapshot', name)
}

function reportSnapshot({ name, takenAt, state }: Snapshot): SnapshotReport {
  return { name, taken_at: writeInstant(takenAt), domains: state.domains.size, groups: state.groups.size }
}
