import type { Settings } from '../../domain/settings.ts'
import { joinParts } from '../parts.ts'
import type { FormerAccount, SnapshotOutcome, SnapshotRequest, SnapshotSummary } from '../store.ts'
import { StoreError } from '../store-error.ts'
import { GONE, type Gone, newOperation } from './account-steps.ts'
import { type CommandOptions, LARGE_DEADLINE, type RedisReply, type StoreConnection } from './connection.ts'
import { readCounters, readTexts } from './counter-texts.ts'
import { accountKeys, decodeId, encodeId, snapshotKey, snapshotKeys } from './keys.ts'
import type { readScripts, ScriptName } from './scripts.ts'

/** Means that the name stands for another copy than expected. */
class OtherCopy {
  readonly operation: string

  constructor(operation: string) {
    this.operation = operation
  }
}

/** How often a command is repeated because other callers were faster. */
const ATTEMPTS = 20
/** About how many parts of a snapshot are read at a time. */
const PAGE = '10000'

/** A snapshot with the operation that made its copy. That operation is part of the copy's key names. */
interface SnapshotRecord extends Omit<SnapshotSummary, 'name'> {
  /** The ordinal of the snapshot among all snapshots of the account. */
  number: number
  operation: string
}

export interface SnapshotsOptions {
  prefix: string
  settings: Pick<Settings, 'nameComparison'>
  /** The time for scripts: an empty text if they ask the server. */
  now: () => string
}

/**
 * The snapshots of accounts. The server copies the account, so that it is not sent. A script must name all keys that it
 * uses, but only the server knows the copy behind a name. So a script reports an unexpected copy, and is run again.
 */
export class RedisSnapshots {
  readonly #connection: StoreConnection
  readonly #scripts: ReturnType<typeof readScripts>
  readonly #options: SnapshotsOptions

  constructor(connection: StoreConnection, scripts: ReturnType<typeof readScripts>, options: SnapshotsOptions) {
    this.#connection = connection
    this.#scripts = scripts
    this.#options = options
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
      const given = [
        encodeId(name),
        replace ? '1' : '0',
        `${limit}`,
        this.#options.now(),
        replaced,
        isMarked ? '1' : '0',
      ]
      const args = (attempt: number) => [operation, `${attempt}`, ...given]
      const copies = [operation, ...(replaced === '' ? [] : [replaced])]
      const reply = await this.#run('take-snapshot', incarnation, copies, args(1), {
        repeat: args,
        deadline: LARGE_DEADLINE,
      })
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
    const { prefix, settings } = this.#options
    const names = snapshotKey(prefix, incarnation)
    const find = () => this.#ask('HGET', names, encodeId(name))
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const [meta = ''] = accountKeys(prefix, incarnation)
      const [version, told] = await Promise.all([this.#ask('HGET', meta, 'version'), find()])
      if (version === null) return GONE
      if (typeof told !== 'string') return undefined
      const { operation, takenAt } = readEntry(told)
      const [parts = '', ...counters] = snapshotKeys(prefix, incarnation, operation)
      const [texts, quotas, tallies] = await Promise.all([
        this.#readPages(parts),
        ...counters.map(async (key) => readTexts(await this.#ask('HGETALL', key))),
      ])
      // A copy never changes. It is complete if it still exists after the reading.
      if ((await find()) !== told) continue
      // A server that evicts keys may have evicted it.
      if (texts.length === 0) {
        const message = `The store lacks the key ${parts} of the snapshot "${name}": it was deleted, or evicted`
        throw new StoreError('damaged', `${message}; delete the snapshot`)
      }
      const state = joinParts(texts, settings)
      const counted = readCounters(quotas ?? [], tallies ?? [])
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
        const [parts = ''] = snapshotKeys(this.#options.prefix, incarnation, operation)
        return this.#ask('HGET', parts, '.keys')
      }),
    )
    // A snapshot may be deleted meanwhile.
    const lists = texts.flatMap((text) => (typeof text === 'string' ? [JSON.parse(text) as { hash: string }[]] : []))
    return new Set(lists.flatMap((keys) => keys.map(({ hash }) => hash)))
  }

  delete(incarnation: string, name: string): Promise<boolean | Gone> {
    return this.#insist<boolean | Gone>(async (copy) => {
      const operation = newOperation()
      const args = (attempt: number) => [operation, `${attempt}`, encodeId(name), copy]
      const copies = copy === '' ? [] : [copy]
      const reply = await this.#run('delete-snapshot', incarnation, copies, args(1), { repeat: args })
      const [outcome, told] = reply
      if (outcome === 'gone') return GONE
      if (outcome === 'ok' || outcome === 'none') return outcome === 'ok'
      return new OtherCopy(told as string)
    })
  }

  /** Deletes the snapshots of an account without data, so that no call can restore one. */
  async sweep(incarnation: string, entries: readonly string[]): Promise<void> {
    if (entries.length === 0) return
    const { prefix } = this.#options
    const copies = entries.flatMap((text) => snapshotKeys(prefix, incarnation, readEntry(text).operation))
    await this.#connection.send(['UNLINK', ...copies, snapshotKey(prefix, incarnation)], { repeatable: true })
  }

  async #entries(incarnation: string): Promise<[name: string, entry: SnapshotRecord][] | Gone> {
    const [outcome, told] = await this.#run('list-snapshots', incarnation, [], [])
    if (outcome === 'gone') return GONE
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

  /** Reads a large hash page by page, so that the server can serve other clients in between. */
  async #readPages(key: string): Promise<[string, string][]> {
    const pairs = new Map<string, string>()
    let cursor = '0'
    do {
      const reply = (await this.#ask('HSCAN', key, cursor, 'COUNT', PAGE)) as readonly [string, RedisReply]
      cursor = reply[0]
      for (const [name, text] of readTexts(reply[1])) pairs.set(name, text)
    } while (cursor !== '0')
    return [...pairs]
  }

  #ask(...command: string[]): Promise<RedisReply> {
    return this.#connection.send(command, { isReadOnly: true })
  }

  async #run(
    script: ScriptName,
    incarnation: string,
    copies: readonly string[],
    args: readonly string[],
    options?: CommandOptions,
  ): Promise<readonly RedisReply[]> {
    const { prefix } = this.#options
    const keys = [
      ...[...accountKeys(prefix, incarnation), snapshotKey(prefix, incarnation)],
      ...copies.flatMap((operation) => snapshotKeys(prefix, incarnation, operation)),
    ]
    return (await this.#connection.run(this.#scripts[script], keys, args, options)) as readonly RedisReply[]
  }
}

function replacedTooOften(): StoreError {
  return new StoreError('unavailable', 'Others replace the snapshot faster than it can be read')
}

/** What `take-snapshot.lua` writes. */
function readEntry(text: string): SnapshotRecord {
  const [number, operation = '', takenAt, domains, groups] = text.split(' ')
  const [counted, time, ofDomains, ofGroups] = [number, takenAt, domains, groups].map(Number) as [
    number,
    number,
    number,
    number,
  ]
  return { number: counted, operation, takenAt: time, domains: ofDomains, groups: ofGroups }
}

function summarize(name: string, { takenAt, domains, groups }: SnapshotRecord): SnapshotSummary {
  return { name, takenAt, domains, groups }
}
