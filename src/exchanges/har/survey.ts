import type { Contract } from '../../contract/contract.ts'
import { isObject, type Json, readJson } from '../../ground/json.ts'
import { shorten } from '../../ground/show.ts'
import { Keys } from '../keys.ts'
import { changesSomething } from '../reading.ts'
import { type Aside, asideOf, fieldOf, fieldsOf, requestLineOf, spanOf, type TimeSpan } from './entry.ts'
import type { Extent, FoundEntry } from './entry-scanner.ts'
import { LEFT_OUT } from './entry-writer.ts'
import type { RecordedFile } from './recorded-file.ts'
import { restBelow, ServiceSearch, type SplitUrl, splitUrl, withoutSlash } from './service.ts'

/** How many exchanges of recordings are judged. */
export const MOST_EXCHANGES = 1_000_000
/** How many entries that cannot be read are described. */
const DESCRIBED = 3

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

/** An exchange, with only the data that sorting all exchanges needs. */
export interface ExchangePlace extends TimeSpan, Extent {
  file: RecordedFile
  number: number
  mayChange: boolean
  isAfterGap: boolean
}

/** Stands for the service that the user named. */
const GIVEN = ''
const NO_ASIDES: Readonly<Record<Aside, number>> = { preflight: 0, cache: 0, fulfilled: 0 }

/** The first pass over all files. */
export class Survey {
  readonly keys = new Keys()
  readonly #options: HarOptions
  readonly #search: ServiceSearch
  readonly #given: SplitUrl | undefined
  /** By base URL. */
  readonly #places = new Map<string, ExchangePlace[]>()
  readonly #asides = new Map<string, Record<Aside, number>>()
  #requests = 0
  #count = 0
  /** The file in which something was lost since the latest exchange, if any. */
  #gapIn: RecordedFile | undefined
  #latest: ExchangePlace | undefined
  readonly tally: RecordingCounts = { ...NO_ASIDES, elsewhere: 0, lost: 0, problems: [], broken: [], left: 0 }

  constructor(options: HarOptions) {
    this.#options = options
    const { basePath, routes } = options.contract
    this.#search = new ServiceSearch(basePath, routes.keys())
    this.#given = options.baseUrl === undefined ? undefined : splitUrl(withoutSlash(options.baseUrl))
  }

  async take(files: readonly RecordedFile[]): Promise<void> {
    const { signal, onProgress } = this.#options
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

  /** The base URL of the service. @throws HarError */
  conclude(): string | undefined {
    const { baseUrl } = this.#options
    return baseUrl === undefined ? this.#search.conclude() : withoutSlash(baseUrl)
  }

  get hosts(): string {
    return this.#search.describeHosts()
  }

  /** The exchanges with a service in order of time. Also completes the counts of everything else. */
  placesAt(baseUrl = ''): readonly ExchangePlace[] {
    const service = this.#given === undefined ? baseUrl : GIVEN
    const places = this.#places.get(service) ?? []
    const asides = this.#asides.get(service) ?? NO_ASIDES
    Object.assign(this.tally, asides)
    const known = places.length + asides.preflight + asides.cache + asides.fulfilled
    this.tally.elsewhere = this.#requests - known - this.tally.left
    return places.sort((one, other) => one.at - other.at)
  }

  async #takeEntry({ number, problem, ...extent }: FoundEntry, file: RecordedFile): Promise<void> {
    const where = `${shorten(file.path)}: Entry ${number}`
    const entry = problem === undefined ? readJson(await file.read(extent)) : undefined
    const line = isObject(entry) ? requestLineOf(entry) : undefined
    if (!isObject(entry) || line === undefined) {
      const reason = isObject(entry) ? 'has no request with a method and a URL' : (problem ?? 'is not valid JSON')
      this.#lose(`${where} ${reason}.`, file)
      return
    }
    if (file.isOwn) this.#noteLeftOut(entry, where, file)
    this.#requests++
    const url = splitUrl(line.url)
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
      // All keys must be known before any exchange is shown, because an earlier exchange may contain a key.
      if (!file.isOwn) this.keys.credentialsOf(fields)
    }
    const mayChange = changesSomething(line.method)
    const places = this.#places.get(service) ?? []
    const place = { file, ...extent, number, mayChange, isAfterGap: this.#gapIn === file, ...span }
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

  /** Our own recorder leaves exchanges out if the disk is too slow. */
  #noteLeftOut({ [LEFT_OUT]: count }: Json, where: string, file: RecordedFile): void {
    if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 1) return
    this.#lose(`${where} comes after ${count} that were not recorded, because the disk was too slow.`, file, count)
  }

  /** Marks the exchange before it too, because entries need not be in order of time. */
  #lose(problem: string, file: RecordedFile, count = 1): void {
    this.#gapIn = file
    if (this.#latest?.file === file) this.#latest.isAfterGap = true
    this.tally.lost += count
    if (this.tally.problems.length < DESCRIBED) this.tally.problems.push(problem)
  }
}
