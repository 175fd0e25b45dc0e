import type { AccountState, ApiKey, MonitoredDomain } from '../../src/domain/account.ts'
import { accept, type Decision, refuse } from '../../src/domain/errors.ts'
import { type Counters, NO_COUNTERS } from '../../src/domain/quotas.ts'
import { type AccountRecord, decodeAccount } from '../../src/store/record.ts'
import type { Store } from '../../src/store/store.ts'

/** The settings that stores need. */
export const SETTINGS = { nameComparison: 'unicode' } as const

function exampleRecord(id: string, hashes: readonly string[] = []): AccountRecord {
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
    return accept({ ...state, domains: state.domains.set(name, { name, addedAt: 0, features: [] }) }, name)
  }
}

/** A decision that gives the account exactly these keys. */
export function holdKeys(...hashes: string[]): (state: AccountState) => Decision<AccountState, undefined> {
  return (state) => accept({ ...state, keys: hashes.map((hash) => exampleKey(hash)) }, undefined)
}

/** The account with these domains beside those that it has. */
export function withDomains(state: AccountState, names: readonly string[]): AccountState {
  return {
    ...state,
    domains: state.domains.merge(
      names.map((name): [string, MonitoredDomain] => [name, { name, addedAt: 0, features: [] }]),
    ),
  }
}

/** The names of so many domains. */
export function hosts(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `d${index}.example`)
}

export async function stateOf(store: Store, id = 'acme'): Promise<AccountState> {
  return (await store.read(id)).state
}

export async function domainsOf(store: Store, id = 'acme'): Promise<string[]> {
  return [...(await stateOf(store, id)).domains.keys()]
}

/** The same for a store that answers at once as for one that takes its time. */
export async function applyUpdate<Value>(
  store: Store,
  accountId: string,
  decide: (state: AccountState) => Decision<AccountState, Value>,
): Promise<Decision<AccountState, Value>> {
  return store.update(accountId, decide)
}

/** Puts an earlier account in the place of the present one. The count of requests goes on unless it is given. */
export async function replace(
  store: Store,
  state: AccountState,
  former: Partial<Counters> = NO_COUNTERS,
  incarnation?: number,
): Promise<void> {
  await store.transact(
    state.id,
    ({ counters: { requests } }) => ({ state, counters: { ...NO_COUNTERS, ...former, requests }, value: undefined }),
    incarnation,
  )
}

/** Changes these parts of an account. */
export function change(
  store: Store,
  edit: (state: AccountState) => Partial<AccountState>,
  id = 'acme',
): Promise<Decision<AccountState, undefined>> {
  return applyUpdate(store, id, (state) => accept({ ...state, ...edit(state) }, undefined))
}
