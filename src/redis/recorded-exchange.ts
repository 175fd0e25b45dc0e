import type { Operation } from '../contract/api.ts'
import { Turns } from '../ground/turns.ts'
import type { Entry } from '../journal/entry.ts'
import type { SentExchange } from './batch.ts'
import type { StoreConnection } from './connection.ts'
import { openExchange } from './exchange-codec.ts'
import { decodeId } from './keys.ts'
import type { OrderedExchange } from './observer.ts'

/** How many exchanges of a journal are read at a time, and of how many journals. */
const PAGE = { exchanges: 200, journals: 50 }
/** In milliseconds, how long a reply may take, as many servers may start at once. */
export const READING = 5_000

/** An exchange of any server as it was recorded. */
export interface JournalExchange extends OrderedExchange {
  entry: Entry
  /** The account of its key, also if that had ended. */
  owner: string | undefined
  isViolation: boolean
  /** Its number among the violations if the store wants its explanation; else 0. */
  place: number
  /** The hash of a key that belongs to no account. */
  presented: string | undefined
}

/** An exchange at its place in the store. It is not there if it is gone or cannot be read. */
export interface PlacedExchange {
  recorded: number
  stamp: number
  exchange: JournalExchange | undefined
}

interface StreamRecord {
  recorded: number
  /** Empty for nobody. */
  incarnation: string
  /** Names and values alternate. */
  fields: readonly string[]
}

export interface ExchangeReader {
  connection: StoreConnection
  /** The beginning of all keys. */
  base: string
  operations: ReadonlyMap<string, Operation>
  /** Called with the reason if an exchange cannot be read. */
  failed(error: unknown): void
}

/** The exchanges of all accounts and of nobody up to an ordinal, in its order. @throws StoreError */
export async function readJournals(reader: ExchangeReader, upto: number): Promise<PlacedExchange[]> {
  const { connection, base } = reader
  const command = ['HVALS', `${base}all}:accounts`]
  const present = await connection.send(command, { isReadOnly: true, deadline: READING })
  // The entry without a name shows that the key is not lost.
  const incarnations = [...new Set(['', ...(present as readonly string[])])]
  const placed: PlacedExchange[] = []
  const turns = new Turns()
  for (let first = 0; first < incarnations.length; first += PAGE.journals) {
    const part = incarnations.slice(first, first + PAGE.journals)
    for (const journal of await Promise.all(part.map((each) => readJournal(reader, each, upto)))) {
      for (const record of journal) {
        const stamp = Number(fieldIn(record.fields, 's') ?? 0)
        placed.push({ recorded: record.recorded, stamp, exchange: readRecord(record, undefined, 0, reader) })
      }
      if (turns.isOver()) await turns.next()
    }
  }
  return placed.sort((one, other) => one.recorded - other.recorded)
}

/**
 * The exchanges in news in the order of the store; none if the news are an event. `held` are the exchanges if this server
 * has sent them. @throws StoreError
 */
export async function readBatch(
  fields: ReadonlyMap<string, string>,
  held: readonly SentExchange[] | undefined,
  reader: ExchangeReader,
): Promise<PlacedExchange[]> {
  const first = Number(fields.get('o'))
  const incarnations = fields.get('k')?.split(' ') ?? []
  const places = listIn(fields).map(([account, stamp = 0, place = 0], index) => ({
    ...{ recorded: first + index, stamp, place, incarnation: incarnations[Number(account) - 1] ?? '' },
  }))
  const ranges = new Map<string, { from: number; upto: number }>()
  if (held === undefined) {
    for (const { recorded, incarnation } of places) {
      ranges.set(incarnation, { from: ranges.get(incarnation)?.from ?? recorded, upto: recorded })
    }
  }
  const read = [...ranges].map(([incarnation, { from, upto }]) => readRange(reader, incarnation, from, upto))
  const found = new Map((await Promise.all(read)).flat().map((record) => [record.recorded, record]))
  return places.map(({ recorded, stamp, place, incarnation }, index) => {
    const sent = held?.[index]
    const record = sent === undefined ? found.get(recorded) : { recorded, incarnation, fields: sent.fields }
    return { recorded, stamp, exchange: record && readRecord(record, sent, place, reader) }
  })
}

/** Of each exchange in news: the number of its account, its stamp, and its place among the violations. */
function listIn(fields: ReadonlyMap<string, string>): number[][] {
  const list = fields.get('l') ?? ''
  return list === '' ? [] : list.split(',').map((words) => words.split(' ').map(Number))
}

/** The exchange in a record. `a` is its account, `e` its text, `w` its wire data, `v` says that it is a violation. */
function readRecord(
  { recorded, incarnation, fields }: StreamRecord,
  sent: SentExchange | undefined,
  place: number,
  { operations, failed }: ExchangeReader,
): JournalExchange | undefined {
  try {
    const [id, wire, own] = [fieldIn(fields, 'a'), fieldIn(fields, 'w'), sent?.own]
    const known = id === undefined ? undefined : decodeId(id)
    const account = incarnation === '' ? undefined : known
    return {
      entry: openExchange(fieldIn(fields, 'e') ?? '', { recorded, account }, operations),
      ...{
        account,
        incarnation,
        isOrphan: account !== known,
        own,
        place,
        isViolation: fieldIn(fields, 'v') !== undefined,
      },
      owner: known ?? own?.principal?.account.id,
      wire: own === undefined && wire !== undefined ? JSON.parse(wire) : own?.wire,
      presented: fieldIn(fields, 'p'),
    }
  } catch (error) {
    failed(error)
    return undefined
  }
}

async function readJournal(reader: ExchangeReader, incarnation: string, upto: number): Promise<StreamRecord[]> {
  const records: StreamRecord[] = []
  for (let from = 0; ; from = (records.at(-1)?.recorded ?? 0) + 1) {
    const page = await readRange(reader, incarnation, from, upto)
    for (const record of page) records.push(record)
    if (page.length < PAGE.exchanges) return records
  }
}

async function readRange(
  { connection, base }: ExchangeReader,
  incarnation: string,
  from: number,
  upto: number,
): Promise<StreamRecord[]> {
  const key = incarnation === '' ? `${base}all}:journal` : `${base}${incarnation}}:journal`
  const command = ['XRANGE', key, `${from}`, `${upto}`, 'COUNT', `${PAGE.exchanges}`]
  const reply = await connection.send(command, { isReadOnly: true, deadline: READING })
  return (reply as readonly [string, readonly string[]][]).map(([id, fields]) => {
    return { recorded: Number.parseInt(id, 10), incarnation, fields }
  })
}

function fieldIn(fields: readonly string[], name: string): string | undefined {
  for (let index = 0; index < fields.length; index += 2) if (fields[index] === name) return fields[index + 1]
  return undefined
}
