import { establishedKey } from '../accounts/fixture-keys.ts'
import { DEFAULT_ACCOUNT, type Worlds } from '../accounts/worlds.ts'
import type { AccountState } from '../domain/account.ts'
import { accept } from '../domain/errors.ts'
import { addKey } from '../domain/keys.ts'
import { deriveKey, hasDerivedKey, hashKey, identityOf } from '../ground/secrets.ts'
import { nameInLog } from '../journal/redaction/key-shapes.ts'
import type { Store } from '../store/store.ts'
import { StoreError } from '../store/store-error.ts'

/** Ensures that the `default` account exists and has the key; returns the key if it is known. */
export async function provideDefaultAccount(
  store: Store,
  worlds: Worlds,
  chosen: string | undefined,
): Promise<string | undefined> {
  const id = DEFAULT_ACCOUNT
  const created = (await hasDefaultAccount(store)) ? undefined : await createUnlessThere(store, worlds, chosen)
  const account = created?.account ?? (await store.read(id)).state
  const key = chosen ?? created?.apiKey ?? deriveKey(account.seed, id)
  const known = account.keys.some(({ hash }) => hash === hashKey(key))
  if (known || chosen === undefined) return known ? key : undefined
  const added = establishedKey(identityOf(chosen), worlds.now(account))
  await store.update(id, (state) => accept(addKey(state, added), undefined))
  return chosen
}

export async function hasDefaultAccount(store: Store): Promise<boolean> {
  return (await store.find('id', DEFAULT_ACCOUNT)) !== undefined
}

/** The account; `undefined` if another server with the same store has created it at the same moment. */
async function createUnlessThere(store: Store, worlds: Worlds, apiKey: string | undefined) {
  try {
    return await worlds.create({ id: DEFAULT_ACCOUNT, apiKey })
  } catch (error) {
    // If the account does not exist, another account has the key.
    if (error instanceof StoreError && error.problem === 'taken' && (await hasDefaultAccount(store))) return undefined
    throw error
  }
}

/** How many accounts are searched in a store in another process: each account costs a step of that store. */
export const SEARCHED = 1_000
/** How many are read at a time. */
const AT_ONCE = 50

/**
 * The accounts with a key that an earlier start on a loopback address has derived, as the log names them. At most
 * `most` accounts are searched.
 */
export async function findExposed(store: Store, most = Number.POSITIVE_INFINITY): Promise<string[]> {
  const ids = (await store.list()).slice(0, most)
  const exposed: string[] = []
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const accounts = await Promise.all(ids.slice(from, from + AT_ONCE).map((id) => readIfThere(store, id)))
    exposed.push(...accounts.flatMap((account) => (account && hasDerivedKey(account) ? [nameInLog(account.id)] : [])))
  }
  return exposed
}

/** The account; `undefined` if another server has deleted it meanwhile. */
async function readIfThere(store: Store, id: string): Promise<AccountState | undefined> {
  try {
    return (await store.read(id)).state
  } catch (error) {
    if (error instanceof StoreError && error.problem === 'unknown-account') return undefined
    throw error
  }
}
