import { basename } from 'node:path'
import { presentedSecretIn } from '../../behaviour/gate.ts'
import type { Contract } from '../../contract/contract.ts'
import { isObject, type Json } from '../../ground/json.ts'
import { memoize } from '../../ground/memo.ts'
import { shorten } from '../../ground/show.ts'
import { redactTarget } from '../../journal/redaction/redaction.ts'
import type { Credentials, Exchange, SeenBody, SeenRequest, SeenResponse } from '../exchange.ts'
import { type HeaderFields, Keys, readFields, redactBody } from '../keys.ts'
import { changesSomething, OF_SERVICE } from '../reading.ts'
import { hidesKey } from './blacked-out.ts'
import { requestBodyOf, responseBodyOf } from './body.ts'
import {
  type Aside,
  asideOf,
  fieldOf,
  fieldsOf,
  hidesId,
  isSafelisted,
  looksCached,
  requestFieldsOf,
  requestLineOf,
  spanOf,
  splitFields,
  statusOf,
} from './entry.ts'
import { LEFT_OUT } from './entry-writer.ts'
import { type HarFile, readHarFile } from './file.ts'
import { type FoundExchange, findOverlaps, type Recording, withoutRepeated } from './order.ts'
import { describeHosts, guessService, restBelow, type SplitUrl, splitUrl } from './service.ts'

/** How many entries that cannot be read are described. */
const DESCRIBED = 3
/** The most characters of an X-Request-Id that identifies an exchange. */
const LONGEST_ID = 200

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

/** The next exchange of a recording. */
export interface RecordedStep {
  exchange: Exchange
  /** Whether an exchange before it is missing that may have changed the account. */
  isAfterGap: boolean
}

export interface HarOptions {
  contract: Contract
  /** The base URL of the service; without it, it is guessed. */
  baseUrl?: string | undefined
  signal?: AbortSignal | undefined
}

/** Recordings of one service, in HAR 1.2 files of any recorder. */
export class HarRecording {
  /** Absent if no request went to a path of the contract. */
  readonly baseUrl: string | undefined
  readonly tally: RecordingCounts = {
    ...{ preflight: 0, cache: 0, fulfilled: 0, elsewhere: 0, repeated: 0, lost: 0 },
    ...{ problems: [], broken: [] },
  }
  /** The hosts that requests went to, as a sentence. */
  readonly hosts: string
  readonly #found: readonly FoundExchange[]
  readonly #keys = new Keys()
  readonly #signal: AbortSignal | undefined
  readonly #isSeveral: boolean
  readonly #basePath: string
  /** The place of the base URL. */
  readonly #service: SplitUrl | undefined

  /** @throws HarError if requests went to several services */
  private constructor(files: readonly HarFile[], { contract, baseUrl, signal }: HarOptions) {
    const urls = new Map<string, number>()
    for (const entry of files.flatMap(({ entries }) => entries)) {
      const url = isObject(entry) ? requestLineOf(entry)?.url : undefined
      if (url !== undefined) urls.set(url, (urls.get(url) ?? 0) + 1)
    }
    this.baseUrl = baseUrl?.replace(/\/+$/, '') ?? guessService(urls, contract)
    this.hosts = describeHosts(urls)
    this.#service = this.baseUrl === undefined ? undefined : splitUrl(this.baseUrl)
    this.#basePath = contract.basePath
    this.#signal = signal
    this.#isSeveral = files.length > 1
    const found = files.flatMap((file) => this.#find(file)).sort((one, other) => one.at - other.at)
    this.#found = withoutRepeated(found)
    this.tally.repeated = found.length - this.#found.length
  }

  /** @throws HarError for files that are no recordings of the service */
  static async open(paths: readonly string[], options: HarOptions): Promise<HarRecording> {
    const files: HarFile[] = []
    for (const path of paths) {
      options.signal?.throwIfAborted()
      files.push(await readHarFile(path))
    }
    return new HarRecording(files, options)
  }

  /** How many exchanges there are. */
  get size(): number {
    return this.#found.length
  }

  /** All keys that were found. No exchange contains any of them, except short ones in a body: they may be words. */
  get secrets(): readonly string[] {
    return this.#keys.secrets
  }

  /** The exchanges in order of time, one after the other. */
  *exchanges(): Generator<RecordedStep, void, undefined> {
    const overlaps = findOverlaps(this.#found)
    for (const [index, found] of this.#found.entries()) {
      this.#signal?.throwIfAborted()
      yield { exchange: this.#readExchange(found, overlaps[index] === true), isAfterGap: found.isAfterGap }
    }
  }

  /** The exchanges in a file. */
  #find({ entries, path, isOwn, broken }: HarFile): FoundExchange[] {
    const showsCache = entries.some((entry) => isObject(entry) && !looksCached(entry))
    const times = entries.map((entry) => (isObject(entry) ? entry['startedDateTime'] : undefined))
    const hasTimes = entries.length < 2 || times.some((time) => time !== times[0])
    const recording = { path, isOwn, hasKeys: false, showsCache, hasTimes, hasFields: false }
    const { tally } = this
    const found: FoundExchange[] = []
    let isAfterGap = false
    // Entries need not be in order of time, so there is a gap before the latest exchange, too.
    const lose = (problem: string, number: number, count = 1) => {
      isAfterGap = true
      const latest = found.at(-1)
      if (latest !== undefined) latest.isAfterGap = true
      tally.lost += count
      if (tally.problems.length < DESCRIBED) tally.problems.push(`${shorten(path)}: Entry ${number} ${problem}.`)
    }
    if (broken !== undefined) tally.broken.push(broken)
    for (const [index, entry] of entries.entries()) {
      const missing = isOwn && isObject(entry) ? Number(entry[LEFT_OUT]) : 0
      if (Number.isSafeInteger(missing) && missing >= 1) {
        lose(`comes after ${missing} that were not recorded, because the disk was too slow`, index + 1, missing)
      }
      const read = isObject(entry) ? this.#readEntry(entry, index + 1, recording) : 'is no object'
      if (typeof read === 'string') lose(read, index + 1)
      if (typeof read !== 'object') continue
      read.isAfterGap = isAfterGap
      found.push(read)
      isAfterGap = false
    }
    return found
  }

  /** An entry, if it is an exchange with the service; or the reason if it cannot be used. */
  #readEntry(entry: Json, number: number, recording: Recording): FoundExchange | string | undefined {
    const { isOwn } = recording
    const line = requestLineOf(entry, isOwn)
    if (line === undefined) return 'has no request with a method and a URL'
    const { method } = line
    const place = splitUrl(line.url)
    const rest = place && restBelow(this.#service, place)
    if (place === undefined || rest === undefined) {
      this.tally.elsewhere++
      return undefined
    }
    const span = spanOf(entry)
    if (typeof span === 'string') return span
    if (!isOwn && hidesId(place.target)) return 'has an address of which a part was blacked out'
    const aside = asideOf(entry, method, recording.showsCache && looksCached(entry))
    if (aside !== undefined) {
      this.tally[aside]++
      return undefined
    }
    // All keys must be known before any exchange is shown, because an earlier exchange may contain a key.
    const sent = isOwn ? [] : fieldsOf(entry['request'], 'authorization')
    const [[, written] = []] = sent
    if (written !== undefined && !isHiddenKey(written)) {
      if (isKey(written)) recording.hasKeys = true
      this.#keys.credentialsOf(sent)
    }
    recording.hasFields ||= isOwn || fieldsOf(entry['response']).some(([name]) => !isSafelisted(name))
    const { at, until, over } = span
    const [target, status] = [this.#basePath + rest, statusOf(entry['response'])]
    const mayChange = changesSomething(method)
    // Not by spreading: a recording has many entries, and such an object would be several times as large.
    return { recording, entry, number, method, status, at, until, over, target, mayChange, isAfterGap: false }
  }

  #readExchange(found: FoundExchange, overlaps: boolean): Exchange {
    const { at, until, number, recording, method, target, status, entry } = found
    const { path, isOwn } = recording
    const [request, response] = [partOf(entry, 'request'), partOf(entry, 'response')]
    const [asked, answered] = [fieldsOf(request), fieldsOf(response)]
    const split = (fields: HeaderFields) => (isOwn ? { shown: fields, hidden: [] } : splitFields(fields))
    const [sent, came] = [split(requestFieldsOf(request, asked)), split(answered)]
    const kept = recording.hasFields ? came.hidden : [...came.hidden, ...OF_SERVICE]
    const redact = this.#keys.redactorFor({ target, fields: [...sent.shown, ...came.shown] })
    const headers = readFields(came.shown, redact)
    const name = headers['x-request-id'] ?? ''
    const ordinal = `${this.#isSeveral ? `${basename(path)} ` : ''}entry ${number}`
    // A browser asks for a new version of what it has after some recorders have seen the request.
    const lacksCondition = !isOwn && status === 304 && CONDITIONS.every((field) => fieldOf(asked, field) === undefined)
    const hidden = lacksCondition ? [...sent.hidden, ...CONDITIONS] : sent.hidden
    const seen: SeenRequest = {
      method,
      target: redactTarget(target, redact),
      headers: readFields(sent.shown, redact),
      credentials: this.#credentialsOf(asked, recording),
      body: MEANING.some((field) => sent.hidden.includes(field))
        ? UNREADABLE
        : redactBody(requestBodyOf(request, { isOwn, fields: asked }), redact),
      ...(hidden.length > 0 && { hidden }),
    }
    // No service sends a response without header fields, so the recorder has left them out.
    const isAnswered = status !== undefined && (answered.length > 0 || isOwn)
    const said: SeenResponse | undefined = isAnswered
      ? {
          status,
          headers,
          body: redactBody(responseBodyOf(response, { isOwn, method, status, fields: answered }), redact),
          ...(kept.length > 0 && { hidden: kept }),
        }
      : undefined
    const id = name !== '' && name.length <= LONGEST_ID ? name : ordinal
    return { id, at, until, overlaps, request: seen, response: said }
  }

  /** What a recording says about the sender. Browsers leave the key out, and so do many who pass a recording on. */
  #credentialsOf(fields: HeaderFields, { path, isOwn, hasKeys }: Recording): Credentials {
    if (isOwn) return this.#keys.credentialsOf(fields, path)
    const written = fieldOf(fields, 'authorization')
    const isHidden = written === undefined ? !hasKeys : isHiddenKey(written) || (!hasKeys && !isKey(written))
    return isHidden ? { kind: 'unknown' } : this.#keys.credentialsOf(fields)
  }
}

function partOf(entry: Json, name: string): Json {
  const part = entry[name]
  return isObject(part) ? part : {}
}

/** Most requests have the same value. */
const isHiddenKey = memoize(hidesKey, { limit: 1_000, longest: 200 })

/** Whether a value of Authorization has the form that the service asks for. */
const isKey = memoize((written) => presentedSecretIn(written.trim()) !== undefined, { limit: 1_000, longest: 200 })

/** A request whose body may be read in another way if one of these fields is unknown. */
const MEANING = ['content-type', 'content-encoding']
const CONDITIONS = ['if-none-match', 'if-modified-since']
const UNREADABLE: SeenBody = { isKnown: false, reason: 'The recording hides the type of the body of the request.' }
