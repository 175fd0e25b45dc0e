import { describe, expect, it } from 'vitest'
import { shareUnderstudy } from '../../src/node-test.ts'
import { createTest, test as empty } from '../../src/vitest.ts'

const test = createTest({ now: '2026-01-15T09:00:00Z', frozen: true, plan: 'above-stone' })
const seen = new Set<string>()

describe('the test of vitest', () => {
  for (const name of ['a test', 'another test']) {
    test(`gives ${name} an account of its own, like the stand-in`, async ({ account, understudy }) => {
      expect(seen).not.toContain(account.id)
      seen.add(account.id)
      expect(await account.read()).toMatchObject({ domains: 0, plan: 'above-stone', now: '2026-01-15T09:00:00Z' })
      expect((await understudy.listAccounts()).map(({ id }) => id).toSorted()).toEqual([account.id, 'default'])
    })
  }

  test('lets a test delete its account itself', async ({ account }) => {
    await account.delete()
  })

  empty('has accounts that are empty when nothing is said', async ({ account }) => {
    expect(await account.read()).toMatchObject({ domains: 0, groups: 0, plan: 'stone' })
  })

  describe('with options for the accounts of a suite', () => {
    test.override({ accountOptions: { id: 'shop', fixture: { domains: ['a.example'] }, seed: 7 } })

    test('makes them so', async ({ account }) => {
      expect(await account.read()).toMatchObject({ id: 'shop', domains: 1, seed: 7, plan: 'above-stone' })
    })

    test('makes them so for each test anew', async ({ account }) => {
      expect(account.id).toBe('shop')
      expect(await account.requests.list()).toEqual([])
    })
  })

  const extended = test.extend('accountOptions', { plan: 'below-stone' })

  extended('is extended with other options', async ({ account }) => {
    expect(await account.read()).toMatchObject({ plan: 'below-stone' })
  })
})

describe('an option of the tests', () => {
  it.each<[what: string, make: (options: object) => unknown]>([
    ['createTest', createTest],
    ['shareUnderstudy', shareUnderstudy],
  ])('is refused by %s where it is misspelt, or is neither true nor false', (_, make) => {
    expect(() => make({ failOnViolations: true })).toThrow(
      'failOnViolations true: is no option; did you mean failOnViolation?',
    )
    expect(() => make({ failOnViolation: 'yes' })).toThrow('failOnViolation "yes": must be true or false.')
    expect(() => make({ fixtures: 'demo' })).toThrow('is no option; did you mean fixture?')
  })
})
