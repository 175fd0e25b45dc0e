import { describe, expect, it } from 'vitest'
import { shareUnderstudy } from '../../src/node-test.ts'
import { createTest, test as empty } from '../../src/vitest.mts'

const test = createTest({ now: '2026-01-15T09:00:00Z', frozen: true, plan: 'above-stone' })
const seen = new Set<string>()

describe('The test of vitest', () => {
  for (const name of ['a test', 'another test']) {
    test(`gives ${name} an account of its own, like the stand-in, which is gone after it`, async ({
      account,
      understudy,
    }) => {
      expect(seen).not.toContain(account.id)
      seen.add(account.id)
      expect(await account.read()).toMatchObject({ domains: 0, plan: 'above-stone', now: '2026-01-15T09:00:00Z' })
      expect((await understudy.listAccounts()).map(({ id }) => id).toSorted()).toEqual([account.id, 'default'])
    })
  }

  test('lets a test delete its account itself', ({ account }) => account.delete())

  empty('has accounts that are empty when nothing is said', async ({ account }) => {
    expect(await account.read()).toMatchObject({ domains: 0, groups: 0, plan: 'stone' })
  })

  describe('with options for the accounts of a suite', () => {
    test.override({ accountOptions: { id: 'shop', fixture: { domains: ['a.example'] }, seed: 7 } })
    for (const time of ['once', 'and anew for the next test']) {
      test(`makes them so ${time}`, async ({ account }) => {
        expect(await account.read()).toMatchObject({ id: 'shop', domains: 1, seed: 7, plan: 'above-stone' })
        await account.domains.add('b.example')
      })
    }
  })

  test.extend('accountOptions', { plan: 'below-stone' })('is extended with options', async ({ account }) => {
    expect(await account.read()).toMatchObject({ plan: 'below-stone' })
  })
})

it.each([{ make: createTest }, { make: shareUnderstudy }])(
  '$make.name refuses an option that is misspelt or wrong',
  ({ make }) => {
    const options = (given: object) => () => make(given)
    expect(options({ failOnViolations: 1 })).toThrow('failOnViolations 1: is no option; did you mean failOnViolation?')
    expect(options({ failOnViolation: 'yes' })).toThrow('failOnViolation "yes": must be true or false.')
    expect(options({ fixtures: 'demo' })).toThrow('is no option; did you mean fixture?')
  },
)
