import { establishedKey } from '../accounts/fixture.ts'
import { DEFAULT_ACCOUNT, type Worlds } from '../accounts/worlds.ts'
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

/** How many accounts are searched: each one of a store in another process costs a step of that store. */
const SEARCHED = 1_000

/** The accounts with a key that an earlier start on a loopback address has derived, as the log names them. */
export async function findExposed(store: Store): Promise<string[]> {
  const exposed: string[] = []
  for (const id of (await store.list()).slice(0, SEARCHED)) {
    // Another server may have deleted the account meanwhile.
    const { state } = (await store.read(id).catch(unlessUnknown)) ?? {}
    if (state !== undefined && hasDerivedKey(state)) exposed.push(nameInLog(id))
  }
  return exposed
}

function unlessUnknown(error: unknown): undefined {
  if (!(error instanceof StoreError) || error.problem !== 'unknown-account') throw error
}
