import { isUtf8 } from 'node:buffer'
import { basename } from 'node:path'
import type { Contract } from '../../contract/contract.ts'
import { isObject, type Json, readJson } from '../../ground/json.ts'
import { shorten } from '../../ground/show.ts'
import { redactTarget } from '../../journal/redaction/redaction.ts'
import type { Credentials, Exchange } from '../exchange.ts'
import { type HeaderFields, Keys, readCredentials, readFields, redactBody } from '../keys.ts'
import { changesSomething } from '../reading.ts'
import {
  type Aside,
  asideOf,
  fieldOf,
  fieldsOf,
  requestBodyOf,
  requestFieldsOf,
  requestLineOf,
  responseBodyOf,
  spanOf,
  statusOf,
  type TimeSpan,
} from './entry.ts'
import type { Extent, FoundEntry } from './entry-scanner.ts'
import { LEFT_OUT } from './entry-writer.ts'
import { RecordedFile } from './recorded-file.ts'
import { HarError, ServiceSearch, splitUrl } from './service.ts'

/** How many exchanges of recordings are judged. */
const MOST_EXCHANGES = 1_000_000
/** How many entries that cannot be read are described. */
const DESCRIBED = 3
/** The most characters of an X-Request-Id that identifies an exchange. */
const LONGEST_ID = 200

export interface HarOptions {
  contract: Contract
  /** The base URL of the service; without it, it is guessed. */
  baseUrl?: string | undefined
  /** Reports how many bytes of all bytes were read. */
  onProgress?(read: number, total: number): void
  signal?: AbortSignal | undefined
}

/** What recordings contain beside exchanges with the service. */
export interface RecordingCounts extends Record<Aside, number> {
  /** Requests to other hosts, and to other paths of its host. */
  elsewhere: number
  /** Entries that cannot be read. They may be requests to the service. */
  lost: number
  /** Sentences about the first of these problems. */
  problems: string[]
  /** Sentences about files that could be read only up to a broken place. */
  broken: string[]
  /** Exchanges above the limit. */
  left: number
}

/** The next exchange of a recording. */
export interface RecordedStep {
  exchange: Exchange
  /** Whether an exchange before it is missing that may have changed the account. */
  isAfterGap: boolean
}

/** An exchange, with only the data that sorting all exchanges needs. */
interface ExchangePlace extends TimeSpan, Extent {
  file: RecordedFile
  /** The base URL of the service that it may belong to. */
  service: string
  number: number
  mayChange: boolean
  isAfterGap: boolean
}

/**
 * Recordings of one service, in HAR 1.2 files. They are read twice: first to find the exchanges, then to read each in
 * the order of time. So only some numbers of each exchange and a single entry are kept in memory. The caller must close
 * it.
 */
export class HarRecording {
  /** Absent if no request went to a path of the contract. */
  readonly baseUrl: string | undefined
  readonly tally: RecordingCounts
  readonly #places: readonly ExchangePlace[]
  readonly #found: Finder
  readonly #files: readonly RecordedFile[]

  private constructor(found: Finder, files: readonly RecordedFile[]) {
    this.#found = found
    this.#files = files
    const baseUrl = found.search.conclude()
    this.baseUrl = baseUrl
    this.#places = found.places.filter(({ service }) => service === baseUrl).sort((one, other) => one.at - other.at)
    const asides = found.asides.get(baseUrl ?? '') ?? NO_ASIDES
    const { preflight, cache, fulfilled } = asides
    this.tally = {
      ...found.tally,
      ...asides,
      elsewhere: found.requests - this.#places.length - preflight - cache - fulfilled - found.tally.left,
    }
  }

  /** @throws HarError for files that are no recordings of the service */
  static async open(paths: readonly string[], options: HarOptions): Promise<HarRecording> {
    const files: RecordedFile[] = []
    try {
      for (const path of paths) files.push(await RecordedFile.open(path))
      const finder = new Finder(options)
      await finder.take(files)
      return new HarRecording(finder, files)
    } catch (error) {
      await closeAll(files)
      throw error
    }
  }

  /** How many exchanges there are. */
  get size(): number {
    return this.#places.length
  }

  /** The hosts that requests went to, as a sentence. */
  get hosts(): string {
    return this.#found.search.describeHosts()
  }

  /** All keys that were found. No exchange contains any of them, except short ones in a body: they may be words. */
  get secrets(): readonly string[] {
    return this.#found.keys.secrets
  }

  /** The exchanges in the order of their start. They are read one at a time. */
  async *exchanges(): AsyncGenerator<RecordedStep, void, undefined> {
    const { signal, contract } = this.#found.options
    const overlaps = findOverlaps(this.#places)
    for (const [index, place] of this.#places.entries()) {
      signal?.throwIfAborted()
      const entry = readJson((await place.file.read(place)).toString())
      const url = isObject(entry) ? splitUrl(requestLineOf(entry)?.url ?? '') : undefined
      const rest = url && this.#found.search.restOf(url)
      if (!isObject(entry) || rest === undefined) {
        throw new HarError(`${shorten(place.file.path)}: The file has changed while it was read.`)
      }
      const exchange = await this.#readExchange(entry, place, contract.basePath + rest)
      yield { exchange: { ...exchange, overlaps: overlaps[index] === true }, isAfterGap: place.isAfterGap }
    }
  }

  close(): Promise<void> {
    return closeAll(this.#files)
  }

  async #readExchange(entry: Json, place: ExchangePlace, target: string): Promise<Omit<Exchange, 'overlaps'>> {
    const { at, until, number, file } = place
    const { keys } = this.#found
    const request = isObject(entry['request']) ? entry['request'] : {}
    const response = isObject(entry['response']) ? entry['response'] : {}
    const method = String(request['method'])
    const status = statusOf(response)
    const fields = { request: requestFieldsOf(request), response: fieldsOf(response) }
    const redact = keys.redactorFor({ target, fields: [...fields.request, ...fields.response] })
    const readAttached = (attached: string) => file.readAttached(attached)
    const headers = readFields(fields.response, redact)
    const name = headers['x-request-id'] ?? ''
    const ordinal = `${this.#files.length > 1 ? `${basename(file.path)} ` : ''}entry ${number}`
    // No service sends a response without header fields, so the recorder has left them out.
    const hasResponse = status !== undefined && (fields.response.length > 0 || file.isOwn)
    return {
      id: name !== '' && name.length <= LONGEST_ID ? name : ordinal,
      at,
      until,
      request: {
        method,
        target: redactTarget(target, redact),
        headers: readFields(fields.request, redact),
        credentials: credentialsOf(fieldsOf(request), file, keys),
        body: redactBody(await requestBodyOf(request, readAttached), redact),
      },
      response: hasResponse
        ? {
            status,
            headers,
            body: redactBody(await responseBodyOf(response, { method, status }, readAttached), redact),
          }
        : undefined,
    }
  }
}

async function closeAll(files: readonly RecordedFile[]): Promise<void> {
  await Promise.all(files.map((file) => file.close()))
}

/** Whether each exchange overlaps with another one that may change the account. The exchanges are in order of time. */
function findOverlaps(places: readonly ExchangePlace[]): readonly boolean[] {
  const overlaps = new Array<boolean>(places.length).fill(false)
  // The order within a millisecond is known only within a file.
  const isBefore = (end: number, start: number, isSameFile: boolean) => (isSameFile ? end <= start : end < start)
  const ends = new Map<RecordedFile, number>()
  for (const [index, { at, over, mayChange, file }] of places.entries()) {
    for (const [other, end] of ends) if (!isBefore(end, at, other === file)) overlaps[index] = true
    if (mayChange) ends.set(file, Math.max(over, ends.get(file) ?? over))
  }
  const starts = new Map<RecordedFile, number>()
  for (const [index, { at, over, mayChange, file }] of [...places.entries()].reverse()) {
    for (const [other, start] of starts) if (!isBefore(over, start, other === file)) overlaps[index] = true
    if (mayChange) starts.set(file, at)
  }
  return overlaps
}

function credentialsOf(fields: HeaderFields, file: RecordedFile, keys: Keys): Credentials {
  if (!file.isOwn) return file.isSanitised || fields.length === 0 ? { kind: 'unknown' } : keys.credentialsOf(fields)
  const written = fieldOf(fields, 'authorization')
  if (written === undefined) return { kind: 'none' }
  // Each file names its keys independently, so the same name in another file may be another key.
  const read = readCredentials(written, (name) => keys.renameKey(file.path, name))
  return read ?? keys.credentialsOf(fields)
}

const NO_ASIDES: Readonly<Record<Aside, number>> = { preflight: 0, cache: 0, fulfilled: 0 }

/** The first pass over all files. */
class Finder {
  readonly keys = new Keys()
  readonly options: HarOptions
  readonly search: ServiceSearch
  readonly places: ExchangePlace[] = []
  /** By the base URL of the service. */
  readonly asides = new Map<string, Readonly<Record<Aside, number>>>()
  readonly tally = { lost: 0, problems: [] as string[], broken: [] as string[], left: 0 }
  /** All requests with a time. */
  requests = 0
  /** The file in which something was lost since the latest exchange, if any. */
  #gapIn: RecordedFile | undefined

  constructor(options: HarOptions) {
    this.options = options
    const { basePath, routes } = options.contract
    this.search = new ServiceSearch(basePath, routes.keys(), options.baseUrl)
  }

  async take(files: readonly RecordedFile[]): Promise<void> {
    const { signal, onProgress } = this.options
    const total = files.reduce((sum, { size }) => sum + size, 0)
    let read = 0
    const onRead = (bytes: number) => {
      read += bytes
      onProgress?.(read, total)
    }
    for (const file of files) {
      const problem = await file.scan((entry) => this.#takeEntry(entry, file), { signal, onRead })
      if (problem !== undefined) this.tally.broken.push(problem)
    }
  }

  async #takeEntry({ number, problem, ...extent }: FoundEntry, file: RecordedFile): Promise<void> {
    const bytes = problem === undefined ? await file.read(extent) : undefined
    const isForeign = bytes !== undefined && !isUtf8(bytes)
    const entry = bytes && readJson(bytes.toString())
    const line = isObject(entry) ? requestLineOf(entry) : undefined
    const lose = (reason: string, count?: number) =>
      this.#lose(`${shorten(file.path)}: Entry ${number} ${reason}.`, file, count)
    if (isForeign) return lose('is not UTF-8')
    if (!isObject(entry)) return lose(problem ?? 'is not valid JSON')
    if (line === undefined) return lose('has no request with a method and a URL')
    const { [LEFT_OUT]: missing } = entry
    if (file.isOwn && Number.isSafeInteger(missing) && Number(missing) >= 1)
      lose(`comes after ${missing} that were not recorded, because the disk was too slow`, Number(missing))
    const url = splitUrl(line.url)
    const service = url && this.search.note(url)
    this.requests++
    if (service === undefined) return
    const aside = asideOf(entry, line.method)
    if (aside !== undefined) {
      const before = this.asides.get(service) ?? NO_ASIDES
      this.asides.set(service, { ...before, [aside]: before[aside] + 1 })
      return
    }
    const span = spanOf(entry)
    if (span === undefined) {
      this.requests--
      return lose('does not say when its request was sent')
    }
    if (this.places.length >= MOST_EXCHANGES) {
      this.tally.left++
      this.#gapIn = file
      return
    }
    const fields = fieldsOf(entry['request'])
    if (fieldOf(fields, 'authorization') !== undefined) {
      file.isSanitised = false
      // All keys must be known before any exchange is shown, because an earlier exchange may contain a key.
      if (!file.isOwn) this.keys.credentialsOf(fields)
    }
    const mayChange = changesSomething(line.method)
    this.places.push({ file, service, ...extent, number, mayChange, isAfterGap: this.#gapIn === file, ...span })
    this.#gapIn = undefined
  }

  /** Marks the exchange before it too, because entries need not be in order of time. */
  #lose(problem: string, file: RecordedFile, count = 1): void {
    this.#gapIn = file
    const latest = this.places.at(-1)
    if (latest?.file === file) latest.isAfterGap = true
    this.tally.lost += count
    if (this.tally.problems.length < DESCRIBED) this.tally.problems.push(problem)
  }
}
