import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAccount } from '../../src/accounts/creation.ts'
import { fixtureExport } from '../../src/accounts/export.ts'
import { loadContract } from '../../src/contract/contract.ts'
import type { AccountState } from '../../src/domain/account.ts'
import { refreshDay } from '../../src/domain/dmarc.ts'
import { addDomains, deleteDomains } from '../../src/domain/domains.ts'
import type { FixtureDomain } from '../../src/domain/fixture.ts'
import { PROFILE_NAMES } from '../../src/domain/profile.ts'
import { characterOf } from '../../src/figures/character.ts'
import { recordOn } from '../../src/figures/figures.ts'
import { runAtOnce } from '../../src/ground/work.ts'

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

const tag = fc.constantFrom('none' as const, 'quarantine' as const, 'reject' as const)
const fixtureDomain: fc.Arbitrary<FixtureDomain> = fc.record(
  {
    name: fc.domain(),
    profile: fc.constantFrom(...PROFILE_NAMES),
    since: fc.nat(200).map((days) => `P${days}D`),
    volume: fc.nat(1_000_000),
    policy: fc.record({ p: tag, sp: tag, np: tag }, { requiredKeys: ['p'] }),
  },
  { requiredKeys: ['name'] },
)

describe('a domain that is removed and added again', () => {
  it('keeps profile, policy and volume, whenever that happens (seed 6)', () => {
    fc.assert(
      fc.property(
        fixtureDomain,
        fc.nat(1000),
        fc.array(fc.nat(200), { minLength: 1, maxLength: 4 }),
        (domain, seed, days) => {
          const before = accountWith([domain], seed)
          const after = days.reduce(
            (account, day) => add(remove(account, domain.name), [domain.name], NOW + day * DAY),
            before,
          )
          const [one, other] = [before, after].map((account) => account.domains.get(domain.name))
          if (one === undefined || other === undefined) throw new Error('The domain is not monitored.')
          expect(characterOf(seed, other)).toEqual(characterOf(seed, one))
          // A month after the last addition, not even its mail tells that it was away.
          const later = TODAY + Math.max(...days) + 40
          expect(recordOf(after, domain.name, later)).toEqual(recordOf(before, domain.name, later))
        },
      ),
      { seed: 6, numRuns: 40 },
    )
  })

  it('is what it was, in an account that was exported and imported meanwhile', () => {
    const domain: FixtureDomain = { name: 'a.example', profile: 'spoofed', since: 'P3D', policy: { p: 'quarantine' } }
    const account = accountWith([domain, 'b.example'])
    const fixture = runAtOnce(fixtureExport(remove(account, 'a.example'), NOW, '00:00'))
    expect(fixture.former_domains).toMatchObject([{ name: 'a.example', profile: 'spoofed' }])
    const imported = createAccount(fixture, { id: 'other', real: NOW }, contract)
    const added = add(imported, ['a.example'])
    const day = TODAY + 35
    expect(recordOf(added, 'a.example', day)).toEqual(recordOf(account, 'a.example', day))
    expect(runAtOnce(fixtureExport(added, NOW, '00:00'))).not.toHaveProperty('former_domains')
  })
})
