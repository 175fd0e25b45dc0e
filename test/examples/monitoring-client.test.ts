// How a client is tested with the stand-in. In a project of your own the imports are `dmarc-understudy` and
// `dmarc-understudy/vitest`, and the client is yours.
import { describe, expect } from 'vitest'
import type { Account } from '../../src/index.ts'
import { createTest } from '../../src/vitest.mts'
import { CarefulClient, HastyClient, MonitoringClient } from './monitoring-client.ts'

// One stand-in for all tests; each of them has an account of its own, which begins like this.
const test = createTest({
  fixture: { domains: ['fjordlight.example', 'shop.fjordlight.example'] },
  now: '2026-01-15T09:30:00Z',
  frozen: true,
})

/** What a client is configured with. Where it would wait, time passes in its account instead. */
function optionsFor(account: Account) {
  return {
    baseUrl: account.baseUrl,
    apiKey: account.apiKey ?? '',
    sleep: (milliseconds: number) => account.clock.advance({ seconds: Math.ceil(milliseconds / 1000) }),
  }
}

// Whatever a test was about: no request may have violated the contract.
test.afterEach(async ({ account }) => {
  expect(await account.requests.list({ violation: true })).toEqual([])
})

describe('a client', () => {
  test('adds domains and groups them', async ({ account }) => {
    const client = new MonitoringClient(optionsFor(account))
    await client.addDomains(['news.fjordlight.example'])
    const group = await client.createGroup('Newsletter', ['news.fjordlight.example'])
    expect(await client.groups()).toEqual([group])
    expect(await client.domains()).toContain('news.fjordlight.example')
  })

  test('waits until its quota is full again', async ({ account }) => {
    const client = new MonitoringClient(optionsFor(account))
    await account.quotas.set('domains', 1)
    await client.domains()
    await client.domains()
    const statuses = (await account.requests.list({ operation: 'listDomains' })).map(({ status }) => status)
    expect(statuses).toEqual([200, 429, 200])
    expect(await account.clock.now()).toBe('2026-01-15T10:00:00Z')
  })
})

describe('when the answer to a created group is lost', () => {
  const LOST = { match: { operation: 'createDomainGroup' }, phase: 'after', connection: 'reset', times: 1 } as const

  test('a hasty client fails, although the group is there', async ({ account }) => {
    await account.faults.add(LOST)
    const client = new HastyClient(optionsFor(account))
    await expect(client.createGroup('Newsletter')).rejects.toMatchObject({ code: 'duplicate_name' })
    expect(await client.groups()).toHaveLength(1)
  })

  test('a careful client looks before it creates again', async ({ account }) => {
    await account.faults.add(LOST)
    const client = new CarefulClient(optionsFor(account))
    const group = await client.createGroup('Newsletter')
    expect(await client.groups()).toEqual([group])
    expect(await account.requests.verify({ operation: 'createDomainGroup' }, { count: 1 })).toMatchObject({
      passed: true,
    })
  })

  test('a careful client creates it when the request itself was lost', async ({ account }) => {
    await account.faults.add({ ...LOST, phase: 'before' })
    const client = new CarefulClient(optionsFor(account))
    expect(await client.createGroup('Newsletter')).toMatchObject({ name: 'Newsletter' })
    expect(await account.requests.verify({ operation: 'createDomainGroup' }, { count: 2 })).toMatchObject({
      passed: true,
    })
  })
})

describe('the figures', () => {
  test('are what a test needs them to be', async ({ account }) => {
    await account.domains.pin('shop.fjordlight.example', { p: 'none', dmarc: 12.5, count: 90_000 })
    const rows = await new MonitoringClient(optionsFor(account)).dmarc()
    const suspects = rows.filter(({ policy, aligned, messages }) => policy === 'none' && aligned < 50 && messages > 0)
    expect(suspects.map(({ domain }) => domain)).toEqual(['shop.fjordlight.example'])
  })
})

describe('a tolerant client', () => {
  // Each seed changes other things: fields that are new, values that nobody has seen yet, another order.
  for (const seed of [1, 2, 3, 4, 5]) {
    test(`reads answers that a later version of the service may give (${seed})`, async ({ understudy }) => {
      await using account = await understudy.createAccount({ seed })
      await account.faults.add({ corrupt: 'compatible' })
      const client = new MonitoringClient(optionsFor(account))
      expect((await client.dmarc()).map((row) => Object.keys(row))).toEqual([
        ['domain', 'policy', 'aligned', 'messages'],
        ['domain', 'policy', 'aligned', 'messages'],
      ])
      expect(await client.domains()).toContain('fjordlight.example')
      expect(await account.requests.list({ injected: true })).not.toEqual([])
    })
  }
})

describe('tests that run at once', () => {
  for (const shop of ['Oslo', 'Bergen', 'Tromsø']) {
    test.concurrent(`have accounts that never meet: ${shop}`, async ({ account, expect }) => {
      const client = new MonitoringClient(optionsFor(account))
      // The same name would be a duplicate in one account.
      await client.createGroup('Shops', ['shop.fjordlight.example'])
      await client.addDomains([`${shop.length}.fjordlight.example`])
      expect(await client.groups()).toHaveLength(1)
      expect(await client.domains()).toHaveLength(3)
      expect(await account.requests.list()).toHaveLength(4)
    })
  }
})
