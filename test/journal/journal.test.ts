import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DomainGroup } from '../../src/domain/account.ts'
import type { FaultRule } from '../../src/domain/faults.ts'
import { Journal } from '../../src/journal/journal.ts'
import { heapInUse } from '../load/memory.ts'
import { entry } from '../support/entry.ts'

const MIB = 2 ** 20

describe('A journal', () => {
  it('takes the room that it needs from the accounts that have most, so a quiet one loses nothing to a busy one', () => {
    const journal = new Journal({ total: 100_000 })
    for (let index = 0; index < 10; index++) journal.record(entry({ account: 'quiet' }))
    for (let index = 0; index < 1_000; index++) journal.record(entry({ account: 'busy' }))
    expect(journal.list('quiet')).toHaveLength(10)
    expect(journal.list('busy').length).toBeGreaterThan(40)
    expect(journal.list('busy').at(-1)?.ordinal).toBe(1_010)
    expect(journal.weight).toBeLessThanOrEqual(100_000)
  })

  it('divides its room when all accounts are busy', () => {
    const journal = new Journal({ total: 1_000_000 })
    const accounts = Array.from({ length: 20 }, (_, index) => `account-${index}`)
    for (let round = 0; round < 500; round++) for (const account of accounts) journal.record(entry({ account }))
    const kept = accounts.map((account) => journal.list(account).length)
    expect(Math.min(...kept)).toBeGreaterThan(0.7 * Math.max(...kept))
  })

  it('says once that it forgets, and counts what it has forgotten', () => {
    let notes = 0
    const journal = new Journal({ total: 100_000 }, () => notes++)
    for (let index = 0; index < 1_000; index++) journal.record(entry({}))
    expect(notes).toBe(1)
    expect(journal.forgotten).toBe(1_000 - journal.list().length)
  })

  it('keeps the newest entry in order, however it was thinned and however many it may keep (seed 7)', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', undefined), fc.integer({ min: 0, max: 3_000 })), {
          maxLength: 200,
        }),
        (entries, exchanges) => {
          const journal = new Journal({ entries, total: 20_000 })
          for (const [account, length] of exchanges) {
            const body = { held: Buffer.alloc(length), size: length }
            const { ordinal } = journal.record(entry({ account, body }))
            const all = journal.list()
            expect(all.at(-1)?.ordinal).toBe(ordinal)
            const ordinals = all.map((each) => each.ordinal)
            expect(ordinals).toEqual(ordinals.toSorted((one, other) => one - other))
            expect(journal.weight).toBe(all.reduce((sum, { weight }) => sum + weight, 0))
            expect(journal.weight).toBeLessThanOrEqual(20_000)
          }
        },
      ),
      { seed: 7 },
    )
  })

  it('weighs what only its entries keep in memory: a group, and a rule with its response', () => {
    const groupOf = (index: number): DomainGroup => ({
      id: `${index}`,
      name: 'Large',
      domains: Array.from({ length: 10_000 }, () => 'a.example'),
    })
    const ruleOf = (index: number): FaultRule => ({ respond: { status: 500, body: `${index}`.padEnd(60_000, 'x') } })
    const limit = 20
    const before = heapInUse()
    const journal = new Journal({ total: limit * MIB })
    for (let index = 0; index < 1_000; index++) {
      const injection = { source: 'rule', id: 'fault_1', rule: ruleOf(index), effect: undefined } as const
      journal.record(entry(index % 2 === 0 ? { group: groupOf(index) } : { injection }))
    }
    expect(heapInUse() - before).toBeLessThan(limit)
    expect(journal.list().length).toBeGreaterThan(50)
    expect(journal.list().length).toBeLessThan(500)
  })

  it('weighs a group once that many entries share, also after the first of them is gone', () => {
    const group: DomainGroup = { id: 'g', name: 'Large', domains: Array.from({ length: 10_000 }, () => 'a.example') }
    const journal = new Journal({ entries: 10 })
    for (let index = 0; index < 25; index++) journal.record(entry({ group }))
    const alone = new Journal()
    for (let index = 0; index < 9; index++) alone.record(entry({}))
    alone.record(entry({ group }))
    expect(journal.weight).toBe(alone.weight)
  })
})
