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
