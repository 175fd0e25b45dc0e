import { createAccount } from '../accounts/creation.ts'
import { exportFixture } from '../accounts/export.ts'
import { type LoadedFixture, loadFixture } from '../accounts/fixture.ts'
import { secretsOf } from '../accounts/fixture-keys.ts'
import type { AccountState } from '../domain/account.ts'
import { timeOn } from '../domain/clock.ts'
import { accept, type Decision } from '../domain/errors.ts'
import type { Fixture } from '../domain/fixture.ts'
import type { ApiKey } from '../domain/keys.ts'
import { hashKey } from '../ground/secrets.ts'
import { reportAccount } from './accounts.ts'
import type { AdminCode } from './codes.ts'
import { type AccountCall, type AccountHandler, done } from './handler.ts'
import { taken, tooMany } from './refusals.ts'

export const exportState: AccountHandler = ({ account, now, contract }) => {
  return done(exportFixture(account, now, contract.settings.refresh))
}

export const importState: AccountHandler = async (call) => {
  const fixture = await loadFixture(call.body as Fixture)
  const decision = await call.store.update(call.account.id, (account) => importFixture(call, fixture, account))
  if (!decision.ok) return decision
  await call.worlds.noteKeys(call.account.id, secretsOf(fixture))
  return done({ account: reportAccount(call, decision.state) })
}

function importFixture(
  { contract, clock, limits }: AccountCall,
  fixture: LoadedFixture,
  account: AccountState,
): Decision<AccountState, undefined, AdminCode> {
  const parameters = {
    id: account.id,
    real: clock(),
    apiKey: account.origin.key,
    plan: fixture.plan ?? account.plan,
    seed: fixture.seed ?? account.seed,
    now: fixture.clock?.now ?? new Date(timeOn(account.clock, clock())).toISOString(),
    frozen: fixture.clock?.frozen ?? 'frozenAt' in account.clock,
  }
  const imported = createAccount(fixture, parameters, contract)
  const usable = new Set((fixture.keys ?? []).map(({ key, hash }) => (key === undefined ? hash : hashKey(key))))
  const known = new Set(account.keys.map(({ hash }) => hash))
  const added = imported.keys.filter(({ hash }) => usable.has(hash) && !known.has(hash))
  const keys = added.length === 0 ? account.keys : [...account.keys, ...added]
  if (keys.length > Math.max(limits.keysPerAccount, account.keys.length)) return tooMany(limits.keysPerAccount, 'keys')
  const namesake = findNamesake(keys)
  if (namesake) return taken('a key', namesake.id)
  const { origin, createdAt, keysCreated, faults, faultsCreated } = account
  const unchanged = { origin, createdAt, keysCreated, faults, faultsCreated }
  const next = fixture.clock === undefined ? account.clock : imported.clock
  return accept({ ...imported, ...unchanged, keys, clock: next }, undefined)
}

/** The first key that has the id of a key before it. */
function findNamesake(keys: readonly ApiKey[]): ApiKey | undefined {
  const ids = new Set<string>()
  return keys.find(({ id }) => ids.size === ids.add(id).size)
}
