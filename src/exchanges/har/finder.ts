import { presentedSecretIn } from '../../behaviour/gate.ts'
import { isObject, type Json } from '../../ground/json.ts'
import { memoize } from '../../ground/memo.ts'
import { shorten } from '../../ground/show.ts'
import { Keys } from '../keys.ts'
import { changesSomething } from '../reading.ts'
import { hidesKey, isReplaced } from './blacked-out.ts'
import {
  type Aside,
  asideOf,
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
import { restBelow, type SplitUrl, splitUrl } from './service.ts'

/** How many entries that cannot be read are described. */
const DESCRIBED = 3

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
}

export interface Recording extends Pick<HarFile, 'path' | 'isOwn'> {
  /** Like `hidesKey`, for which most requests have the same value. */
  hidesKey(written: string): boolean
  /** Whether it shows the key of some request. Otherwise, whoever made it has taken out all of them. */
  hasKeys: boolean
  /** Whether its methods are not spelled as they were sent, and whether it shows the servers that have answered. */
  isRespelled: boolean
  namesServers: boolean
}

/** An entry that is an exchange with a service. */
export interface FoundExchange extends TimeSpan {
  recording: Recording
  entry: Json
  number: number
  method: string
  /** Path and query, with the base path of the contract. */
  target: string
  mayChange: boolean
  isAfterGap: boolean
  observer: ReturnType<typeof observerOf>
  status: number | undefined
  /** The X-Request-Id of the response, if there is one and it is shown. */
  requestId: string | undefined
  hasBody: boolean
}

/** Finds the exchanges with a service in files. */
export class Finder {
  readonly keys = new Keys()
  readonly found: FoundExchange[] = []
  readonly asides: Record<Aside, number> = { preflight: 0, cache: 0, fulfilled: 0 }
  readonly tally = { lost: 0, elsewhere: 0, problems: [] as string[], broken: [] as string[] }
  /** The place of the base URL. */
  readonly #service: SplitUrl | undefined
  readonly #basePath: string
  /** The latest exchange of the present file, and whether something was lost since. */
  #latest: FoundExchange | undefined
  #isAfterGap = false

  /** `basePath` is that of the contract. */
  constructor(service: SplitUrl | undefined, basePath: string) {
    this.#service = service
    this.#basePath = basePath
  }

  take({ entries, path, isOwn, broken }: HarFile): void {
    const some = (has: (entry: Json) => boolean) => !isOwn && entries.some((entry) => isObject(entry) && has(entry))
    const recording = {
      ...{ path, isOwn, hasKeys: false, isRespelled: some(isSpelled), namesServers: some(namesServer) },
      hidesKey: memoize(hidesKey, { limit: 1_000, longest: 200 }),
    }
    if (broken !== undefined) this.tally.broken.push(broken)
    this.#latest = undefined
    this.#isAfterGap = false
    for (const [index, entry] of entries.entries()) {
      const number = index + 1
      const problem = isObject(entry) ? this.#readEntry(entry, number, recording) : 'is no object'
      if (problem !== undefined) this.#lose(problem, number, recording)
    }
  }

  /** Gives the reason if the entry cannot be used. */
  #readEntry(entry: Json, number: number, recording: Recording): string | undefined {
    const { isOwn } = recording
    const line = requestLineOf(entry)
    if (line === undefined) return 'has no request with a method and a URL'
    const method = recording.isRespelled ? line.method.toUpperCase() : line.method
    const missing = Number(entry[LEFT_OUT])
    if (isOwn && Number.isSafeInteger(missing) && missing >= 1) {
      const problem = `comes after ${missing} that were not recorded, because the disk was too slow`
      this.#lose(problem, number, recording, missing)
    }
    const place = splitUrl(line.url)
    const rest = place && restBelow(this.#service, place)
    if (place === undefined || rest === undefined) {
      this.tally.elsewhere++
      return undefined
    }
    const span = spanOf(entry)
    if (typeof span === 'string') return span
    if (!isOwn && hidesId(place.target)) return 'has an address of which a part was blacked out'
    const isMadeUp = recording.namesServers && !namesServer(entry) && statusOf(entry['response']) !== undefined
    const aside = asideOf(entry, method) ?? (isMadeUp ? 'fulfilled' : undefined)
    if (aside !== undefined) {
      // Its recorder may have left out the address of the server for another reason.
      if (isMadeUp && changesSomething(method)) this.#mark()
      this.asides[aside]++
      return undefined
    }
    if (!isOwn) this.#noteKey(entry, recording)
    const { at, until, over } = span
    const { observer, status, requestId, hasBody } = factsOf(entry)
    const target = this.#basePath + rest
    const mayChange = changesSomething(method)
    const isAfterGap = this.#isAfterGap
    const facts = { recording, entry, number, method, target, mayChange, isAfterGap }
    this.#latest = { ...facts, at, until, over, observer, status, requestId, hasBody }
    this.found.push(this.#latest)
    this.#isAfterGap = false
    return undefined
  }

  /** All keys must be known before any exchange is shown, because an earlier exchange may contain a key. */
  #noteKey(entry: Json, recording: Recording): void {
    const fields = fieldsOf(entry['request'], 'authorization')
    const written = fields[0]?.[1]
    if (written === undefined || recording.hidesKey(written)) return
    if (isKey(written)) recording.hasKeys = true
    this.keys.credentialsOf(fields)
  }

  /** Marks a gap, also before the latest exchange, because entries need not be in order of time. */
  #mark(): void {
    this.#isAfterGap = true
    if (this.#latest !== undefined) this.#latest.isAfterGap = true
  }

  #lose(problem: string, number: number, { path }: Recording, count = 1): void {
    this.#mark()
    this.tally.lost += count
    if (this.tally.problems.length < DESCRIBED)
      this.tally.problems.push(`${shorten(path)}: Entry ${number} ${problem}.`)
  }
}

/** Browsers send these methods in capitals, so another spelling is that of the recorder; `patch` goes as it was written. */
const CAPITAL = ['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS']

function isSpelled({ request }: Json): boolean {
  const method = isObject(request) ? String(request['method']) : ''
  return !CAPITAL.includes(method) && CAPITAL.includes(method.toUpperCase())
}

/** Whether a value of Authorization has the form that the service asks for. */
export function isKey(written: string): boolean {
  return presentedSecretIn(written.trim()) !== undefined
}

function factsOf(entry: Json): Pick<FoundExchange, 'observer' | 'status' | 'requestId' | 'hasBody'> {
  const response = isObject(entry['response']) ? entry['response'] : {}
  const { text } = isObject(response['content']) ? response['content'] : {}
  const id = fieldsOf(response, 'x-request-id')[0]?.[1]
  return {
    observer: observerOf(entry),
    status: statusOf(response),
    requestId: id === undefined || id === '' || isReplaced(id) ? undefined : id,
    hasBody: typeof text === 'string' && text !== '',
  }
}
