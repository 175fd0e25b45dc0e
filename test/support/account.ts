import type { AccountState } from '../../src/domain/account.ts'
import { accept } from '../../src/domain/errors.ts'
import type { Fixture } from '../../src/domain/fixture.ts'
import { hashKey } from '../../src/ground/secrets.ts'
import { type AccountRecord, encodeAccount } from '../../src/store/record.ts'
import { START, type TestService } from './service.ts'

export const HOUR = 3_600_000
export const DAY = 24 * HOUR
/** A key beside that of every account, and one that was switched off. */
export const SECOND_KEY = 'key_TestKey2.000000000000000000000000000000000000000000000000'
export const DISABLED_KEY = 'key_TestKey3.000000000000000000000000000000000000000000000000'

/** An account with something of everything. */
export const ACCOUNT: Fixture = {
  keys: [{ key: SECOND_KEY }, { key: DISABLED_KEY, disabled: true }],
  domains: [
    'one.example',
    'two.example',
    'three.example',
    { name: 'busy.example', features: ['mta-sts', 'tls-rpt'] },
    { name: 'used.example', features: ['mta-sts'] },
  ],
  groups: [
    { id: 'Mktg0001', name: 'Marketing', domains: ['one.example', 'used.example'] },
    { id: 'Sale0001', name: 'Sales' },
  ],
}

export async function stateOf({ store }: TestService): Promise<AccountRecord> {
  return encodeAccount((await store.read('default')).state)
}

export async function idOf(service: TestService, name: string): Promise<string> {
  const group = (await stateOf(service)).groups.find((each) => each.name === name)
  if (group === undefined) throw new Error(`There is no group ${name}.`)
  return group.id
}

export async function changeAccount(
  { store }: TestService,
  change: (state: AccountState) => AccountState,
): Promise<void> {
  await store.update('default', (state) => accept(change(state), undefined))
}

export function disableKey(service: TestService, secret: string): Promise<void> {
  const hash = hashKey(secret)
  return changeAccount(service, (state) => ({
    ...state,
    keys: state.keys.map((key) => (key.hash === hash ? { ...key, disabled: true } : key)),
  }))
}

export function deleteKey(service: TestService, secret: string): Promise<void> {
  const hash = hashKey(secret)
  return changeAccount(service, (state) => ({ ...state, keys: state.keys.filter((key) => key.hash !== hash) }))
}

/** The header of a request that another key of the account makes. */
export function withKey(secret: string): Record<string, string> {
  return { authorization: `Bearer ${secret}` }
}

/** How an instant is written in a fixture that is `milliseconds` from the start of the test. */
export function instant(milliseconds: number): string {
  return new Date(START + milliseconds).toISOString()
}
