import type { Contract } from '../../contract/contract.ts'
import { isObject, type Json, readJson } from '../../ground/json.ts'
import { shorten } from '../../ground/show.ts'
import { Keys } from '../keys.ts'
import { changesSomething } from '../reading.ts'
import { hidesKey, isReplaced } from './blacked-out.ts'
import {
  type Aside,
  asideOf,
  fieldOf,
  fieldsOf,
  hidesId,
  namesServer,
  observerOf,
  requestLineOf,
  spanOf,
  statusOf,
  type TimeSpan,
} from './entry.ts'
import { LEFT_OUT } from './entry-writer.ts'
import type { HarFile } from './file.ts'
import { ServiceSearch, splitUrl } from './service.ts'

/** How many exchanges of recordings are judged. */
const MOST_EXCHANGES = 1_000_000
/** How many entries that cannot be read are described. */
const DESCRIBED = 3
export interface HarOptions {
  contract: Contract
  /** The base URL of the service; without it, it is guessed. */
  baseUrl?: string | undefined
  signal?: AbortSignal | undefined
}

/** What recordings contain beside exchanges with the service. */
export interface RecordingCounts extends Record<Aside, number> {
  /** Requests to other hosts, and to other paths of its host. */
  elsewhere: number
  /** Exchanges that another entry has already, such as that of a service worker. */
  repeated: number
  /** Entries that cannot be read. They may be requests to the service. */
  lost: number
  /** Sentences about the first of these problems. */
  problems: string[]
  /** Sentences about files that could be read only up to a broken place. */
  broken: string[]
  /** Exchanges above the limit. */
  left: number
}

/** A file, and whether it shows the key of some request. Otherwise, whoever made it has taken out all of them. */
export interface Recording extends Omit<HarFile, 'entries'> {
  hasKeys: boolean
}

/** What tells two entries about one exchange from two exchanges. */
interface ResponseFacts {
  observer: ReturnType<typeof observerOf>
  status: number | undefined
  /** The X-Request-Id of the response, if there is one and it is shown. */
  requestId: string | undefined
  hasBody: boolean
}

/** An entry that is an exchange with a service. */
export interface FoundExchange extends TimeSpan {
  recording: Recording
  /** The JSON of the entry. */
  text: string
  facts: ResponseFacts
  /** The base URL of the service that it may belong to. */
  service: string
  method: string
  /** Path and query, with the base path of the contract. */
  target: string
  number: number
  mayChange: boolean
  isAfterGap: boolean
}

export const NO_ASIDES: Readonly<Record<Aside, number>> = { preflight: 0, cache: 0, fulfilled: 0 }

/** Finds the exchanges in files. */
export class Finder {
  readonly keys = new Keys()
  readonly options: HarOptions
  readonly search: ServiceSearch
  readonly found: FoundExchange[] = []
  /** By the base URL of the service. */
  readonly asides = new Map<string, Readonly<Record<Aside, number>>>()
  readonly tally = { lost: 0, problems: [] as string[], broken: [] as string[], left: 0 }
  /** All requests that can be read. */
  requests = 0
  /** The latest exchange of the present file, and whether something was lost since. */
  #latest: FoundExchange | undefined
  /** The value of Authorization that was noted last: most requests of a file have the same. */
  #latestKey: string | undefined
  #isAfterGap = false

  constructor(options: HarOptions) {
    this.options = options
    const { basePath, routes } = options.contract
    this.search = new ServiceSearch(basePath, routes.keys(), options.baseUrl)
  }

  take({ entries, ...file }: HarFile): void {
    const recording: Recording = { ...file, hasKeys: false }
    if (file.broken !== undefined) this.tally.broken.push(file.broken)
    this.#latest = undefined
    this.#latestKey = undefined
    this.#isAfterGap = false
    for (const [index, entry] of entries.entries()) this.#takeEntry(entry, index + 1, recording)
  }

  #takeEntry(text: string, number: number, recording: Recording): void {
    const entry = readJson(text)
    let problem: string | undefined
    if (entry === undefined) problem = 'is not valid JSON'
    else problem = isObject(entry) ? this.#readEntry(entry, text, number, recording) : 'is no object'
    if (problem !== undefined) this.#lose(problem, number, recording)
  }

  /** Gives the reason if the entry cannot be used. */
  #readEntry(entry: Json, text: string, number: number, recording: Recording): string | undefined {
    const { isOwn, namesServers } = recording
    const line = requestLineOf(entry)
    if (line === undefined) return 'has no request with a method and a URL'
    const { method: written, url } = line
    const method = recording.isRespelled ? written.toUpperCase() : written
    const missing = Number(entry[LEFT_OUT])
    if (isOwn && Number.isSafeInteger(missing) && missing >= 1)
      this.#lose(
        `comes after ${missing} that were not recorded, because the disk was too slow`,
        number,
        recording,
        missing,
      )
    const place = splitUrl(url)
    const { service, rest = '' } = (place && this.search.note(place)) ?? {}
    const span = spanOf(entry)
    if (place !== undefined && service !== undefined) {
      if (span === undefined) return 'does not say when its request was sent'
      if (!isOwn && hidesId(place.target)) return 'has an address of which a part was blacked out'
    }
    this.requests++
    if (service === undefined || span === undefined) return undefined
    const mayChange = changesSomething(method)
    const isMadeUp = namesServers && !namesServer(entry) && statusOf(entry['response']) !== undefined
    const aside = asideOf(entry, method) ?? (isMadeUp ? 'fulfilled' : undefined)
    if (aside !== undefined) {
      // Its recorder may have left out the address of the server for another reason.
      if (mayChange && isMadeUp) this.#mark()
      const before = this.asides.get(service) ?? NO_ASIDES
      this.asides.set(service, { ...before, [aside]: before[aside] + 1 })
    } else if (this.found.length >= MOST_EXCHANGES) {
      this.tally.left++
      this.#mark()
    } else {
      if (!isOwn) this.#noteKey(entry, recording)
      const isAfterGap = this.#isAfterGap
      const target = this.options.contract.basePath + rest
      const facts = factsOf(entry)
      const { at, until, over } = span
      this.#latest = { recording, service, text, number, method, target, at, until, over, mayChange, isAfterGap, facts }
      this.found.push(this.#latest)
      this.#isAfterGap = false
    }
    return undefined
  }

  /** All keys must be known before any exchange is shown, because an earlier exchange may contain a key. */
  #noteKey(entry: Json, recording: Recording): void {
    const fields = fieldsOf(entry['request'])
    const written = fieldOf(fields, 'authorization')
    if (written === undefined || written === this.#latestKey || hidesKey(written)) return
    if (isKey(written)) recording.hasKeys = true
    this.#latestKey = written
    this.keys.credentialsOf(fields)
  }

  #lose(problem: string, number: number, { path }: Recording, count = 1): void {
    this.#mark()
    this.tally.lost += count
    if (this.tally.problems.length < DESCRIBED)
      this.tally.problems.push(`${shorten(path)}: Entry ${number} ${problem}.`)
  }

  /** Marks a gap, also before the latest exchange, because entries need not be in order of time. */
  #mark(): void {
    this.#isAfterGap = true
    if (this.#latest !== undefined) this.#latest.isAfterGap = true
  }
}

/** Whether a value of Authorization has the form that the service asks for, and shows the key. */
export function isKey(written: string): boolean {
  return /^bearer\s+\S+$/i.test(written.trim()) && !hidesKey(written)
}

function factsOf(entry: Json): ResponseFacts {
  const response = isObject(entry['response']) ? entry['response'] : {}
  const { text, _file: file } = isObject(response['content']) ? response['content'] : {}
  const id = fieldOf(fieldsOf(response), 'x-request-id')
  return {
    observer: observerOf(entry),
    status: statusOf(response),
    requestId: id === undefined || id === '' || isReplaced(id) ? undefined : id,
    hasBody: [text, file].some((each) => typeof each === 'string' && each !== ''),
  }
}
