import { elapsed } from '../ground/clock.ts'
import { readJson } from '../ground/json.ts'
import { clearTimeout, pause, setTimeout } from '../ground/timers.ts'
import { Waiters } from '../ground/waiters.ts'
import type { Readiness, StoreState } from '../store/readiness.ts'
import { StoreError } from '../store/store-error.ts'
import type { ConnectionState, StoreConnection } from './connection.ts'
import type { ServerPlace } from './database.ts'
import { baseOf, commonKey } from './keys.ts'

/**
 * A displaced server still looks whether it may take part again. Both functions may run any number of times, so their
 * outcome is never unknown.
 */
const UNGUARDED = { isUnguarded: true, isReadOnly: true, repeatable: true }

/** The format of all data under a prefix. This version cannot read a format with another number. */
export const FORMAT = '3'
/** In milliseconds, how often a server checks whether the store is available, and is still the same one. */
const BEAT_EVERY = 500
/** In milliseconds, how long other servers count a server after its last sign of life. */
const LEASE = 5_000

/** The contract and options of a server. By them, servers see whether they serve the same. */
export interface ServerTerms {
  /** Digest of the document with its overlays. */
  contract: string
  /** Name and digest of each overlay, in their order. */
  overlays: readonly string[]
  /** Options that change the answers: name → value as text. */
  options: Readonly<Record<string, string>>
}

/** What is found under a prefix. */
export interface Joining {
  /** Whether the server takes part now. */
  isJoined: boolean
  /** How many other servers take part. */
  others: number
  format: string
  terms: ServerTerms
}

/** Events of a server that takes part. Each change causes one call. */
export interface MembershipEvents {
  away(reason: string): void
  /** `after` in milliseconds. */
  back(after: number): void
  /** Called when the store has no memory for changes, and when it has memory again. */
  full(isFull: boolean): void
  /** The store is another one, or was emptied. Requests wait for the promise, but only for a limited time. */
  emptied(): Promise<void>
  /** Keys about all accounts were deleted or evicted. Their names follow `PREFIX:{all}:`. */
  lost(names: readonly string[]): Promise<void>
}

/** Whether requests may go to the store. */
export interface Barrier {
  readonly isOpen: boolean
  /** Resolves when requests may go to the store, or have waited long enough. */
  opened(): Promise<void>
}

export interface MembershipOptions {
  prefix: string
  /** Names this server. */
  instance: string
  terms: ServerTerms
  /** Gives an id to a new marker. */
  drawId(): string
}

/** In milliseconds, how long requests wait at most to learn whether the store is still the same one. */
const PATIENCE = 600
const FULL: StoreState = {
  isReady: true,
  limitation: 'Changes are refused, because the store has no memory left (its setting maxmemory).',
}
const DISPLACED = 'Servers with another contract have taken over the keys of this prefix; restart this one with theirs'

/** One of the servers that use the keys of a prefix. It joins, watches the store, and leaves. */
export class Membership implements Barrier, Readiness {
  readonly kind = 'redis'
  readonly #connection: StoreConnection
  readonly #base: string
  readonly #options: MembershipOptions
  #born = ''
  /** This server among the others: its number, a space, and its name. */
  #member = ''
  /** When it has joined, in microseconds on the clock of the store. */
  #since = '0'
  #events: MembershipEvents | undefined
  #state: ConnectionState = { isReady: true }
  #awaySince = 0
  #isFull = false
  #isDisplaced = false
  /** Whether the store has changed, and the work that this needs is not finished. */
  #isStrange = false
  /** How many servers take part, as far as is known. */
  members = 0
  #timer: NodeJS.Timeout | undefined
  #beating: Promise<void> | undefined
  #stopListening = () => {}
  #isOver = false
  /** Until when requests wait, in milliseconds of `elapsed`; 0 if they need not wait. */
  #closedUntil = 0
  readonly #waiting = new Waiters()

  constructor(connection: StoreConnection, options: MembershipOptions) {
    this.#connection = connection
    this.#options = options
    this.#base = baseOf(options.prefix)
  }

  get place(): ServerPlace {
    return { number: Number.parseInt(this.#member, 10) || 0, since: this.#since }
  }

  get state(): StoreState {
    return this.#state.isReady && this.#isFull ? FULL : this.#state
  }

  /** The refusal of all work, once servers with another contract have taken over. */
  get refusal(): StoreError | undefined {
    if (!this.#isDisplaced || this.#state.isReady) return undefined
    return Object.assign(new StoreError('unavailable', this.#state.reason), { reported: true })
  }

  /** Asks to take part. `replaceable` is an unused contract that may be replaced; empty for a lost marker. */
  async join(replaceable?: string): Promise<Joining> {
    for (;;) {
      const joining = await this.#join(replaceable)
      // Running servers soon write a lost marker again, or their leases end.
      if (joining.isJoined || joining.format !== '' || joining.others === 0) return joining
      await pause(BEAT_EVERY / 5)
    }
  }

  async #join(replaceable: string | undefined): Promise<Joining> {
    const { instance, terms: own, drawId } = this.#options
    const args = [
      ...[instance, this.#lease, FORMAT, own.contract],
      ...[JSON.stringify(own.overlays), JSON.stringify(own.options), drawId(), replaceable ?? ''],
      replaceable === '' ? '1' : '0',
    ]
    const reply = await this.#connection.call('join', this.#base, args, UNGUARDED).catch((error: unknown) => {
      if (!(error instanceof Error && error.message.includes('WRONGTYPE'))) throw error
      const marker = commonKey(this.#options.prefix, 'marker')
      throw new StoreError('unusable', `its key ${marker} is not of this program; use another --store-prefix`)
    })
    const [joined, others, format, found, ...rest] = reply as [number, number, ...string[]]
    const [overlaysFound, optionsFound, born, member, since] = rest
    const isJoined = joined === 1
    if (isJoined) {
      this.#born = `${born}`
      this.#member = `${member}`
      this.#since = `${since}`
      this.members = others + 1
    }
    const terms = {
      contract: `${found}`,
      overlays: (readJson(overlaysFound ?? '') as string[] | undefined) ?? [],
      options: (readJson(optionsFound ?? '') as Record<string, string> | undefined) ?? {},
    }
    return { isJoined, others, format: `${format}`, terms }
  }

  /** Watches the store from now on. */
  watch(events: MembershipEvents): void {
    this.#events = events
    let isFirst = true
    this.#stopListening = this.#connection.listen((state) => {
      // The first call reports the known state.
      if (!isFirst) this.#follow(state)
      isFirst = false
    })
    this.#schedule()
  }

  get isOpen(): boolean {
    return this.#closedUntil === 0 || elapsed() >= this.#closedUntil
  }

  async opened(): Promise<void> {
    if (!this.isOpen) await this.#waiting.wait(this.#closedUntil - elapsed())
  }

  /** Looks after the store at once, and so makes again what it has lost. That itself may call this, so it is not awaited forever. */
  async check(): Promise<void> {
    this.#beatNow()
    await Promise.race([this.#beating, pause(PATIENCE * this.#connection.patience, undefined, { ref: false })])
  }

  /** Leaves, so that other servers need not wait for the end of the lease. */
  async leave(): Promise<void> {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#stopListening()
    this.#open()
    await this.#beating
    // If the store is away, the lease ends by itself.
    await this.#connection
      .send(['ZREM', commonKey(this.#options.prefix, 'replicas'), this.#member], { ...UNGUARDED, deadline: 300 })
      .catch(() => {})
  }

  #follow(state: ConnectionState): void {
    if (this.#isOver) return
    // Requests wait a little: most connections return at once. Then the server checks the store. If the check fails too,
    // they do not wait any more.
    if (state.isReady || this.#state.isReady) this.#close()
    else this.#open()
    if (state.isReady) this.#beatNow()
    else this.#tell(state)
  }

  #schedule(): void {
    if (this.#isOver) return
    this.#timer = setTimeout(() => this.#beatNow(), BEAT_EVERY)
    // A server that stops does not wait for the next check.
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
      const { terms } = this.#options
      const args = [this.#member, this.#lease, terms.contract, this.#born]
      const reply = await this.#connection.call('beat', this.#base, args, UNGUARDED)
      const [micros, contract, born, members, lost] = reply as [string, string, string, number, readonly string[]]
      this.members = members
      this.#connection.clock.see(Number(micros))
      this.#connection.clock.learn(Math.floor(Number(micros) / 1_000), asked)
      const isSame = contract === terms.contract && born === this.#born
      if (!isSame && !(await this.#rejoin())) return
      if (this.#isStrange) await this.#events?.emptied()
      this.#isStrange = false
      if (lost.length > 0) await this.#events?.lost(lost)
      this.#isDisplaced = false
      this.#tell({ isReady: true })
      this.#open()
      await this.#probeMemory()
    } catch (error) {
      this.#tell({ isReady: false, reason: (error as Error).message })
    }
  }

  /** Checks whether the store has memory for changes. The function `beat` itself also runs without memory. */
  async #probeMemory(): Promise<void> {
    const command = ['HINCRBY', commonKey(this.#options.prefix, 'numbers'), 'probes', '0']
    const isFull = await this.#connection.send(command, { ...UNGUARDED, isReadOnly: true }).then(
      () => false,
      (error: unknown) => {
        if (error instanceof StoreError && error.problem === 'full') return true
        throw error
      },
    )
    if (isFull !== this.#isFull) this.#events?.full(isFull)
    this.#isFull = isFull
  }

  /** Takes part again in a changed store. Resolves to whether the server may. */
  async #rejoin(): Promise<boolean> {
    this.#close()
    const known = this.#born
    // Accounts without a marker were served by servers with this contract.
    const { isJoined } = await this.join('')
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

  get #lease(): string {
    return String(Math.round(LEASE * this.#connection.patience))
  }

  #close(): void {
    this.#closedUntil = elapsed() + PATIENCE * this.#connection.patience
  }

  #open(): void {
    this.#closedUntil = 0
    this.#waiting.wake()
  }
}
