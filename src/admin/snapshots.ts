import type { SnapshotReport } from '../contract/control-plane.ts'
import { writeInstant } from '../domain/iso-8601.ts'
import type { SnapshotSummary } from '../store/store.ts'
import { reportAccount } from './accounts.ts'
import { done, type Handlers } from './handler.ts'
import { answerPage } from './paging.ts'
import { notFound, taken, tooMany } from './refusals.ts'

export const snapshotHandlers = {
  async listSnapshots(call) {
    const items = await call.store.snapshots.list(call.account.id)
    return answerPage(call, 'snapshots', { items, idOf: ({ name }) => name, report: reportSnapshot })
  },

  async takeSnapshot(call) {
    const { name, replace = false } = call.body
    const limit = call.limits.snapshotsPerAccount
    const outcome = await call.worlds.takeSnapshot(call.account.id, { name, replace, limit })
    if (outcome.ok) return done({ snapshot: reportSnapshot(outcome.snapshot) })
    return outcome.reason === 'taken' ? taken('a snapshot', name) : tooMany(limit, 'snapshots')
  },

  async restoreSnapshot(call) {
    const { snapshot: name } = call.parameters
    const account = await call.worlds.restore(call.account.id, name)
    return account === undefined ? notFound('snapshot', name) : done({ account: await reportAccount(call, account) })
  },

  async deleteSnapshot({ account, store, parameters }) {
    const { snapshot: name } = parameters
    return (await store.snapshots.delete(account.id, name)) ? done() : notFound('snapshot', name)
  },
} satisfies Handlers

function reportSnapshot({ name, takenAt, domains, groups }: SnapshotSummary): SnapshotReport {
  return { name, taken_at: writeInstant(takenAt), domains, groups }
}
