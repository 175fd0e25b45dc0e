import type { AccountOrigin } from '../domain/account.ts'
import type { FixtureKey } from '../domain/fixture.ts'
import type { ApiKey } from '../domain/keys.ts'
import { hashKey, identify, identityOf } from '../ground/secrets.ts'
import { errorIn, KEYS_PER_ACCOUNT, type LoadedFixture, readMoment, TooManyKeysError } from './fixture.ts'

/** How long before its account a key was created, unless the fixture says otherwise. */
const KEY_AGE = 'P30D'

/** A key that comes with an account: old enough to have left its grace period. `now` in milliseconds. */
export function establishedKey(identity: AccountOrigin['key'], now: number): ApiKey {
  return { ...identity, createdAt: readMoment(KEY_AGE, now), disabled: false }
}

/**
 * The keys of a new account: its own, and those of the fixture. `now` is when the account is created, in milliseconds.
 * @throws FixtureError when the fixture has a key twice, or when there are too many.
 */
export function createKeys(fixture: LoadedFixture, own: AccountOrigin['key'], now: number): ApiKey[] {
  const keys = new Map<string, ApiKey>()
  for (const [index, entry] of (fixture.keys ?? []).entries()) {
    const { label, disabled = false, created_at = KEY_AGE } = entry
    // No header can contain a line break, so nobody can present a key that has no secret of its own.
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
  if (keys.size >= KEYS_PER_ACCOUNT) throw new TooManyKeysError(fixture, keys.size + 1)
  return [establishedKey(own, now), ...keys.values()]
}

/** The keys of a fixture that are given with their secrets. */
export function secretsOf(fixture: LoadedFixture | undefined): string[] {
  return (fixture?.keys ?? []).flatMap(({ key }) => key ?? [])
}

/** The same key, known by its hash only. */
export function withoutSecret({ key, ...rest }: FixtureKey): FixtureKey {
  return key === undefined ? rest : { ...rest, ...identityOf(key) }
}
