import { readJson } from '../../ground/json.ts'
import { clearTimeout, elapsed, setTimeout } from '../../ground/timers.ts'
import type { Readiness } from '../store.ts'
import { StoreError } from '../store-error.ts'
import type { ConnectionState, StoreConnection } from './connection.ts'

/** The format of all data under a prefix. This version cannot read a format with another number. */
const FORMAT = '4'
/** In milliseconds, how often a server checks whether the store is available, and is still the same one. */
const BEAT_EVERY = 500

/** What a store says of its contents: `born` names them, so that it shows when they are others. */
interface Marker {
  format: string
  born: string
  contract: string
}

/** Events of a server that takes part. Each change causes one call. */
export interface MembershipEvents {
  away(reason: string): void
  /** `after` in milliseconds. */
  back(after: number): void
  /** The store is another one, or was emptied. Requests that find no account wait for the promise. */
  emptied(): Promise<void>
}

export interface MembershipOptions {
  prefix: string
  /** Digest of the contract of this server. By it, servers see whether they serve the same. */
  contract: string
  /** Gives a name to new contents. */
  drawId(): string
}

/** One of the servers that use the keys of a prefix. It joins, and watches the store. */
export class Membership implements Readiness {
  readonly kind = 'redis'
  readonly #connection: StoreConnection
  readonly #options: MembershipOptions
  #born = ''
  #events: MembershipEvents | undefined
  #awaySince = 0
  #timer: NodeJS.Timeout | undefined
  /** The check under way. */
  #checking: Promise<void> | undefined
  #stopListening = () => {}
  #isOver = false
  state: ConnectionState = { isReady: true }

  constructor(connection: StoreConnection, options: MembershipOptions) {
    this.#connection = connection
    this.#options = options
  }

  /** Takes part, if the store has no other contract. @throws StoreError */
  async join(): Promise<void> {
    const { prefix, contract, drawId } = this.#options
    const key = `${prefix}:store`
    const own: Marker = { format: FORMAT, born: drawId(), contract }
    const writing = this.#connection.send(['HSETNX', key, 'marker', JSON.stringify(own)], { isRepeatable: true })
    const isOurs = await writing.catch((error: unknown) => {
      if (!(error instanceof Error && error.message.startsWith('WRONGTYPE'))) throw error
    })
    const found = isOurs === undefined ? undefined : await this.#readMarker()
    const otherPrefix = 'use another --store-prefix'
    if (found === undefined) {
      throw new StoreError('unusable', `its key ${key} is not of this program; ${otherPrefix}`)
    }
    if (found.format !== FORMAT) {
      const formats = `in format ${found.format}, and this version reads format ${FORMAT}`
      throw new StoreError('unusable', `holds accounts under ${prefix} ${formats}; ${otherPrefix}`)
    }
    if (found.contract !== contract) {
      const reason = 'was used with other overlays, or with another openapi.yaml, as other versions of the program have'
      throw new StoreError('unusable', `${reason}; start with the same, or ${otherPrefix}`)
    }
    this.#born = found.born
  }

  /** Watches the store from now on. */
  watch(events: MembershipEvents): void {
    this.#events = events
    this.#stopListening = this.#connection.listen((state) => {
      if (state.isReady) void this.check()
      else this.#tell(state)
    })
    void this.check()
  }

  /** Checks whether the store is there, can be changed, and is the same one. If it was emptied, provides for it first. */
  async check(): Promise<void> {
    // The one under way may have looked too early.
    await this.#checking
    clearTimeout(this.#timer)
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined
      // A server that stops does not wait for the next check.
      if (!this.#isOver) this.#timer = setTimeout(() => void this.check(), BEAT_EVERY).unref()
    })
    return this.#checking
  }

  leave(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#stopListening()
  }

  async #readMarker(): Promise<Marker | undefined> {
    const text = await this.#connection.send(['HGET', `${this.#options.prefix}:store`, 'marker'], {
      isRepeatable: true,
    })
    return typeof text === 'string' ? (readJson(text) as Marker | undefined) : undefined
  }

  async #check(): Promise<void> {
    try {
      await this.#connection.askTime()
      if ((await this.#readMarker())?.born !== this.#born) {
        await this.join()
        await this.#events?.emptied()
      }
      // A server that has become a replica reads, but does not write.
      await this.#connection.send(['HINCRBY', `${this.#options.prefix}:store`, 'probes', '0'], { isRepeatable: true })
      this.#tell({ isReady: true })
    } catch (error) {
      const isFull = error instanceof StoreError && error.problem === 'out-of-memory'
      this.#tell(isFull ? { isReady: true } : { isReady: false, reason: (error as Error).message })
    }
  }

  #tell(state: ConnectionState): void {
    if (this.#isOver) return
    const { isReady } = this.state
    this.state = state
    if (isReady === state.isReady) return
    if (state.isReady) this.#events?.back(elapsed() - this.#awaySince)
    else {
      this.#awaySince = elapsed()
      this.#events?.away(state.reason)
    }
  }
}
