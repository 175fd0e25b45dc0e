import { joinParts } from '../store/parts.ts'
import type { FormerAccount, SnapshotOutcome, SnapshotRequest, SnapshotSummary } from '../store/store.ts'
import { StoreError } from '../store/store-error.ts'
import { lackOfParts } from './account-reading.ts'
import { GONE, type Gone } from './account-steps.ts'
import { LARGE_DEADLINE } from './connection.ts'
import { readCounters } from './counter-texts.ts'
import { type RedisDatabase, readTexts } from './database.ts'
import { accountKey, decodeId, encodeId } from './keys.ts'

/** How often a reading is repeated because other callers were faster. */
const ATTEMPTS = 20

/** A snapshot with the name of its copy, which is part of the copy's keys. */
interface SnapshotRecord extends Omit<SnapshotSummary, 'name'> {
  /** The ordinal of the snapshot among all snapshots of the account. */
  number: number
  copy: string
}

/** The snapshots of accounts. The server copies the account, so that it is not sent. */
export class RedisSnapshots {
  readonly #database: RedisDatabase

  constructor(database: RedisDatabase) {
    this.#database = database
  }

  async take(incarnation: string, { name, replace, limit }: SnapshotRequest): Promise<SnapshotOutcome | Gone> {
    const args = [this.#database.newOperation(), encodeId(name), `${limit}`, replace ? '1' : '0', this.#database.now]
    const [outcome, told] = await this.#database.callOnce('take_snapshot', incarnation, args, LARGE_DEADLINE)
    if (outcome === 'gone') return GONE
    if (outcome === 'damaged') throw lackOfParts(incarnation, this.#database)
    if (outcome === 'taken' || outcome === 'too-many') return { ok: false, reason: outcome }
    return { ok: true, snapshot: summarize(name, readEntry(told as string)) }
  }

  async list(incarnation: string): Promise<SnapshotSummary[] | Gone> {
    const entries = await this.#entries(incarnation)
    return entries === GONE ? GONE : entries.map(([name, entry]) => summarize(name, entry))
  }

  async read(incarnation: string, name: string): Promise<(FormerAccount & { takenAt: number }) | undefined | Gone> {
    const snapshots = accountKey(this.#database.prefix, incarnation, 'snapshots')
    const find = () => this.#database.read(['HGET', snapshots, encodeId(name)])
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const [version, told] = await Promise.all([this.#readVersion(incarnation), find()])
      if (version === null) return GONE
      if (typeof told !== 'string') return undefined
      const { copy, takenAt } = readEntry(told)
      const parts = this.#keyOf(incarnation, copy, 'parts')
      const [texts, counters] = await Promise.all([
        this.#database.readPage(parts).then((page) => this.#database.readPages(parts, page)),
        this.#database.read(['HGETALL', this.#keyOf(incarnation, copy, 'counters')]),
      ])
      // A copy never changes. It is complete if it still exists after the reading.
      if ((await find()) !== told) continue
      // A server that evicts keys may have evicted it.
      if (texts.size === 0) {
        const message = `The store lacks the key ${parts} of the snapshot "${name}": it was deleted, or evicted`
        throw new StoreError('damaged', `${message}; delete the snapshot`)
      }
      const state = joinParts(texts, this.#database.settings)
      return { incarnation: Number(incarnation), takenAt, state, counters: readCounters(readTexts(counters)) }
    }
    throw new StoreError('unavailable', 'Others replace the snapshot faster than it can be read')
  }

  /** The hashes of all keys that a snapshot could restore. */
  async keyHashes(incarnation: string): Promise<Set<string> | Gone> {
    const entries = await this.#entries(incarnation)
    if (entries === GONE) return GONE
    const texts = await Promise.all(
      entries.map(([, { copy }]) => this.#database.read(['HGET', this.#keyOf(incarnation, copy, 'parts'), '.keys'])),
    )
    // A snapshot may be deleted meanwhile.
    const lists = texts.flatMap((text) => (typeof text === 'string' ? [JSON.parse(text) as { hash: string }[]] : []))
    return new Set(lists.flatMap((keys) => keys.map(({ hash }) => hash)))
  }

  async delete(incarnation: string, name: string): Promise<boolean | Gone> {
    const [outcome] = await this.#database.callOnce('delete_snapshot', incarnation, [encodeId(name)])
    return outcome === 'gone' ? GONE : outcome === 'ok'
  }

  async #entries(incarnation: string): Promise<[name: string, entry: SnapshotRecord][] | Gone> {
    // The list comes first: if the account is there after it, the list was that of the account.
    const listing = this.#database.read(['HGETALL', accountKey(this.#database.prefix, incarnation, 'snapshots')])
    const [told, version] = await Promise.all([listing, this.#readVersion(incarnation)])
    if (version === null) return GONE
    const entries = readTexts(told).map(([name, text]) => [decodeId(name), readEntry(text)] as [string, SnapshotRecord])
    return entries.sort(([, one], [, other]) => one.number - other.number)
  }

  #readVersion(incarnation: string) {
    return this.#database.read(['HGET', accountKey(this.#database.prefix, incarnation, 'head'), '#v'])
  }

  #keyOf(incarnation: string, copy: string, part: 'parts' | 'counters'): string {
    return accountKey(this.#database.prefix, incarnation, `snapshot:${copy}:${part}`)
  }
}

/** What the function `take_snapshot` writes. */
function readEntry(text: string): SnapshotRecord {
  const [number, copy = '', takenAt, domains, groups] = text.split(' ')
  return {
    number: Number(number),
    copy,
    takenAt: Number(takenAt),
    domains: Number(domains),
    groups: Number(groups),
  }
}

function summarize(name: string, { takenAt, domains, groups }: SnapshotRecord): SnapshotSummary {
  return { name, takenAt, domains, groups }
}
