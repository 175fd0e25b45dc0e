import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createAccount } from '../../src/accounts/creation.ts'
import { loadContract } from '../../src/contract/contract.ts'
import type { AccountState } from '../../src/domain/account.ts'
import { PROFILE_NAMES, refreshDay } from '../../src/domain/dmarc.ts'
import { addDomains, deleteDomains } from '../../src/domain/domains.ts'
import type { FixtureDomain } from '../../src/domain/fixture.ts'
import { recordOn } from '../../src/figures/figures.ts'

const contract = await loadContract()
const NOW = Date.parse('2026-01-15T09:00:00Z')
const DAY = 86_400_000
const TODAY = refreshDay(NOW, '00:00')

function accountWith(domains: readonly (string | FixtureDomain)[], seed = 42): AccountState {
  return createAccount({ domains }, { id: 'shop', real: NOW, seed }, contract)
}

function remove(account: AccountState, ...names: string[]): AccountState {
  const removed = deleteDomains(account, names, contract.settings)
  return removed.ok ? removed.state : expect.fail('The removal was refused.')
}

function add(account: AccountState, names: string[], now = NOW): AccountState {
  const added = addDomains(account, names, now, contract.settings)
  return added.ok ? added.state : expect.fail('The addition was refused.')
}

function recordOf(account: AccountState, name: string, day: number) {
  const domain = account.domains.get(name)
  return domain && recordOn(account, domain, day, contract)
}

it('A domain that is removed and added again begins anew, from the seed and its name (seed 6)', () => {
  const fixtureDomain = fc.record({
    name: fc.domain(),
    profile: fc.constantFrom(...PROFILE_NAMES),
    volume: fc.nat(1_000_000),
  })
  fc.assert(
    fc.property(fixtureDomain, fc.nat(1000), fc.nat(200), (domain, seed, days) => {
      const [name, then] = [domain.name, NOW + days * DAY]
      const again = add(remove(accountWith([domain], seed), name), [name], then)
      const fresh = add(accountWith([], seed), [name], then)
      expect(again.domains.get(name)).toEqual(fresh.domains.get(name))
      expect(recordOf(again, name, TODAY + days + 40)).toEqual(recordOf(fresh, name, TODAY + days + 40))
    }),
    { seed: 6, numRuns: 40 },
  )
})
