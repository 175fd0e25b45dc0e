import { beforeAll, describe, expect, it } from 'vitest'
import { createAccount } from '../../src/accounts/creation.ts'
import { loadFixture } from '../../src/accounts/fixture.ts'
import { generateFixture, STORIES, writeFixture } from '../../src/accounts/generator.ts'
import { type Contract, loadContract } from '../../src/contract/contract.ts'
import { refreshDay } from '../../src/domain/dmarc.ts'
import type { Fixture, FixtureDomain } from '../../src/domain/fixture.ts'
import { dmarcRecords } from '../../src/figures/figures.ts'
import { POLICY_SHARES } from '../../src/figures/profiles.ts'

const NOW = '2026-01-15T09:00:00Z'
const BIRTH = { id: 'generated', real: Date.parse(NOW) }
const RESERVED = /\.(example|test|example\.com|example\.net|example\.org)$/

let contract: Contract
beforeAll(async () => {
  contract = await loadContract()
})

function namesOf({ domains = [] }: Fixture): string[] {
  return domains.map((domain) => (typeof domain === 'string' ? domain : domain.name))
}

function recordsOf(fixture: Fixture) {
  return dmarcRecords(
    createAccount(fixture, BIRTH, contract),
    refreshDay(BIRTH.real, contract.settings.refresh),
    contract,
  )
}

const DRAWN = 4_000

describe.each(STORIES)('the story %s', (story) => {
  it.each([
    [0, 0],
    [25, 5],
    [300, 40],
    [300, 900],
  ])('has %i domains below reserved names and %i groups, and makes an account', async (domains, groups) => {
    const fixture = await generateFixture({ domains, groups, seed: 7, story })
    const names = namesOf(fixture)
    expect(new Set(names).size).toBe(domains)
    expect(names.filter((name) => !RESERVED.test(name) || contract.canonicalHostname(name) !== name)).toEqual([])
    const account = createAccount(await loadFixture(fixture), BIRTH, contract)
    expect(account.domains.size).toBe(domains)
    expect(account.groups.size).toBe(groups)
  })

  it('is the same for the same seed and another for another', async () => {
    const make = async (seed: number) => writeFixture(await generateFixture({ domains: 50, groups: 5, seed, story }))
    const [first, again, other] = [await make(1), await make(1), await make(2)]
    expect(again).toBe(first)
    expect(other).not.toBe(first)
  })
})

describe('what is invented', () => {
  it('has hostnames only, whatever people and places are called', async () => {
    const names = namesOf(await generateFixture({ domains: 20_000, groups: 0, seed: 1, story: 'isp' }))
    expect(names.filter((name) => contract.canonicalHostname(name) !== name)).toEqual([])
  })

  it.each(STORIES.slice(0, 1))('for %s has names of whole words, numbers and typos in none', async (story) => {
    const names = namesOf(await generateFixture({ domains: 400, groups: 0, seed: 4, story }))
    expect(names.filter((name) => !/^([a-z]+[.-])+(example|test)$/.test(name))).toEqual([])
  })
})

it('mixes policies and alignment nearly as published (seed 5)', {}, async () => {
  const fixture = await generateFixture({ domains: DRAWN, groups: 0, seed: 5, story: 'isp' })
  const profiles = (fixture.domains as FixtureDomain[]).map(({ profile }) => profile)
  const records = recordsOf(fixture)
  const published = records.filter((_, index) => profiles[index] !== 'no-record')
  const share = (part: number, whole: number) => (part / whole) * 100
  expect(Math.abs(share(records.length - published.length, records.length) - POLICY_SHARES.noRecord)).toBeLessThan(1)
  for (const policy of ['none', 'quarantine', 'reject'] as const) {
    const actual = share(published.filter(({ p }) => p === policy).length, published.length)
    expect(Math.abs(actual - POLICY_SHARES[policy]), `${policy} ${actual}`).toBeLessThan(3)
  }
  const mailing = records.filter(({ count }) => count > 0)
  const bands = [
    [97, 100.1, 62],
    [85, 97, 23],
    [40, 85, 10],
    [0, 40, 5],
  ] as const
  for (const [low, high, expected] of bands) {
    const actual = share(mailing.filter(({ dmarc }) => dmarc >= low && dmarc < high).length, mailing.length)
    expect(Math.abs(actual - expected), `${low} to ${high}: ${actual}`).toBeLessThan(6)
  }
})
