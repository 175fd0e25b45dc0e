import type { AccountState } from '../../src/domain/account.ts'
import { accept, type Decision, refuse } from '../../src/domain/errors.ts'
import type { ApiKey } from '../../src/domain/keys.ts'
import { type AccountRecord, decodeAccount } from '../../src/store/record.ts'
import type { Store } from '../../src/store/store.ts'

/** The settings that stores need. */
export const SETTINGS = { nameComparison: 'unicode' } as const

export function exampleRecord(id: string, hashes: readonly string[] = []): AccountRecord {
  return {
    id,
    plan: 'stone',
    seed: 42,
    origin: { fixture: 'empty', key: { id: 'key_0', hash: 'k0' } },
    createdAt: 0,
    clock: { offset: 0 },
    keys: hashes.map((hash) => exampleKey(hash)),
    domains: [],
    groups: [],
    groupsCreated: 0,
    keysCreated: 0,
    faults: [],
    faultsCreated: 0,
  }
}

export function exampleAccount(id: string, hashes: readonly string[] = []): AccountState {
  return decodeAccount(exampleRecord(id, hashes), SETTINGS)
}

function exampleKey(hash: string): ApiKey {
  return { id: `key with hash ${hash}`, hash, createdAt: 0, disabled: false }
}

/** A decision that monitors one more domain. */
export function watch(name: string): (state: AccountState) => Decision<AccountState, string> {
  return (state) => {
    if (state.domains.has(name)) return refuse({ code: 'invalid_domain' })
    return accept({ ...state, domains: state.domains.with([[name, { name, addedAt: 0, features: [] }]]) }, name)
  }
}

/** A decision that gives the account exactly these keys. */
export function holdKeys(...hashes: string[]): (state: AccountState) => Decision<AccountState, undefined> {
  return (state) => accept({ ...state, keys: hashes.map((hash) => exampleKey(hash)) }, undefined)
}

/** The same for a store that answers at once as for one that takes its time. */
export async function applyUpdate<Value>(
  store: Store,
  accountId: string,
  decide: (state: AccountState) => Decision<AccountState, Value>,
): Promise<Decision<AccountState, Value>> {
  return store.update(accountId, decide)
}
