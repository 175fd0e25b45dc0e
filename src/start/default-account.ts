import { establishedKey } from '../accounts/fixture-keys.ts'
import { DEFAULT_ACCOUNT, type Worlds } from '../accounts/worlds.ts'
import { accept } from '../domain/errors.ts'
import { addKey } from '../domain/keys.ts'
import { deriveKey, hasDerivedKey, hashKey, identityOf } from '../ground/secrets.ts'
import { nameInLog } from '../journal/key-shapes.ts'
import type { Store } from '../store/store.ts'
import { StoreError } from '../store/store-error.ts'

/** Sees to it that the `default` account is there and has the key; returns the key where it is known. */
export async function provideDefaultAccount(
  store: Store,
  worlds: Worlds,
  chosen: string | undefined,
): Promise<string | undefined> {
  const id = DEFAULT_ACCOUNT
  const created = (await store.has(id)) ? undefined : await createUnlessThere(store, worlds, chosen)
  const account = created?.account ?? (await store.read(id))
  const key = chosen ?? created?.apiKey ?? deriveKey(account.seed, id)
  const known = account.keys.some(({ hash }) => hash === hashKey(key))
  if (known || chosen === undefined) return known ? key : undefined
  const added = establishedKey(identityOf(chosen), worlds.now(account))
  await store.update(id, (state) => accept(addKey(state, added), undefined))
  return chosen
}

/** The account, unless another server that shares the store has created it in the same moment. */
async function createUnlessThere(store: Store, worlds: Worlds, apiKey: string | undefined) {
  try {
    return await worlds.create({ id: DEFAULT_ACCOUNT, apiKey })
  } catch (error) {
    // Otherwise it is the key that another account has.
    if (error instanceof StoreError && error.problem === 'taken' && (await store.has(DEFAULT_ACCOUNT))) return undefined
    throw error
  }
}

/** The accounts with a key that an earlier start on a loopback address has derived, as the log names them. */
export async function findExposed(store: Store): Promise<string[]> {
  const exposed: string[] = []
  for (const id of await store.list()) {
    if (hasDerivedKey(await store.read(id))) exposed.push(nameInLog(id))
  }
  return exposed
}
