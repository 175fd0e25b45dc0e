import { joinParts } from '../store/parts.ts'
import type { FormerAccount, SnapshotOutcome, SnapshotRequest, SnapshotSummary } from '../store/store.ts'
import { StoreError } from '../store/store-error.ts'
import { GONE, type Gone } from './account-steps.ts'
import { LARGE_DEADLINE } from './connection.ts'
import { readCounters } from './counter-texts.ts'
import { newOperation, type RedisDatabase, readTexts } from './database.ts'
import { accountKeys, decodeId, encodeId, snapshotKey, snapshotKeys } from './keys.ts'

/** Means that the name stands for another copy than expected. */
class OtherCopy {
  readonly operation: string

  constructor(operation: string) {
    this.operation = operation
  }
}

/** How often a command is repeated because other callers were faster. */
const ATTEMPTS = 20

/** A snapshot with the operation that made its copy. That operation is part of the copy's key names. */
interface SnapshotRecord extends Omit<SnapshotSummary, 'name'> {
  /** The ordinal of the snapshot among all snapshots of the account. */
  number: number
  operation: string
}

/**
 * The snapshots of accounts. The server copies the account, so that it is not sent. A script must name all keys that it
 * uses, but only the server knows the copy behind a name. So a script reports an unexpected copy, and is run again.
 */
export class RedisSnapshots {
  readonly #database: RedisDatabase

  constructor(database: RedisDatabase) {
    this.#database = database
  }

  /** `mark` records that the account is going to be changed for the first time; `false` if it is gone. */
  take(
    incarnation: string,
    { name, replace, limit }: SnapshotRequest,
    mark: () => Promise<boolean>,
  ): Promise<SnapshotOutcome | Gone> {
    let isMarked = false
    return this.#insist<SnapshotOutcome | Gone>(async (replaced) => {
      // A new operation for each attempt, because the server remembers which commands it must not run any more.
      const operation = newOperation()
      const flags = [replace, isMarked].map((flag) => (flag ? '1' : '0'))
      const args = [encodeId(name), `${limit}`, this.#database.now, replaced, ...flags]
      const keys = this.#keysOf(incarnation, operation, replaced)
      const reply = await this.#database.runOnce('take-snapshot', keys, operation, args, LARGE_DEADLINE)
      const [outcome, told] = reply
      if (outcome === 'gone') return GONE
      if (outcome === 'unmarked') {
        isMarked = await mark()
        return isMarked ? new OtherCopy(replaced) : GONE
      }
      if (outcome === 'taken' || outcome === 'too-many') return { ok: false, reason: outcome }
      if (outcome !== 'ok') return new OtherCopy(told as string)
      return { ok: true, snapshot: summarize(name, readEntry(told as string)) }
    })
  }

  async list(incarnation: string): Promise<SnapshotSummary[] | Gone> {
    const entries = await this.#entries(incarnation)
    return entries === GONE ? GONE : entries.map(([name, entry]) => summarize(name, entry))
  }

  async read(incarnation: string, name: string): Promise<(FormerAccount & { takenAt: number }) | undefined | Gone> {
    const { prefix, settings } = this.#database
    const [meta = ''] = accountKeys(prefix, incarnation)
    const find = () => this.#database.read(['HGET', snapshotKey(prefix, incarnation), encodeId(name)])
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const [version, told] = await Promise.all([this.#database.read(['HGET', meta, 'version']), find()])
      if (version === null) return GONE
      if (typeof told !== 'string') return undefined
      const { operation, takenAt } = readEntry(told)
      const [parts = '', ...counters] = snapshotKeys(prefix, incarnation, operation)
      const [texts, quotas, tallies] = await Promise.all([
        this.#database.readPage(parts).then((page) => this.#database.readPages(parts, page)),
        ...counters.map((key) => this.#database.read(['HGETALL', key])),
      ])
      // A copy never changes. It is complete if it still exists after the reading.
      if ((await find()) !== told) continue
      // A server that evicts keys may have evicted it.
      if (texts.size === 0) {
        const message = `The store lacks the key ${parts} of the snapshot "${name}": it was deleted, or evicted`
        throw new StoreError('damaged', `${message}; delete the snapshot`)
      }
      const state = joinParts(texts, settings)
      const counted = readCounters(readTexts(quotas), readTexts(tallies))
      return { incarnation: Number(incarnation), takenAt, state, counters: counted }
    }
    throw replacedTooOften()
  }

  /** The hashes of all keys that a snapshot could restore. */
  async keyHashes(incarnation: string): Promise<Set<string> | Gone> {
    const entries = await this.#entries(incarnation)
    if (entries === GONE) return GONE
    const texts = await Promise.all(
      entries.map(([, { operation }]) => {
        const [parts = ''] = snapshotKeys(this.#database.prefix, incarnation, operation)
        return this.#database.read(['HGET', parts, '.keys'])
      }),
    )
    // A snapshot may be deleted meanwhile.
    const lists = texts.flatMap((text) => (typeof text === 'string' ? [JSON.parse(text) as { hash: string }[]] : []))
    return new Set(lists.flatMap((keys) => keys.map(({ hash }) => hash)))
  }

  delete(incarnation: string, name: string): Promise<boolean | Gone> {
    return this.#insist<boolean | Gone>(async (copy) => {
      const args = [encodeId(name), copy]
      const keys = this.#keysOf(incarnation, copy)
      const [outcome, told] = await this.#database.runOnce('delete-snapshot', keys, newOperation(), args)
      if (outcome === 'gone') return GONE
      if (outcome === 'ok' || outcome === 'none') return outcome === 'ok'
      return new OtherCopy(told as string)
    })
  }

  /** Deletes the snapshots of an account without data, so that no call can restore one. */
  async sweep(incarnation: string, entries: readonly string[]): Promise<void> {
    if (entries.length === 0) return
    const { prefix, connection } = this.#database
    const copies = entries.flatMap((text) => snapshotKeys(prefix, incarnation, readEntry(text).operation))
    await connection.send(['UNLINK', ...copies, snapshotKey(prefix, incarnation)], { repeatable: true })
  }

  async #entries(incarnation: string): Promise<[name: string, entry: SnapshotRecord][] | Gone> {
    const { prefix } = this.#database
    const [meta = ''] = accountKeys(prefix, incarnation)
    // The list comes first: if the account is there after it, the list was that of the account.
    const listing = this.#database.read(['HGETALL', snapshotKey(prefix, incarnation)])
    const [told, version] = await Promise.all([listing, this.#database.read(['HGET', meta, 'version'])])
    if (version === null) return GONE
    const entries = readTexts(told).map(([name, text]) => [decodeId(name), readEntry(text)] as [string, SnapshotRecord])
    return entries.sort(([, one], [, other]) => one.number - other.number)
  }

  /** Repeats the action with the copy that the server names, until that is the expected copy. */
  async #insist<Result>(act: (copy: string) => Promise<Result | OtherCopy>): Promise<Result> {
    let expected = ''
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const result = await act(expected)
      if (!(result instanceof OtherCopy)) return result
      expected = result.operation
    }
    throw replacedTooOften()
  }

  /** The keys of the account and of these copies. An empty text stands for no copy. */
  #keysOf(incarnation: string, ...copies: readonly string[]): string[] {
    const { prefix } = this.#database
    return [
      ...[...accountKeys(prefix, incarnation), snapshotKey(prefix, incarnation)],
      ...copies.flatMap((copy) => (copy === '' ? [] : snapshotKeys(prefix, incarnation, copy))),
    ]
  }
}

function replacedTooOften(): StoreError {
  return new StoreError('unavailable', 'Others replace the snapshot faster than it can be read')
}

/** What `take-snapshot.lua` writes. */
function readEntry(text: string): SnapshotRecord {
  const [number, operation = '', takenAt, domains, groups] = text.split(' ')
  return {
    number: Number(number),
    operation,
    takenAt: Number(takenAt),
    domains: Number(domains),
    groups: Number(groups),
  }
}

function summarize(name: string, { takenAt, domains, groups }: SnapshotRecord): SnapshotSummary {
  return { name, takenAt, domains, groups }
}
