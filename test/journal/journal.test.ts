import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FaultRule } from '../../src/domain/faults.ts'
import { Journal } from '../../src/journal/journal.ts'
import { ascending } from '../support/at-once.ts'
import { entry, past } from '../support/entry.ts'

const MIB = 2 ** 20

const account = fc.constantFrom(undefined, 'a', 'b', 'c')
const ordinals = (entries: Iterable<{ ordinal: number }>) => [...entries].map(({ ordinal }) => ordinal)
const weightOf = (entries: Iterable<{ weight: number }>) => [...entries].reduce((sum, { weight }) => sum + weight, 0)

/** A journal with so many exchanges. */
function record(journal: Journal, count: number, chosen: (index: number) => Parameters<typeof entry>[0] = () => ({})) {
  for (let index = 0; index < count; index++) journal.record(entry(chosen(index)))
  return journal
}

/** A group that weighs much. */
const largeGroup = (id = 'g') => ({ id, name: 'Large', domains: Array.from({ length: 10_000 }, () => 'a.example') })

describe('A journal', () => {
  it('takes the room that it needs from the accounts that have most, so a quiet one loses nothing to a busy one', () => {
    const journal = new Journal({ total: 100_000 })
    record(journal, 10, () => ({ account: 'quiet' }))
    record(journal, 1_000, () => ({ account: 'busy' }))
    expect(journal.size('quiet')).toBe(10)
    expect(journal.size('busy')).toBeGreaterThan(40)
    expect(journal.newestFirst('busy').next().value?.ordinal).toBe(1_010)
    expect(journal.weight).toBeLessThanOrEqual(100_000)
  })

  it('divides its room when all accounts are busy', () => {
    const journal = new Journal({ total: 1_000_000 })
    const accounts = Array.from({ length: 20 }, (_, index) => `account-${index}`)
    record(journal, 10_000, (index) => ({ account: accounts[index % 20] }))
    const kept = accounts.map((account) => journal.size(account))
    expect(Math.min(...kept)).toBeGreaterThan(0.7 * Math.max(...kept))
  })

  it('says once that it forgets', () => {
    let notes = 0
    record(new Journal({ total: 100_000 }, () => notes++), 1_000)
    expect(notes).toBe(1)
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

  it('keeps header fields once that are the same from request to request', () => {
    const journal = record(new Journal(), 2, () => ({ headers: ['Host', '127.0.0.1'] }))
    const [last, first] = [...journal.newestFirst('default')]
    expect(last?.headers).toBe(first?.headers)
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
            const all = [...journal.oldestFirst()]
            expect(all.at(-1)?.ordinal).toBe(ordinal)
            expect(ordinals(all)).toEqual(ordinals(all).toSorted(ascending))
            expect(journal.weight).toBe(weightOf(all))
            expect(journal.weight).toBeLessThanOrEqual(20_000)
          }
        },
      ),
      { seed: 7 },
    )
  })

  // What other tests have left may grow just meanwhile. Then it is measured again.
  it('weighs what only its entries keep in memory: a group, and a rule with its response', () => {
    const journal = record(new Journal({ total: 2 * MIB }), 100, (index) => {
      if (index % 2 === 0) return { group: largeGroup(`${index}`) }
      const rule: FaultRule = { respond: { status: 500, body: `${index}`.padEnd(60_000, 'x') } }
      return { injection: { source: 'rule', id: 'fault_1', rule, effect: undefined } }
    })
    expect(journal.size()).toBeGreaterThan(5)
    expect(journal.size()).toBeLessThan(50)
  })

  it('weighs a group once that many entries share, also after the first of them is gone', () => {
    const group = largeGroup()
    const journal = record(new Journal({ entries: 10 }), 25, () => ({ group }))
    const alone = record(new Journal(), 10, (index) => (index === 9 ? { group } : {}))
    expect(journal.weight).toBe(alone.weight)
  })
})

describe('The older states that entries keep', () => {
  const pastsOf = (journal: Journal) => [...journal.oldestFirst()].map(({ before }) => before !== undefined)

  it('weigh what the account has left behind since the oldest of them, whoever came late or has none (seed 7)', () => {
    const step = fc.record({ mark: fc.nat(50), grown: fc.nat(30), isPast: fc.boolean(), isRequest: fc.boolean() })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 }), fc.array(step, { maxLength: 60 }), (entries, steps) => {
        const journal = new Journal({ entries })
        const marks: (number | undefined)[] = []
        let outdated = 0
        for (const { mark, grown, isPast, isRequest } of steps) {
          outdated += grown
          if (isRequest) {
            // A request that took long came in when the account had left behind less.
            const found = isPast ? Math.max(0, outdated - mark) : undefined
            journal.record(entry({ before: found === undefined ? undefined : past(found) }), outdated)
            marks.push(found)
          } else journal.noteOutdated('default', outdated)
          const kept = marks.slice(-entries).flatMap((each) => each ?? [])
          const held = kept.length === 0 ? 0 : outdated - Math.min(...kept)
          expect(journal.weight).toBe(weightOf(journal.oldestFirst()) + held)
        }
      }),
      { seed: 7 },
    )
  })

  it('are given up before any request is forgotten, those of the oldest requests first', () => {
    let notes = 0
    const journal = new Journal({ total: 2 * MIB }, () => notes++)
    for (let index = 0; index < 100; index++) {
      journal.record(entry({ before: past(index * 100_000) }), (index + 1) * 100_000)
    }
    const kept = pastsOf(journal)
    expect(kept).toHaveLength(100)
    expect(kept.at(-1)).toBe(true)
    expect(kept.indexOf(true)).toBeGreaterThan(80)
    expect(kept.slice(kept.indexOf(true))).not.toContain(false)
    expect(notes).toBe(0)
    expect(journal.weight).toBeLessThanOrEqual(2 * MIB)
  })

  it('are given up as soon as the account leaves behind more than fits, also by the newest request', () => {
    const journal = new Journal({ total: MIB })
    journal.record(entry({ before: past(0), after: past(0).account }), 0)
    journal.record(entry({ account: 'other', before: past(0) }), 0)
    journal.noteOutdated('default', 10 * MIB)
    expect([...journal.oldestFirst('default')]).toMatchObject([{ before: undefined, after: undefined }])
    expect([...journal.oldestFirst('other')]).toMatchObject([{ before: { mark: 0 } }])
    expect(journal.weight).toBeLessThan(10_000)
    journal.record(entry({ before: past(10 * MIB) }), 10 * MIB)
    expect(pastsOf(journal)).toEqual([false, true, true])
  })

  it('leave their part of the memory to the requests when there are many of those', () => {
    const journal = new Journal({ total: 200_000 })
    for (let index = 0; index < 1_000; index++) journal.record(entry({ before: past(index * 100) }), index * 100)
    const requests = record(new Journal({ total: 150_000 }), 1_000, () => ({ before: past(0) }))
    expect(journal.size()).toBeGreaterThan(0.7 * requests.size())
    expect(pastsOf(journal).filter(Boolean).length).toBeGreaterThan(0.5 * journal.size())
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
