import { elapsed } from '../../ground/clock.ts'
import type { StoreState } from '../readiness.ts'
import { readScript } from '../script.ts'
import { StoreError } from '../store-error.ts'
import type { ConnectionState, StoreConnection } from './connection.ts'

// Both may run any number of times, so nobody has to know whether one without a reply was run.
const JOIN = { ...readScript('store/redis/scripts/join.lua'), isReadOnly: true }
const BEAT = { ...readScript('store/redis/scripts/beat.lua'), isReadOnly: true }

/** The form of everything that is kept under a prefix. Another number says that this version cannot read it. */
export const FORMAT = '1'
/** In milliseconds, how often a server looks whether the store is there, and is the one that it knew. */
export const BEAT_EVERY = 500
/** In milliseconds, for how long others count a server that is heard of no more. */
export const LEASE = 5_000

/** What a server serves, by which others know whether they serve the same. */
export interface Terms {
  /** Digest of the document with its overlays. */
  contract: string
  /** Name and digest of each overlay, in their order. */
  overlays: readonly string[]
  /** Options that change what is answered: name → value as text. */
  options: Readonly<Record<string, string>>
}

/** What is found under a prefix. */
export interface Joining {
  /** Whether the server takes part now. */
  isJoined: boolean
  /** How many others take part. */
  others: number
  format: string
  terms: Terms
}

/** What happens to a server that takes part. Each is told once for each change. */
export interface MembershipEvents {
  away(reason: string): void
  /** `after` in milliseconds. */
  back(after: number): void
  /** The store has no memory for changes, or has it again. */
  full(isFull: boolean): void
  /**
   * The store is another one, or was emptied, so that nothing holds that was known of it. Requests wait until the promise
   * is resolved, but not for ever.
   */
  emptied(): Promise<void>
}

/** Whether requests may go to the store. */
export interface Door {
  readonly isOpen: boolean
  /** Resolves when they may, or when they have waited long enough. */
  opened(): Promise<void>
}

/** In milliseconds, how long requests wait at most to learn whether the store is the one that it was. */
export const PATIENCE = 600
const FULL: StoreState = {
  isReady: true,
  limitation: 'Changes are refused, because the store has no memory left (its setting maxmemory).',
}
const DISPLACED = 'Servers with another contract have taken over the keys of this prefix; restart this one with theirs'

/** One of the servers that use the keys of a prefix: it takes part, looks after the store, and leaves. */
export class Membership implements Door {
  readonly #connection: StoreConnection
  readonly #keys: readonly [marker: string, leases: string]
  /** A hash that the probe for memory may write to. */
  readonly #numbers: string
  readonly #instance: string
  readonly #terms: Terms
  readonly #drawId: () => string
  #born = ''
  #events: MembershipEvents | undefined
  #state: ConnectionState = { isReady: true }
  #awaySince = 0
  #isFull = false
  #isDisplaced = false
  /** Whether the store is another one than before, and not everything was done yet that this needs. */
  #isStrange = false
  /** How many servers take part, as far as is known. */
  members = 0
  #timer: NodeJS.Timeout | undefined
  #beating: Promise<void> | undefined
  #stopListening = () => {}
  #isOver = false
  /** Until when requests wait, in milliseconds of `elapsed`; 0 where they need not. */
  #closedUntil = 0
  readonly #waiting = new Set<() => void>()

  constructor(
    connection: StoreConnection,
    { prefix, instance, terms, drawId }: { prefix: string; instance: string; terms: Terms; drawId: () => string },
  ) {
    this.#connection = connection
    this.#keys = [`${prefix}:{all}:marker`, `${prefix}:{all}:replicas`]
    this.#numbers = `${prefix}:{all}:numbers`
    this.#instance = instance
    this.#terms = terms
    this.#drawId = drawId
  }

  get state(): StoreState {
    return this.#state.isReady && this.#isFull ? FULL : this.#state
  }

  /** Whether other servers have replaced the contract, so that nothing may be answered. */
  get isDisplaced(): boolean {
    return this.#isDisplaced
  }

  /** Asks to take part. `replaceable` is the contract of nobody's that the server may replace by its own. */
  async join(replaceable = ''): Promise<Joining> {
    const { contract, overlays, options } = this.#terms
    const reply = await this.#connection
      .run(JOIN, this.#keys, [
        ...[this.#instance, String(LEASE), FORMAT, contract],
        ...[JSON.stringify(overlays), JSON.stringify(options), this.#drawId(), replaceable],
      ])
      .catch((error: unknown) => {
        if (error instanceof Error && error.message.startsWith('WRONGTYPE'))
          throw new StoreError(
            'unusable',
            `its key ${this.#keys[0]} is not of this program; use another --store-prefix`,
          )
        throw error
      })
    const [joined, others, format, found, overlaysFound, optionsFound, born] = reply as [number, number, ...string[]]
    const isJoined = joined === 1
    if (isJoined) {
      this.#born = `${born}`
      this.members = others + 1
    }
    const terms = {
      contract: `${found}`,
      overlays: readJson<string[]>(overlaysFound) ?? [],
      options: readJson<Record<string, string>>(optionsFound) ?? {},
    }
    return { isJoined, others, format: `${format}`, terms }
  }

  /** Looks after the store from now on. */
  watch(events: MembershipEvents): void {
    this.#events = events
    let isFirst = true
    this.#stopListening = this.#connection.listen((state) => {
      // The first call tells what is known.
      if (!isFirst) this.#follow(state)
      isFirst = false
    })
    this.#schedule()
  }

  get isOpen(): boolean {
    return this.#closedUntil === 0 || elapsed() >= this.#closedUntil
  }

  opened(): Promise<void> {
    if (this.isOpen) return Promise.resolve()
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        this.#waiting.delete(end)
        resolve()
      }
      const timer = setTimeout(end, this.#closedUntil - elapsed())
      this.#waiting.add(end)
    })
  }

  /** Leaves, so that others need not wait for the end of the lease. */
  async leave(): Promise<void> {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#stopListening()
    this.#open()
    await this.#beating
    // Where the store is away, the lease ends by itself.
    await this.#connection.send(['ZREM', this.#keys[1], this.#instance], { deadline: 300 }).catch(() => {})
  }

  #follow(state: ConnectionState): void {
    if (this.#isOver) return
    // Requests wait a little: most connections are there again at once, and then it is seen what is there.
    this.#close()
    if (state.isReady) this.#beatNow()
    else this.#tell(state)
  }

  #schedule(): void {
    if (this.#isOver) return
    this.#timer = setTimeout(() => this.#beatNow(), BEAT_EVERY)
    // A server that is stopped does not wait for the next look.
    this.#timer.unref()
  }

  #beatNow(): void {
    clearTimeout(this.#timer)
    this.#beating ??= this.#beat().finally(() => {
      this.#beating = undefined
      this.#schedule()
    })
  }

  async #beat(): Promise<void> {
    try {
      const asked = elapsed()
      const args = [this.#instance, String(LEASE), this.#terms.contract, this.#born]
      const reply = await this.#connection.run(BEAT, this.#keys, args)
      const [now, contract, born, members] = reply as [number, string, string, number]
      this.members = members
      this.#connection.clock.learn(now, asked)
      const isSame = contract === this.#terms.contract && born === this.#born
      if (!isSame && !(await this.#rejoin())) return
      if (this.#isStrange) await this.#events?.emptied()
      this.#isStrange = false
      this.#isDisplaced = false
      this.#tell({ isReady: true })
      this.#open()
      await this.#probeMemory()
    } catch (error) {
      this.#tell({ isReady: false, reason: (error as Error).message })
    }
  }

  /** Looks whether there is memory for changes. The look itself, as everything that must go on, may exceed the memory. */
  async #probeMemory(): Promise<void> {
    const isFull = await this.#connection.send(['HINCRBY', this.#numbers, 'probes', '0'], { isReadOnly: true }).then(
      () => false,
      (error: unknown) => {
        if (error instanceof StoreError && error.problem === 'full') return true
        throw error
      },
    )
    if (isFull !== this.#isFull) this.#events?.full(isFull)
    this.#isFull = isFull
  }

  /** Takes part again in a store that is not the one that was known. Says whether it may. */
  async #rejoin(): Promise<boolean> {
    this.#close()
    const known = this.#born
    const { isJoined } = await this.join()
    if (!isJoined) {
      this.#isDisplaced = true
      this.#tell({ isReady: false, reason: DISPLACED })
      this.#open()
      return false
    }
    this.#isStrange ||= this.#born !== known
    return true
  }

  #tell(state: ConnectionState): void {
    const { isReady } = this.#state
    this.#state = state
    if (isReady === state.isReady) return
    if (state.isReady) this.#events?.back(elapsed() - this.#awaySince)
    else {
      this.#awaySince = elapsed()
      this.#events?.away(state.reason)
    }
  }

  #close(): void {
    this.#closedUntil = elapsed() + PATIENCE
  }

  #open(): void {
    this.#closedUntil = 0
    for (const each of [...this.#waiting]) each()
  }
}

function readJson<Value>(text: string | undefined): Value | undefined {
  try {
    return JSON.parse(text ?? '') as Value
  } catch {
    return undefined
  }
}
