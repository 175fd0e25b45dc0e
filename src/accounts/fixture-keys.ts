import type { AccountOrigin } from '../domain/account.ts'
import type { FixtureKey } from '../domain/fixture.ts'
import type { ApiKey } from '../domain/keys.ts'
import { LIMITS } from '../domain/limits.ts'
import { hashKey, identify, identityOf } from '../ground/secrets.ts'
import { errorIn, type LoadedFixture, readMoment, TooManyKeysError } from './fixture.ts'

/** The age of a key when its account is created, if the fixture does not give another. */
const KEY_AGE = 'P30D'

/** A key that is created with its account. It is old enough to be past its grace period. `now` is in milliseconds. */
export function establishedKey({ id, hash }: AccountOrigin['key'], now: number): ApiKey {
  // A copy of all properties would make a shape of its own in the engine for each key: 300 bytes.
  return { id, hash, createdAt: readMoment(KEY_AGE, now), disabled: false }
}

/** The keys of a new account, created at `now`: its own and those of the fixture. @throws FixtureError */
export function createKeys(fixture: LoadedFixture, own: AccountOrigin['key'], now: number): ApiKey[] {
  const keys = new Map<string, ApiKey>()
  for (const [index, entry] of (fixture.keys ?? []).entries()) {
    const { label, disabled = false, created_at = KEY_AGE } = entry
    // A key without a given secret gets one with a line break. An HTTP header cannot contain it, so no client can use
    // it.
    const { id, hash } = entry.key === undefined ? entry : identityOf(entry.key)
    const key = {
      ...identify(hash ?? hashKey(`${own.hash}\n${index}`), id),
      createdAt: readMoment(created_at, now),
      disabled,
      ...(label !== undefined && { label }),
    }
    if (keys.has(key.hash)) throw errorIn(fixture, `/keys/${index}/key`, 'The key is the same as one before it.')
    keys.set(key.hash, key)
  }
  keys.delete(own.hash)
  if (keys.size >= LIMITS.keys) throw new TooManyKeysError(fixture, keys.size + 1)
  return [establishedKey(own, now), ...keys.values()]
}

/** The secrets of the fixture's keys, as far as the fixture contains them. */
export function secretsOf(fixture: LoadedFixture | undefined): string[] {
  return (fixture?.keys ?? []).flatMap(({ key }) => key ?? [])
}

/** The same key, identified only by its hash. */
export function withoutSecret({ key, ...rest }: FixtureKey): FixtureKey {
  return key === undefined ? rest : { ...rest, ...identityOf(key) }
}
