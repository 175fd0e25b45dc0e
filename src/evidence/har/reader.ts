import { type FileHandle, open, stat } from 'node:fs/promises'
import { basename, dirname, resolve, sep } from 'node:path'
import type { Contract } from '../../contract/contract.ts'
import { isObject, type Json, readJson } from '../../ground/json.ts'
import { shorten } from '../../ground/show.ts'
import { Turns } from '../../ground/turns.ts'
import type { Redact } from '../../journal/redaction.ts'
import type { Credentials, Exchange, SeenBody } from '../exchange.ts'
import { type Fields, Keys, readCredentials, readFields, redactTarget } from '../keys.ts'
/** How HAR files of this program name their creator. */
import {
  type Aside,
  asideOf,
  fieldOf,
  fieldsOf,
  LARGEST_BODY,
  type ReadAttached,
  requestBodyOf,
  requestLineOf,
  responseBodyOf,
  type Span,
  spanOf,
  statusOf,
} from './entry.ts'
import { EntryScanner, type Extent } from './entry-scanner.ts'
import { LEFT_OUT } from './entry-writer.ts'
import { HarError, ServiceSearch, type SplitUrl, UrlSplitter } from './service.ts'
import { CREATOR } from './writer.ts'
/** How many exchanges of recordings are judged. */
export const MOST_EXCHANGES = 1_000_000
/** In bytes: what is read of a file at a time, to find its entries and to read them again. */
const PIECE = 1 << 20
const WINDOW = 64 << 10
/** How many entries that cannot be read are described. */
const DESCRIBED = 3
const LONGEST_ID = 200

export interface HarOptions {
  contract: Contract
  /** The base URL of the service; where it is not given, it is guessed. */
  baseUrl?: string | undefined
  /** Says how many bytes of how many are looked at. */
  onProgress?(read: number, total: number): void
  signal?: AbortSignal | undefined
}

/** What recordings hold, apart from exchanges with the service. */
export interface Tally {
  /** Requests to other hosts, and to other paths of its host. */
  elsewhere: number
  /** Requests of a browser that asks whether a page may call the service. */
  preflight: number
  /** Responses that came out of the cache of a browser, and those that a test made up. */
  cache: number
  fulfilled: number
  /** Entries that cannot be read. They may be requests to the service. */
  lost: number
  /** What is wrong with the first of them, in sentences. */
  problems: readonly string[]
  /** Files of which only the beginning could be read, as sentences. */
  broken: readonly string[]
  /** Exchanges beyond the number that is judged. */
  left: number
}

/** Recordings of one service. To be closed. */
export interface Recording {
  /** Absent where no request went to a path of the contract. */
  baseUrl: string | undefined
  /** How many exchanges there are. */
  size: number
  tally: Tally
  /** Where requests went, as a sentence. */
  hosts: string
  /** All keys that were found. None of them is in an exchange. */
  secrets: readonly string[]
  /** The exchanges in the order in which they began. They are read one at a time. */
  exchanges(): AsyncGenerator<RecordedStep, void, undefined>
  close(): Promise<void>
}

/** The next exchange of a recording. */
export interface RecordedStep {
  exchange: Exchange
  /** Whether something before it is missing, which may have changed the account. */
  isAfterGap: boolean
}

/** An exchange, as far as it is needed to put all of them in order. */
interface Place extends Span, Extent {
  file: RecordedFile
  number: number
  mayChange: boolean
  isAfterGap: boolean
}

interface RecordedFile {
  path: string
  handle: FileHandle
  size: number
  isOwn: boolean
  /** Whether no request shows who sent it, because the recorder takes that out. */
  isSanitised: boolean
}

/**
 * Reads HAR 1.2 files, as recorders write them. It goes through them twice: to find the exchanges, and to read each in the
 * order of time. So it keeps some numbers of each, and a single entry. @throws HarError for files that are no recordings
 * of the service
 */
export async function openRecording(paths: readonly string[], options: HarOptions): Promise<Recording> {
  const files: RecordedFile[] = []
  const close = async () => void (await Promise.all(files.map(({ handle }) => handle.close())))
  try {
    for (const path of paths) files.push(await openFile(path))
    const survey = new Survey(options)
    await survey.take(files)
    const baseUrl = survey.conclude()
    const places = survey.placesAt(baseUrl)
    const { tally, keys, hosts } = survey
    const terms = { baseUrl, base: options.contract.basePath, keys, named: files.length > 1 }
    return {
      baseUrl,
      size: places.length,
      tally,
      hosts,
      secrets: keys.secrets,
      exchanges: () => readExchanges(places, terms, options),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** @throws HarError for what cannot be read again and again. */
async function openFile(path: string): Promise<RecordedFile> {
  const name = shorten(path)
  try {
    // A pipe without a writer would be waited for, so nothing is opened before it is known what it is.
    const facts = await stat(path)
    if (facts.isDirectory()) throw new HarError(`${name}: This is a folder; give the HAR files in it.`)
    if (!facts.isFile())
      throw new HarError(`${name}: This is no regular file; save the recording in one, and give that.`)
    const handle = await open(path, 'r')
    return { path, handle, size: facts.size, isOwn: false, isSanitised: true }
  } catch (error) {
    if (error instanceof HarError) throw error
    throw new HarError(`${name}: The file cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

/** The first way through all files. */
class Survey {
  readonly keys = new Keys()
  readonly #options: HarOptions
  readonly #urls = new UrlSplitter()
  readonly #search: ServiceSearch
  readonly #given: SplitUrl | undefined
  /** By base URL. */
  readonly #places = new Map<string, Place[]>()
  readonly #asides = new Map<string, Record<Aside, number>>()
  #requests = 0
  #count = 0
  /** Whether something was lost since the latest exchange, and in which file. */
  #gapIn: RecordedFile | undefined
  #latest: Place | undefined
  readonly tally = {
    elsewhere: 0,
    preflight: 0,
    cache: 0,
    fulfilled: 0,
    lost: 0,
    problems: [] as string[],
    broken: [] as string[],
    left: 0,
  }

  constructor(options: HarOptions) {
    this.#options = options
    const { basePath, routes } = options.contract
    this.#search = new ServiceSearch(basePath, routes.keys())
    this.#given = options.baseUrl === undefined ? undefined : this.#urls.split(withoutSlash(options.baseUrl))
  }

  async take(files: readonly RecordedFile[]): Promise<void> {
    const total = files.reduce((sum, { size }) => sum + size, 0)
    let read = 0
    for (const file of files) {
      await this.#scan(file, (bytes) => {
        read += bytes
        this.#options.onProgress?.(read, total)
      })
    }
  }

  /** The base URL of the service. @throws HarError */
  conclude(): string | undefined {
    const { baseUrl } = this.#options
    return baseUrl === undefined ? this.#search.conclude() : withoutSlash(baseUrl)
  }

  get hosts(): string {
    return this.#search.describeHosts()
  }

  /** The exchanges with a service in order of time. Everything else is counted. */
  placesAt(baseUrl = ''): readonly Place[] {
    const service = this.#given === undefined ? baseUrl : GIVEN
    const places = this.#places.get(service) ?? []
    const asides = this.#asides.get(service) ?? NO_ASIDES
    Object.assign(this.tally, asides)
    const known = places.length + asides.preflight + asides.cache + asides.fulfilled
    this.tally.elsewhere = this.#requests - known - this.tally.left
    return places.sort((one, other) => one.at - other.at)
  }

  async #scan(file: RecordedFile, onRead: (bytes: number) => void): Promise<void> {
    const name = shorten(file.path)
    const scanner: EntryScanner = new EntryScanner({
      onEntry: (bytes, extent, number) => {
        file.isOwn ||= isOwn(scanner.creator)
        this.#takeEntry(readJson(bytes.toString()), extent, number, file)
      },
      onLostEntry: (reason, number) => this.#lose(`${name}: Entry ${number} ${reason}.`, file),
    })
    // Two pieces in turn would not be faster: to look at one takes longer than to read it.
    const piece = Buffer.allocUnsafe(PIECE)
    const turns = new Turns()
    let isFirst = true
    for (;;) {
      this.#options.signal?.throwIfAborted()
      const { bytesRead } = await file.handle.read(piece, 0, PIECE, null)
      if (bytesRead === 0) break
      onRead(bytesRead)
      const part = piece.subarray(0, bytesRead)
      if (isFirst) refuseForeign(part, name)
      isFirst = false
      if (!scanner.push(part)) break
      if (turns.isOver()) await turns.next()
    }
    if (isFirst) throw new HarError(`${name}: The file is empty.`)
    const end = scanner.end()
    if (!scanner.hasEntries || (end !== undefined && scanner.count === 0)) {
      const reason = end === undefined ? 'it has no list log.entries' : `${end.reason} (byte ${end.offset + 1})`
      throw new HarError(`${name}: This is no HAR file: ${reason}.`)
    }
    if (end !== undefined) {
      this.tally.broken.push(
        `${name} is broken at byte ${end.offset + 1}: ${end.reason}. What comes behind is not judged.`,
      )
    }
  }

  #takeEntry(entry: unknown, { offset, length }: Extent, number: number, file: RecordedFile): void {
    const line = isObject(entry) ? requestLineOf(entry) : undefined
    const where = `${shorten(file.path)}: Entry ${number}`
    if (!isObject(entry) || line === undefined) {
      const reason = isObject(entry) ? 'has no request with a method and a URL' : 'is not valid JSON'
      this.#lose(`${where} ${reason}.`, file)
      return
    }
    if (file.isOwn) this.#noteLeftOut(entry, where, file)
    this.#requests++
    const url = this.#urls.split(line.url)
    const service = url === undefined ? undefined : this.#serviceOf(url)
    if (service === undefined) return
    const aside = asideOf(entry, line.method)
    if (aside !== undefined) {
      const asides = this.#asides.get(service) ?? { ...NO_ASIDES }
      asides[aside]++
      this.#asides.set(service, asides)
      return
    }
    const span = spanOf(entry)
    if (span === undefined) {
      this.#requests--
      this.#lose(`${where} does not say when its request was sent.`, file)
      return
    }
    if (++this.#count > MOST_EXCHANGES) {
      this.tally.left++
      this.#gapIn = file
      return
    }
    const fields = fieldsOf(entry['request'])
    if (fieldOf(fields, 'authorization') !== undefined) {
      file.isSanitised = false
      // Before any exchange is shown, because a key may stand in one that came before.
      if (!file.isOwn) this.keys.credentialsOf(fields)
    }
    const mayChange = !['GET', 'HEAD', 'OPTIONS'].includes(line.method)
    const places = this.#places.get(service) ?? []
    const place = { file, offset, length, number, mayChange, isAfterGap: this.#gapIn === file, ...span }
    places.push(place)
    this.#gapIn = undefined
    this.#latest = place
    this.#places.set(service, places)
  }

  #serviceOf(url: SplitUrl): string | undefined {
    const guessed = this.#search.note(url)
    if (this.#given === undefined) return guessed
    const { origin, target } = this.#given
    return url.origin === origin && restBelow(withoutSlash(target), url.target) !== undefined ? GIVEN : undefined
  }

  /** The disk was too slow for our recorder. */
  #noteLeftOut({ [LEFT_OUT]: count }: Json, where: string, file: RecordedFile): void {
    if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 1) return
    this.#lose(`${where} comes after ${count} that were not recorded, because the disk was too slow.`, file, count)
  }

  /** The exchange before is marked too, because entries need not be in order of time. */
  #lose(problem: string, file: RecordedFile, count = 1): void {
    this.#gapIn = file
    if (this.#latest?.file === file) this.#latest.isAfterGap = true
    this.tally.lost += count
    if (this.tally.problems.length < DESCRIBED) this.tally.problems.push(problem)
  }
}

/** Stands for the service that the user named. */
const GIVEN = ''
const NO_ASIDES: Readonly<Record<Aside, number>> = { preflight: 0, cache: 0, fulfilled: 0 }

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '')
}

/** What a target has below a path; `undefined` where it is not below it. */
function restBelow(path: string, target: string): string | undefined {
  if (!target.startsWith(path)) return undefined
  const rest = target.slice(path.length)
  return rest === '' || rest.startsWith('/') || rest.startsWith('?') ? rest : undefined
}

function isOwn(creator: string | undefined): boolean {
  const said = creator === undefined ? undefined : readJson(creator)
  return isObject(said) && said['name'] === CREATOR
}

/** What files begin with that people take for a recording, in Latin-1. */
const FOREIGN: readonly [beginning: string, reason: string][] = [
  ['\x1f\x8b', 'it is compressed with gzip; unpack it first'],
  ['PK\x03\x04', 'it is a ZIP archive; unpack it first, and give the .har file in it'],
  ['\xff\xfe', 'it is written in UTF-16; save it in UTF-8'],
  ['\xfe\xff', 'it is written in UTF-16; save it in UTF-8'],
  ['%PDF', 'it is a PDF document'],
  ['<', 'it is HTML or XML'],
  ['[', 'it is a list, not an object with a log'],
]
const UTF8_MARK = '\xef\xbb\xbf'

/** Refuses what is no JSON object, and takes the mark of UTF-8 away. @throws HarError */
function refuseForeign(piece: Buffer, name: string): void {
  const beginning = piece.toString('latin1', 0, 4096)
  const isMarked = beginning.startsWith(UTF8_MARK)
  if (isMarked) piece.fill(' ', 0, UTF8_MARK.length)
  const text = (isMarked ? beginning.slice(UTF8_MARK.length) : beginning).trimStart()
  if (text.startsWith('{')) return
  const [, reason = 'it is not JSON'] = FOREIGN.find(([magic]) => text.startsWith(magic)) ?? []
  throw new HarError(`${name}: This is no HAR file: ${reason}.`)
}

/** Whether each of these overlaps with another one that may change the account. They are in order of time. */
function findOverlaps(places: readonly Place[]): readonly boolean[] {
  const overlaps = new Array<boolean>(places.length).fill(false)
  let latest = Number.NEGATIVE_INFINITY
  for (const [index, { at, over, mayChange }] of places.entries()) {
    overlaps[index] = at < latest
    if (mayChange) latest = Math.max(latest, over)
  }
  let next = Number.POSITIVE_INFINITY
  for (let index = places.length - 1; index >= 0; index--) {
    const { at, over, mayChange } = places[index] as Place
    if (next < over) overlaps[index] = true
    if (mayChange) next = at
  }
  return overlaps
}

interface Terms {
  baseUrl: string | undefined
  /** The base path of the contract. */
  base: string
  keys: Keys
  /** Whether exchanges are named by their file too. */
  named: boolean
}

async function* readExchanges(
  places: readonly Place[],
  terms: Terms,
  { signal }: HarOptions,
): AsyncGenerator<RecordedStep, void, undefined> {
  const overlaps = findOverlaps(places)
  const windows = new Map<RecordedFile, Window>()
  const urls = new UrlSplitter()
  const path = withoutSlash(urls.split(terms.baseUrl ?? '')?.target ?? '')
  for (const [index, place] of places.entries()) {
    signal?.throwIfAborted()
    const { file } = place
    const window = windows.get(file) ?? new Window(file)
    windows.set(file, window)
    const entry = readJson(await window.read(place))
    const url = isObject(entry) ? urls.split(requestLineOf(entry)?.url ?? '') : undefined
    const rest = url === undefined ? undefined : restBelow(path, url.target)
    if (!isObject(entry) || rest === undefined) {
      throw new HarError(`${shorten(file.path)}: The file has changed while it was read.`)
    }
    const circumstances = { place, overlaps: overlaps[index] === true, target: terms.base + rest, ...terms }
    yield { exchange: await readExchange(entry, circumstances), isAfterGap: place.isAfterGap }
  }
}

async function readExchange(
  entry: Json,
  { place, overlaps, target, keys, named }: Terms & { place: Place; overlaps: boolean; target: string },
): Promise<Exchange> {
  const { at, until, number, file } = place
  const request = isObject(entry['request']) ? entry['request'] : {}
  const response = isObject(entry['response']) ? entry['response'] : {}
  const method = String(request['method'])
  const status = statusOf(response)
  const fields = { request: fieldsOf(request), response: fieldsOf(response) }
  const redact = keys.redactorFor({ target, fields: [...fields.request, ...fields.response] })
  const readAttached = attachmentsOf(file)
  const headers = readFields(fields.response, redact)
  const name = headers['x-request-id']
  return {
    id:
      name !== undefined && name.length <= LONGEST_ID
        ? name
        : `${named ? `${basename(file.path)} ` : ''}entry ${number}`,
    at,
    until,
    overlaps,
    request: {
      method,
      target: redactTarget(target, redact),
      headers: readFields(fields.request, redact),
      credentials: credentialsOf(fields.request, file, keys),
      body: redactBody(await requestBodyOf(request, readAttached), redact),
    },
    // No response is without a field, so the recorder has left them out.
    response:
      status === undefined || fields.response.length === 0
        ? undefined
        : {
            status,
            headers,
            body: redactBody(await responseBodyOf(response, { method, status }, readAttached), redact),
          },
  }
}

function credentialsOf(fields: Fields, file: RecordedFile, keys: Keys): Credentials {
  if (!file.isOwn) return file.isSanitised ? { kind: 'unknown' } : keys.credentialsOf(fields)
  const written = fieldOf(fields, 'authorization')
  if (written === undefined) return { kind: 'none' }
  // Each file has named the keys anew, so the same name in another file may be another key.
  const read = readCredentials(written, (name) => keys.renameKey(file.path, name))
  return read ?? keys.credentialsOf(fields)
}

function redactBody(body: SeenBody, redact: Redact): SeenBody {
  if (!body.isKnown || body.bytes.length === 0) return body
  const text = body.bytes.toString()
  const redacted = redact(text)
  return redacted === text ? body : { isKnown: true, bytes: Buffer.from(redacted) }
}

/** Reads what a recorder has put in files of their own. They are beside the recording, or below its folder. */
function attachmentsOf({ path }: RecordedFile): ReadAttached {
  return async (name) => {
    const folder = dirname(resolve(path))
    const wanted = resolve(folder, name)
    if (!wanted.startsWith(folder.endsWith(sep) ? folder : folder + sep)) return undefined
    try {
      const facts = await stat(wanted)
      if (!facts.isFile() || facts.size > LARGEST_BODY) return undefined
      const handle = await open(wanted, 'r')
      try {
        return await handle.readFile()
      } finally {
        await handle.close()
      }
    } catch {
      return undefined
    }
  }
}

/** Reads parts of a file, most of which lie behind each other. */
class Window {
  readonly #file: RecordedFile
  readonly #bytes = Buffer.allocUnsafe(WINDOW)
  #offset = 0
  #size = 0

  constructor(file: RecordedFile) {
    this.#file = file
  }

  /** The text of an entry; less of it where the file has become shorter. */
  async read({ offset, length }: Extent): Promise<string> {
    if (length > WINDOW) {
      const { buffer, bytesRead } = await this.#file.handle.read(Buffer.allocUnsafe(length), 0, length, offset)
      return buffer.toString('utf8', 0, bytesRead)
    }
    if (offset < this.#offset || offset + length > this.#offset + this.#size) {
      const { bytesRead } = await this.#file.handle.read(this.#bytes, 0, WINDOW, offset)
      this.#offset = offset
      this.#size = bytesRead
    }
    const start = offset - this.#offset
    return this.#bytes.toString('utf8', start, Math.min(start + length, this.#size))
  }
}
