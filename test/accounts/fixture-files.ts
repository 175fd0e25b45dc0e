import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AccountParameters, createAccount } from '../../src/accounts/creation.ts'
import { loadFixture } from '../../src/accounts/fixture.ts'
import { loadContract } from '../../src/contract/contract.ts'
import type { AccountState } from '../../src/domain/account.ts'
import type { Fixture } from '../../src/domain/fixture.ts'
import { API_KEY, START } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

export const rules = await loadContract()

export const birth: AccountParameters = { id: 'default', seed: 42, real: START, apiKey: API_KEY }

export async function accountOf(
  fixture: string | Fixture,
  more: Partial<AccountParameters> = {},
): Promise<AccountState> {
  return createAccount(await loadFixture(fixture), { ...birth, ...more }, rules)
}

export function fileWith(text: string): string {
  const path = join(temporaryFolder(), 'shop.json')
  writeFileSync(path, text)
  return path
}

export const NOON = '2026-01-15T12:00:00Z'

/** What the items of a list have at least. */
const NAMED = { name: 'a.example' }
const LEAST: Readonly<Record<string, object>> = {
  ...{ domains: NAMED, groups: { name: 'X' } },
  scenes: { title: 'T', text: 'T' },
}

/** A fixture with the value at a pointer, such as `/domains/1/name`: in the last item of a list, with nothing beside it. */
export function fixtureWith(pointer: string, value: unknown): Record<string, unknown> {
  const [, list = '', index, field = '', ...deeper] = pointer.split('/')
  if (index === undefined) return { [list]: value }
  if (!/^\d$/.test(index)) return { [list]: list === 'clock' ? { now: NOON, [index]: value } : value }
  const least = LEAST[list] ?? {}
  const before = Array.from({ length: Number(index) }, (_, place) => ({ ...least, name: `${place}.example` }))
  const inner = deeper.reduceRight((inside, name) => (name === '0' ? [inside] : { [name]: inside }), value)
  return {
    [list]: [
      ...(list === 'keys' ? before.map(() => ({})) : before),
      field === '' ? value : { ...least, [field]: inner },
    ],
  }
}
