import { elapsed } from '../../ground/clock.ts'
import { readJson } from '../../ground/json.ts'
import { clearTimeout, setTimeout } from '../../ground/timers.ts'
import type { Readiness, StoreState } from '../readiness.ts'
import { StoreError } from '../store-error.ts'
import type { ConnectionState, StoreConnection } from './connection.ts'

/** The format of all data under a prefix. This version cannot read a format with another number. */
const FORMAT = '4'
/** In milliseconds, how often a server checks whether the store is available, and is still the same one. */
const BEAT_EVERY = 500
/** In milliseconds, for how long after a restoration a caller may have looked before it. */
const RECENT = 1_000
const FULL: StoreState = {
  isReady: true,
  limitation: 'Changes are refused, because the store has no memory left (its setting maxmemory).',
}

/** The contract of a server. By it, servers see whether they serve the same. */
export interface ServerTerms {
  /** Digest of the document with its overlays. */
  contract: string
  /** The name of each overlay, in their order. */
  overlays: readonly string[]
}

/** What a store says of its contents: `born` names them, so that it shows when they are others. */
interface Marker {
  format: string
  born: string
  terms: ServerTerms
}

/** Events of a server that takes part. Each change causes one call. */
export interface MembershipEvents {
  away(reason: string): void
  /** `after` in milliseconds. */
  back(after: number): void
  /** Called when the store has no memory for changes, and when it has memory again. */
  full(isFull: boolean): void
  /** The store is another one, or was emptied. Requests that find no account wait for the promise. */
  emptied(): Promise<void>
}

export interface MembershipOptions {
  prefix: string
  terms: ServerTerms
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
  #state: ConnectionState = { isReady: true }
  #awaySince = 0
  #isFull = false
  #timer: NodeJS.Timeout | undefined
  #beating: Promise<void> | undefined
  /** What brings back the data of a start, while it does. */
  #restoring: Promise<void> | undefined
  #restoredAt = Number.NEGATIVE_INFINITY
  #stopListening = () => {}
  #isOver = false

  constructor(connection: StoreConnection, options: MembershipOptions) {
    this.#connection = connection
    this.#options = options
  }

  get state(): StoreState {
    return this.#state.isReady && this.#isFull ? FULL : this.#state
  }

  /** Takes part with these terms, if the store has no others. Resolves to what it says now. @throws StoreError */
  async join(): Promise<ServerTerms> {
    const { prefix, terms, drawId } = this.#options
    const former = `${prefix}:{all}:marker`
    const format = await this.#connection.send(['HGET', former, 'format'], { isRepeatable: true }).catch(() => null)
    if (format !== null) throw otherFormat(prefix, `${format}`)
    const own: Marker = { format: FORMAT, born: drawId(), terms }
    await this.#write('HSETNX', own)
    const found = await this.#readMarker()
    if (found === undefined) {
      throw new StoreError('unusable', `its key ${this.#key} is not of this program; use another --store-prefix`)
    }
    if (found.format !== FORMAT) throw otherFormat(prefix, found.format)
    this.#born = found.born
    return found.terms
  }

  /** Watches the store from now on. */
  watch(events: MembershipEvents): void {
    this.#events = events
    this.#stopListening = this.#connection.listen((state) => {
      if (state.isReady) this.#beatNow()
      else this.#tell(state)
    })
    this.#schedule()
  }

  /** Whether a caller that has found no account must look again, because the store was another one a moment ago. */
  async restored(): Promise<boolean> {
    if (this.#events === undefined) return false
    const isStrange = this.#restoring !== undefined || (await this.#readMarker())?.born !== this.#born
    if (isStrange) await this.#restore()
    return isStrange || elapsed() - this.#restoredAt < RECENT
  }

  leave(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#stopListening()
  }

  get #key(): string {
    return `${this.#options.prefix}:store`
  }

  async #write(command: 'HSET' | 'HSETNX', marker: Marker): Promise<void> {
    const words = [command, this.#key, 'marker', JSON.stringify(marker)]
    await this.#connection.send(words, { isRepeatable: true }).catch((error: unknown) => {
      if (!(error instanceof Error && error.message.startsWith('WRONGTYPE'))) throw error
      throw new StoreError('unusable', `its key ${this.#key} is not of this program; use another --store-prefix`)
    })
  }

  async #readMarker(): Promise<Marker | undefined> {
    const text = await this.#connection.send(['HGET', this.#key, 'marker'], { isRepeatable: true })
    return typeof text === 'string' ? (readJson(text) as Marker | undefined) : undefined
  }

  #schedule(): void {
    if (this.#isOver) return
    // A server that stops does not wait for the next check.
    this.#timer = setTimeout(() => this.#beatNow(), BEAT_EVERY).unref()
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
      await this.#connection.askTime()
      const marker = await this.#readMarker()
      if (marker?.born !== this.#born) await this.#restore()
      await this.#probeMemory()
      this.#tell({ isReady: true })
    } catch (error) {
      this.#tell({ isReady: false, reason: (error as Error).message })
    }
  }

  /** Takes part again in a changed store, and brings back the data of a start, once at a time. */
  #restore(): Promise<void> {
    const restore = async () => {
      const { contract } = await this.join()
      if (contract !== this.#options.terms.contract) throw new StoreError('unavailable', DISPLACED)
      await this.#events?.emptied()
      this.#restoredAt = elapsed()
    }
    this.#restoring ??= restore().finally(() => {
      this.#restoring = undefined
    })
    return this.#restoring
  }

  /** Checks whether the store has memory for changes, and takes them. */
  async #probeMemory(): Promise<void> {
    const isFull = await this.#connection.send(['HINCRBY', this.#key, 'probes', '0'], { isRepeatable: true }).then(
      () => false,
      (error: unknown) => {
        if (error instanceof StoreError && error.problem === 'out-of-memory') return true
        throw error
      },
    )
    if (isFull !== this.#isFull) this.#events?.full(isFull)
    this.#isFull = isFull
  }

  #tell(state: ConnectionState): void {
    if (this.#isOver) return
    const { isReady } = this.#state
    this.#state = state
    if (isReady === state.isReady) return
    if (state.isReady) this.#events?.back(elapsed() - this.#awaySince)
    else {
      this.#awaySince = elapsed()
      this.#events?.away(state.reason)
    }
  }
}

const DISPLACED = 'Servers with another contract have taken over the keys of this prefix; restart this one with theirs'

function otherFormat(prefix: string, format: string): StoreError {
  const found = `holds accounts under ${prefix} in format ${format}, and this version reads format ${FORMAT}`
  const way =
    'to take accounts along, export each with the version that made them, and import it here under another --store-prefix'
  return new StoreError('unusable', `${found}; ${way}`)
}
