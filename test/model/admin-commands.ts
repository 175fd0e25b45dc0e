import fc, { type Arbitrary, type AsyncCommand } from 'fast-check'
import { expect } from 'vitest'
import { weighted } from '../support/weighted.ts'
import type { Account } from './account.ts'
import type { Deed } from './admin-expected.ts'
import { ask, learnGroups } from './admin-plane.ts'
import { perform } from './control.ts'
import { type PlannedDeed, plannedDeed, settleDeed } from './deeds.ts'
import { type Real, send } from './exchange.ts'
import { holdRecord } from './figures.ts'
import type { Model } from './model.ts'
import { records } from './operations.ts'
import { readingOf } from './requests.ts'

const DAY = 86_400_000

const accountId = weighted([12, fc.constant('default')], [3, fc.constant('other')], [1, fc.constant('small')])

export const controlling: Arbitrary<AsyncCommand<Model, Real>> = fc
  .tuple(accountId, plannedDeed)
  .map(([account, deed]) => ({
    check: ({ accounts }) => isPossible(deed, accounts.get(account)),
    run: (model, real) => control(account, deed, model, real),
    toString() {
      const { operation, parameters, index, body } = deed
      const details = [parameters, index, body].filter((detail) => detail !== undefined)
      return `(${operation} of ${account}${details.map((detail) => ` ${JSON.stringify(detail)}`).join('')})`
    },
  }))

/** What is there to be chosen from would seldom be there if chance alone decided. */
function isPossible({ takesExport, operation, index }: PlannedDeed, account: Account | undefined): boolean {
  if (takesExport === true) return account?.exported !== undefined
  return index === undefined || !operation.endsWith('Snapshot') || account?.snapshots.size !== 0
}

/** Asks something of the control plane and holds its answer to the model. */
async function control(id: string, planned: PlannedDeed, model: Model, real: Real): Promise<void> {
  const account = model.accounts.get(id)
  if (account === undefined) return
  const deed = settleDeed(planned, account, model)
  const before = new Set(account.keys.keys())
  await carryOut(account, deed, model, real)
  if (!deed.operation.endsWith('Key')) return
  // A key that comes, goes or changes is tried at once.
  const isTried = (key: string) => !account.keys.has(key) || account.keys.get(key)?.id === deed.parameters['key']
  const added = [...account.keys.keys()].find((key) => !before.has(key))
  const key = added ?? [...before].find(isTried)
  if (key !== undefined) await send(readingOf('/domaingroups', key), 1, model, real)
}

/** Does to the account what is asked for, and holds the answer to the model. */
export async function carryOut(account: Account, deed: Deed, model: Model, real: Real): Promise<void> {
  const { operation, parameters, body } = deed
  const expected = perform(account, deed, model)
  const answer = await ask(operation, { ...parameters, account: account.id }, body, real)
  const { success, error, data } = answer.body
  expect({ status: answer.status, code: success ? undefined : error.code, data }, operation).toEqual({
    status: expected.status,
    code: expected.code,
    data: expected.data,
  })
  real.reach(`${operation} ${answer.status} ${success ? '' : error.code}`.trim())
  if (expected.turn !== undefined) real.reach(expected.turn)
  if (!success) return
  expected.learn?.(data)
  if (operation === 'resetAccount' || operation === 'importState') await learnGroups(account, model, real)
  if (data.record === undefined) return
  const now = account.clock(model.now)
  const wanted = records(account, now).find(({ domain }) => domain === data.domain)
  if (wanted !== undefined) holdRecord(data.record, wanted, Math.floor(now / DAY), real.records)
}
