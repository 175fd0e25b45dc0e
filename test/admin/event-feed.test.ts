import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { BACKLOG, EventFeed, type EventReader } from '../../src/admin/event-feed.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { elapsed } from '../../src/ground/clock.ts'
import { Journal } from '../../src/journal/journal.ts'
import { entry } from '../support/entry.ts'
import { holdTime } from '../support/held-time.ts'

const { catalogue } = await loadContract()

/** A journal that counts how often something of it is described. */
class CountingJournal extends Journal {
  described = 0
  override redactorFor(entry: Parameters<Journal['redactorFor']>[0]) {
    this.described++
    return super.redactorFor(entry)
  }
}

/** A reader that keeps what it gets, as long as it reads. */
class Reader implements EventReader {
  readonly writes: Buffer[] = []
  isCut = false
  #isReading: boolean

  constructor({ isReading = true } = {}) {
    this.#isReading = isReading
  }

  write(bytes: Buffer): boolean {
    this.writes.push(bytes)
    return this.#isReading
  }

  cut(): void {
    this.isCut = true
  }

  get ordinals(): number[] {
    const text = Buffer.concat(this.writes).toString()
    return [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
  }
}

function record(journal: Journal, count: number, chosen: Parameters<typeof entry>[0] = {}): void {
  for (let recorded = 0; recorded < count; recorded++) journal.record(entry(chosen))
}

function open({ account, readers = 1 }: { account?: string; readers?: number } = {}) {
  const journal = new CountingJournal()
  const feed = new EventFeed(journal, catalogue)
  const all = Array.from({ length: readers }, () => join(feed, journal, new Reader(), account).reader)
  return { journal, feed, readers: all, reader: all[0] as Reader }
}

function join(feed: EventFeed, journal: Journal, reader: Reader, account?: string) {
  const seat = feed.take(account, reader)
  seat.follow(journal.recorded)
  return { seat, reader }
}

describe('An event', () => {
  it('is written once for all readers, after the request, with all that waits in one piece', async () => {
    const { journal, readers } = open({ readers: 500 })
    record(journal, 10)
    expect(journal.described).toBe(0)
    expect(readers.flatMap(({ writes }) => writes)).toEqual([])
    await expect.poll(() => readers.every(({ writes }) => writes.length > 0)).toBe(true)
    expect(journal.described).toBe(10)
    const [first] = readers[0]?.writes ?? []
    for (const { writes } of readers) {
      expect(writes).toHaveLength(1)
      expect(writes[0]).toBe(first)
    }
    expect(readers[0]?.ordinals).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  it('is with its readers within a tenth of a second', async () => {
    holdTime()
    const { journal, reader } = open()
    for (let count = 0; count < 3; count++) {
      journal.record(entry({}))
      await vi.advanceTimersByTimeAsync(100)
      // It is brought in slices.
      for (let turn = 0; turn < 20; turn++) await setImmediate()
      expect(reader.writes).toHaveLength(count + 1)
    }
  })

  it('is brought to those who read its account or all accounts, and costs nothing where nobody reads it', async () => {
    const { journal, feed, reader: acme } = open({ account: 'acme' })
    journal.record(entry({ account: 'other' }))
    feed.flush()
    expect(journal.described).toBe(0)
    const { reader: everybody, seat } = join(feed, journal, new Reader())
    journal.record(entry({ account: 'other' }))
    journal.record(entry({ account: 'acme' }))
    journal.record(entry({ account: undefined }))
    feed.flush()
    expect(everybody.ordinals).toEqual([2, 3, 4])
    expect(acme.ordinals).toEqual([3])
    seat.leave()
    journal.record(entry({ account: 'other' }))
    journal.record(entry({ account: 'acme' }))
    feed.flush()
    expect(everybody.ordinals).toEqual([2, 3, 4])
    expect(acme.ordinals).toEqual([3, 6])
    expect(journal.described).toBe(4)
  })

  it('reaches a reader who joins while the delivery to the last reader, who has left, is not finished', () => {
    const journal = new Journal()
    const feed = new EventFeed(journal, catalogue)
    const { seat } = join(feed, journal, new Reader())
    // The last of so many requests does the first steps of their delivery.
    record(journal, 500)
    seat.leave()
    const { reader } = join(feed, journal, new Reader())
    record(journal, 6)
    feed.flush()
    expect(reader.ordinals).toEqual([501, 502, 503, 504, 505, 506])
  })

  it('leaves requests their turn while it is brought to many', async () => {
    const { journal, feed } = open()
    /** A reader to whom each write takes a millisecond. */
    class Slow extends Reader {
      override write(bytes: Buffer): boolean {
        const begun = elapsed()
        while (elapsed() - begun < 1);
        return super.write(bytes)
      }
    }
    const slow = Array.from({ length: 100 }, () => join(feed, journal, new Slow()).reader)
    journal.record(entry({}))
    let most = 0
    let before = 0
    while (before < 100) {
      await setImmediate()
      const written = slow.filter(({ writes }) => writes.length > 0).length
      most = Math.max(most, written - before)
      before = written
    }
    expect(most).toBeLessThanOrEqual(2)
  })

  it('is not lost in a flood, of which each request pays a few steps', () => {
    const { journal, reader } = open()
    let most = 0
    for (let count = 0; count < 10_000; count++) {
      const before = journal.described
      journal.record(entry({}))
      most = Math.max(most, journal.described - before)
    }
    expect(most).toBeLessThan(10)
    expect(reader.ordinals.length).toBeGreaterThan(9_000)
    expect(reader.isCut).toBe(false)
  })
})

describe('A reader who does not read', () => {
  it('goes on where it was when it reads again', () => {
    const { journal, feed } = open()
    const { reader, seat } = join(feed, journal, new Reader({ isReading: false }))
    record(journal, 300)
    feed.flush()
    expect(reader.writes).toHaveLength(1)
    while (reader.ordinals.length < 300) seat.resume()
    expect(reader.ordinals).toEqual(Array.from({ length: 300 }, (_, index) => index + 1))
  })

  it.each<[limit: string, target: string, count: number]>([
    ['a thousand events', '/', 2_500],
    ['sixteen megabytes', `/${'x'.repeat(200_000)}`, 100],
  ])('is cut when %s wait for it, and others are not', (_, target, count) => {
    const { journal, feed, reader: other } = open()
    const { reader: idle } = join(feed, journal, new Reader({ isReading: false }))
    record(journal, count, { target, path: target })
    feed.flush()
    expect(idle.isCut).toBe(true)
    expect(other.isCut).toBe(false)
    expect(other.ordinals).toHaveLength(count)
  })

  it('is not cut as long as no more wait for it than may', () => {
    const { journal, feed } = open()
    const { reader } = join(feed, journal, new Reader({ isReading: false }))
    journal.record(entry({}))
    feed.flush()
    record(journal, BACKLOG.events)
    feed.flush()
    expect(reader.isCut).toBe(false)
    journal.record(entry({}))
    feed.flush()
    expect(reader.isCut).toBe(true)
  })

  it('is cut when too much waits for all, first where most waits', () => {
    const { journal, feed } = open()
    const target = `/${'x'.repeat(100_000)}`
    const accounts = Array.from({ length: 30 }, (_, number) => `account-${number}`)
    const idle = accounts.map((account) => join(feed, journal, new Reader({ isReading: false }), account))
    for (let round = 0; round < 30; round++) {
      for (const account of round < 1 ? accounts : accounts.slice(1))
        record(journal, 1, { account, target, path: target })
      feed.flush()
    }
    const cut = idle.filter(({ reader }) => reader.isCut).length
    expect(cut).toBeGreaterThan(0)
    expect(cut).toBeLessThan(30)
    expect(idle[0]?.reader.isCut).toBe(false)
  })
})
