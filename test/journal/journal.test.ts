import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
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
    expect(journal.size('quiet')).toBe(10)
    expect(journal.size('busy')).toBeGreaterThan(40)
    expect(journal.newestFirst('busy').next().value?.ordinal).toBe(1_010)
  })

  it('tells of a restart as long as somebody listens', () => {
    const journal = record(new Journal(), 2)
    const sizes: number[] = []
    const leave = journal.listenRestart(() => sizes.push(journal.size()))
    journal.restart()
    leave()
    journal.restart()
    expect(sizes).toEqual([0])
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
            expect(journal.size(chosen)).toBe(own.length)
            expect(ordinals(journal.newestFirst(chosen))).toEqual(ordinals(own).reverse())
            const before = own.filter(({ ordinal }) => ordinal < place)
            expect(ordinals(journal.newestFirst(chosen, place))).toEqual(ordinals(before).reverse())
            const after = own.filter(({ ordinal }) => ordinal > place)
            expect(ordinals(journal.oldestFirst(chosen, place))).toEqual(ordinals(after))
          }
        },
      ),
      { seed: 7 },
    )
  })

  it('are left out if they are dropped while somebody goes through them, and those that come follow', () => {
    const journal = record(new Journal({ entries: 4 }), 4, () => ({ account: 'a' }))
    const [back, forth] = [journal.newestFirst('a'), journal.oldestFirst('a')]
    expect([back.next().value?.ordinal, forth.next().value?.ordinal]).toEqual([4, 1])
    record(journal, 3, () => ({ account: 'a' }))
    expect(ordinals(back)).toEqual([])
    expect(ordinals(forth)).toEqual([4, 5, 6, 7])
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
