import type { Catalogue } from '../contract/catalogue.ts'
import { elapsed } from '../ground/clock.ts'
import { findFirst } from '../ground/search.ts'
import { setImmediate, setTimeout } from '../ground/timers.ts'
import { describeEntry } from '../journal/description.ts'
import type { Entry } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'

/** In milliseconds: events are gathered for this time, so a busy server writes to each reader a few times a second. */
const PAUSE = 20
/** A pause is this many times as long as the delivery before it, so requests have most of the time. */
const REST = 2
/** In milliseconds: the longest pause, because a person waits for the events. */
const LONGEST_PAUSE = 60
/** In milliseconds: the duration of a slice that writes and delivers events. After it, requests have their turn. */
const SLICE = 0.5
/**
 * When this many entries wait to be written, requests come faster than slices. Then each request does this many steps
 * of the delivery, so that fewer entries wait after it.
 */
const FLOOD = 500
const STEPS = 4
/** Events, and their bytes, that may wait for the slowest reader of an account. It can resume with `Last-Event-ID`. */
const BACKLOG = { events: 1_000, bytes: 16 << 20 }
/** The bytes of the events that may wait for the readers of all accounts together. */
const TOTAL = 64 << 20
/** A write to a reader ends after this many bytes. The rest follows when these are sent. */
const BATCH = 64 << 10

/** A reader of events. */
export interface EventReader {
  /** Sends bytes. Returns false if the feed must wait for `Seat.resume` before it sends more. */
  write(bytes: Buffer): boolean
  /** Ends the stream of a reader that is too slow. */
  cut(): void
}

/** The registration of a reader in a feed. */
export interface Seat {
  /** From now on, the reader gets the event of each entry after this ordinal. */
  follow(ordinal: number): void
  /** Continues after a write that returned false. */
  resume(): void
  leave(): void
}

interface Follower {
  reader: EventReader
  /** The ordinal of the last event that the follower has. */
  last: number
  flowing: boolean
}

interface Event {
  ordinal: number
  bytes: Buffer
}

/** The events that the readers of one account, or of all accounts, wait for. */
interface Channel {
  followers: Set<Follower>
  /** The events that at least one follower does not have yet, in order. All followers share them. */
  events: Event[]
  bytes: number
  /** The last batch for a follower. The next follower usually waits for the same batch. */
  batch: { after: number; upTo: number; bytes: Buffer } | undefined
}

/**
 * Delivers the new entries of the journal to the readers of events. Each event is written once for all readers. Writing
 * and delivery do not slow the request down: they happen a little later and in slices. The events that wait for slow
 * readers are limited. The slowest readers are cut off.
 */
export class EventFeed {
  readonly journal: Journal
  readonly #catalogue: Catalogue
  /** By account id. The channel for the readers of all accounts has the key `undefined`. */
  readonly #channels = new Map<string | undefined, Channel>()
  readonly #seats = new Set<Seat>()
  #unsubscribe: (() => void) | undefined
  /** The entries that are not yet written as events. */
  #entries: Entry[] = []
  #bytes = 0
  /** The delivery in progress. */
  #delivery: Generator<void, void, undefined> | undefined
  #spent = 0
  #isScheduled = false

  constructor(journal: Journal, catalogue: Catalogue) {
    this.journal = journal
    this.#catalogue = catalogue
  }

  /** The number of readers. */
  get size(): number {
    return this.#seats.size
  }

  /** Registers a reader of an account or of all accounts. It gets no events before `follow`. */
  take(account: string | undefined, reader: EventReader): Seat {
    const follower: Follower = { reader, last: 0, flowing: true }
    const seat: Seat = {
      follow: (ordinal) => {
        follower.last = ordinal
        this.#channelOf(account).followers.add(follower)
        this.#unsubscribe ??= this.#subscribe()
      },
      resume: () => {
        follower.flowing = true
        const channel = this.#channels.get(account)
        if (channel?.followers.has(follower) !== true) return
        this.#serve(channel, follower)
        this.#trim(channel)
      },
      leave: () => {
        this.#seats.delete(seat)
        this.#remove(account, follower)
      },
    }
    this.#seats.add(seat)
    return seat
  }

  /** One entry as a server-sent event. */
  write(entry: Entry): Buffer {
    const description = describeEntry(entry, this.#catalogue, this.journal.redactorFor(entry))
    return Buffer.from(`id: ${entry.ordinal}\nevent: request\ndata: ${JSON.stringify(description)}\n\n`)
  }

  /** Delivers everything at once. */
  flush(): void {
    while (this.#delivery !== undefined || this.#entries.length > 0) this.#proceed()
  }

  #subscribe(): () => void {
    const endings = [
      this.journal.subscribe((entry) => this.#note(entry)),
      // The readers have seen entries that the journal no longer has, and the ordinals start again.
      this.journal.listenRestart(() => {
        for (const [account, channel] of [...this.#channels]) this.#cut(account, channel, Number.POSITIVE_INFINITY)
      }),
    ]
    return () => {
      for (const end of endings) end()
    }
  }

  #channelOf(account: string | undefined): Channel {
    const channel = this.#channels.get(account) ?? { followers: new Set(), events: [], bytes: 0, batch: undefined }
    this.#channels.set(account, channel)
    return channel
  }

  #remove(account: string | undefined, follower: Follower): void {
    const channel = this.#channels.get(account)
    if (channel === undefined) return
    channel.followers.delete(follower)
    this.#trim(channel)
    if (channel.followers.size === 0) this.#channels.delete(account)
    if (this.#channels.size > 0) return
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
    this.#entries = []
    // It is in the middle of those entries, and would skip as many of the next reader.
    this.#delivery = undefined
  }

  /** The only work that a request does for its event. */
  #note(entry: Entry): void {
    if (!this.#channels.has(undefined) && !this.#channels.has(entry.account)) return
    this.#entries.push(entry)
    this.#schedule()
    if (this.#entries.length < FLOOD) return
    for (let step = 0; step < STEPS; step++) this.#proceed()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    const pause = Math.min(LONGEST_PAUSE, Math.max(PAUSE, REST * this.#spent))
    this.#spent = 0
    setTimeout(() => this.#deliverSlice(), pause).unref()
  }

  #deliverSlice(): void {
    const begun = elapsed()
    let spent = 0
    let isDone = false
    while (!isDone && spent < SLICE) {
      isDone = this.#proceed()
      spent = elapsed() - begun
    }
    this.#spent += spent
    if (!isDone) {
      setImmediate(() => this.#deliverSlice())
      return
    }
    this.#isScheduled = false
    if (this.#entries.length > 0) this.#schedule()
  }

  /** Does one step of the delivery, and begins a delivery if none is in progress. Returns whether it is done. */
  #proceed(): boolean {
    this.#delivery ??= this.#deliver()
    const isDone = this.#delivery.next().done === true
    if (isDone) this.#delivery = undefined
    return isDone
  }

  /** Writes the events and delivers them to the readers. It pauses after each event and each reader. */
  *#deliver(): Generator<void, void, undefined> {
    for (let index = 0; index < this.#entries.length; index++) {
      const entry = this.#entries[index]
      if (entry === undefined) continue
      this.#publish(entry)
      yield
    }
    this.#entries = []
    for (const channel of [...this.#channels.values()]) {
      for (const follower of channel.followers) {
        this.#serve(channel, follower)
        yield
      }
      this.#trim(channel)
    }
    this.#cutSlowest()
  }

  #publish(entry: Entry): void {
    const { ordinal } = entry
    const channels = [this.#channels.get(undefined), this.#channels.get(entry.account)]
    const awaiting = new Set(channels.filter((channel) => channel !== undefined))
    if (awaiting.size === 0) return
    const bytes = this.write(entry)
    for (const channel of awaiting) {
      channel.events.push({ ordinal, bytes })
      channel.bytes += bytes.length
      this.#bytes += bytes.length
    }
  }

  /** Sends a follower as many of its waiting events as it accepts. */
  #serve(channel: Channel, follower: Follower): void {
    while (follower.flowing) {
      const batch = batchFor(channel, follower.last)
      if (batch === undefined) return
      follower.last = batch.upTo
      follower.flowing = follower.reader.write(batch.bytes)
    }
  }

  /** Drops the events that every follower has. */
  #trim(channel: Channel): void {
    const { events, followers } = channel
    if (events.length === 0) return
    let oldest = Number.POSITIVE_INFINITY
    for (const { last } of followers) oldest = Math.min(oldest, last)
    const count = indexAfter(events, oldest)
    if (count === 0) return
    for (const { bytes } of events.splice(0, count)) {
      channel.bytes -= bytes.length
      this.#bytes -= bytes.length
    }
    channel.batch = undefined
  }

  /** Cuts off the slowest followers until the waiting events are within the limit. */
  #cutSlowest(): void {
    for (const [account, channel] of this.#channels) {
      while (channel.events.length > BACKLOG.events || channel.bytes > BACKLOG.bytes) this.#cutLast(account, channel)
    }
    while (this.#bytes > TOTAL) {
      const [fullest] = [...this.#channels].sort(([, one], [, other]) => other.bytes - one.bytes)
      if (fullest === undefined) return
      this.#cutLast(...fullest)
    }
  }

  /** Cuts off the followers of a channel that have received the fewest events. */
  #cutLast(account: string | undefined, channel: Channel): void {
    this.#cut(account, channel, Math.min(...[...channel.followers].map(({ last }) => last)))
  }

  /** Cuts off the followers of a channel that have received no event after an ordinal. */
  #cut(account: string | undefined, channel: Channel, ordinal: number): void {
    for (const follower of [...channel.followers]) {
      if (follower.last > ordinal) continue
      follower.reader.cut()
      this.#remove(account, follower)
    }
  }
}

/** The next events after an ordinal as one batch; `undefined` if there are none. */
function batchFor(channel: Channel, after: number): Channel['batch'] {
  if (channel.batch?.after === after) return channel.batch
  const { events } = channel
  const pieces: Buffer[] = []
  let upTo = after
  let size = 0
  for (let index = indexAfter(events, after); index < events.length && size < BATCH; index++) {
    const { bytes, ordinal } = events[index] as Event
    pieces.push(bytes)
    size += bytes.length
    upTo = ordinal
  }
  const [first] = pieces
  if (first === undefined) return undefined
  channel.batch = { after, upTo, bytes: pieces.length === 1 ? first : Buffer.concat(pieces) }
  return channel.batch
}

/** The index of the first event after an ordinal; the events are in order. */
function indexAfter(events: readonly Event[], ordinal: number): number {
  return findFirst(0, events.length, (index) => (events[index] as Event).ordinal <= ordinal)
}
