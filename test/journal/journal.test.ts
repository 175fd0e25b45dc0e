import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PAST, type Past } from '../../src/journal/entry.ts'
import { Journal } from '../../src/journal/journal.ts'
import { entry } from '../support/entry.ts'

const account = fc.constantFrom(undefined, 'a', 'b', 'c')
const ordinals = (entries: Iterable<{ ordinal: number }>) => [...entries].map(({ ordinal }) => ordinal)

/** A journal with so many exchanges. */
function record(journal: Journal, count: number, chosen: (index: number) => Parameters<typeof entry>[0] = () => ({})) {
  for (let index = 0; index < count; index++) journal.record(entry(chosen(index)))
  return journal
}

describe('A journal', () => {
  it('takes the room that it needs from the accounts that have most, so a quiet one loses nothing to a busy one', () => {
    const journal = new Journal({ total: 100_000 })
    record(journal, 10, () => ({ account: 'quiet' }))
    record(journal, 1_000, () => ({ account: 'busy' }))
    expect(journal.oldestFirst('quiet').length).toBe(10)
    expect(journal.oldestFirst('busy').length).toBeGreaterThan(40)
    expect(journal.newestFirst('busy')[0]?.ordinal).toBe(1_010)
  })

  it('never has more bytes than its limit, but for the newest exchange, and tells once that it forgets', () => {
    let told = 0
    const journal = new Journal({ total: 50_000 }, () => told++)
    record(journal, 500, (index) => ({ account: `${index}` }))
    expect(journal.bytes).toBeLessThanOrEqual(50_000)
    expect(journal.oldestFirst().length).toBeGreaterThan(30)
    const text = 'x'.repeat(60_000)
    const large = journal.record(entry({ account: 'large', body: { text, size: text.length } }))
    expect([journal.oldestFirst().length, journal.has(large), told]).toEqual([1, true, 1])
    journal.clear('large')
    expect(journal.bytes).toBe(0)
  })

  it('gives the next ordinal, and keeps one that a shared store has given', () => {
    const journal = record(new Journal(), 2)
    expect(journal.record({ ...entry({}), ordinal: 10 }).ordinal).toBe(10)
    expect(journal.record(entry({})).ordinal).toBe(11)
    expect([journal.recorded, journal.oldestFirst().length]).toEqual([11, 4])
  })

  it('drops the states of all but the newest entries of each account', () => {
    const past = { account: {}, counters: {} } as Past
    const journal = record(new Journal(), 6, (index) => ({ account: index < 4 ? 'a' : 'b', [PAST]: past }))
    journal.dropPasts(2)
    expect(journal.oldestFirst().map((each) => each[PAST] !== undefined)).toEqual([
      false,
      false,
      true,
      true,
      true,
      true,
    ])
  })

  it('has entries that mean the same after they were written as JSON, without what stays in the process', () => {
    const past = { account: {}, counters: {} } as Past
    const { [PAST]: _, ...others } = new Journal().record(entry({ body: { text: '{}', size: 2 }, [PAST]: past }))
    expect(JSON.parse(JSON.stringify({ ...others, [PAST]: past }))).toEqual(others)
  })
})

describe('The entries of a journal', () => {
  it('are gone through in both directions from any place, those of all accounts and those of one', () => {
    fc.assert(
      fc.property(
        fc.array(account, { maxLength: 60 }),
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 0, max: 70 }),
        (accounts, limit, place) => {
          const journal = new Journal({ entries: limit })
          for (const each of accounts) journal.record(entry({ account: each }))
          const all = accounts.map((each, index) => ({ account: each, ordinal: index + 1 }))
          const kept = all.filter(
            (entry) =>
              all.filter((each) => each.account === entry.account && each.ordinal > entry.ordinal).length < limit,
          )
          for (const chosen of [undefined, 'a']) {
            const own = kept.filter((one) => chosen === undefined || one.account === chosen)
            expect(ordinals(journal.newestFirst(chosen))).toEqual(ordinals(own).reverse())
            const after = own.filter(({ ordinal }) => ordinal > place)
            expect(ordinals(journal.oldestFirst(chosen, place))).toEqual(ordinals(after))
          }
        },
      ),
      { seed: 7 },
    )
  })

  it('are found by their request id, the newest first, whose ever it is', () => {
    const journal = new Journal()
    for (const each of ['a', 'b', 'a', undefined]) journal.record(entry({ account: each, requestId: 'same' }))
    journal.record(entry({ account: 'b', requestId: 'other' }))
    expect(journal.find('same')?.ordinal).toBe(4)
    journal.clear(undefined)
    expect(journal.find('same')?.ordinal).toBe(3)
    expect(journal.find('none')).toBeUndefined()
  })
})
