import { basename } from 'node:path'
import type { Contract } from '../../contract/contract.ts'
import { isObject } from '../../ground/json.ts'
import { redactTarget } from '../../journal/redaction/redaction.ts'
import type { Credentials, Exchange, SeenBody, SeenRequest, SeenResponse } from '../exchange.ts'
import { type HeaderFields, type Keys, readCredentials, readFields, redactBody } from '../keys.ts'
import {
  fieldOf,
  fieldsOf,
  requestBodyOf,
  requestFieldsOf,
  requestLineOf,
  responseBodyOf,
  splitFields,
} from './entry.ts'
import { type HarFile, readHarFile } from './file.ts'
import { Finder, type FoundExchange, isKey, type Recording, type RecordingCounts } from './finder.ts'
import { describeHosts, guessService, type SplitUrl, splitUrl } from './service.ts'

/** The most characters of an X-Request-Id that identifies an exchange. */
const LONGEST_ID = 200

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
  readonly tally: RecordingCounts
  /** The hosts that requests went to, as a sentence. */
  readonly hosts: string
  readonly #found: readonly FoundExchange[]
  readonly #keys: Keys
  readonly #signal: AbortSignal | undefined
  readonly #isSeveral: boolean

  /** @throws HarError if requests went to several services */
  private constructor(files: readonly HarFile[], { contract, baseUrl, signal }: HarOptions) {
    const urls = files.flatMap(({ entries }) => entries.flatMap((entry) => placeOf(entry) ?? []))
    this.baseUrl = baseUrl?.replace(/\/+$/, '') ?? guessService(urls, contract)
    this.hosts = describeHosts(urls)
    const finder = new Finder(this.baseUrl === undefined ? undefined : splitUrl(this.baseUrl), contract.basePath)
    for (const file of files) finder.take(file)
    this.#keys = finder.keys
    this.#found = dropDuplicates(finder.found.sort((one, other) => one.at - other.at))
    this.tally = { ...finder.tally, ...finder.asides, repeated: finder.found.length - this.#found.length }
    this.#signal = signal
    this.#isSeveral = files.length > 1
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

  /** The exchanges in the order of their start. */
  *exchanges(): Generator<RecordedStep, void, undefined> {
    const overlaps = findOverlaps(this.#found)
    for (const [index, found] of this.#found.entries()) {
      this.#signal?.throwIfAborted()
      yield { exchange: this.#readExchange(found, overlaps[index] === true), isAfterGap: found.isAfterGap }
    }
  }

  #readExchange(found: FoundExchange, overlaps: boolean): Exchange {
    const { at, until, number, recording, method, target, status, entry } = found
    const keys = this.#keys
    const { path, isOwn } = recording
    const request = isObject(entry['request']) ? entry['request'] : {}
    const response = isObject(entry['response']) ? entry['response'] : {}
    const split = (fields: HeaderFields) => (isOwn ? { shown: fields, hidden: [] } : splitFields(fields))
    const [asked, answered] = [fieldsOf(request), fieldsOf(response)]
    const [sent, came] = [split(requestFieldsOf(request, asked)), split(answered)]
    const redact = keys.redactorFor({ target, fields: [...sent.shown, ...came.shown] })
    const headers = readFields(came.shown, redact)
    const name = headers['x-request-id'] ?? ''
    const ordinal = `${this.#isSeveral ? `${basename(path)} ` : ''}entry ${number}`
    const id = name !== '' && name.length <= LONGEST_ID ? name : ordinal
    const requestBody = redactBody(requestBodyOf(request, { isOwn, fields: asked }), redact)
    const seen: SeenRequest = {
      method,
      target: redactTarget(target, redact),
      headers: readFields(sent.shown, redact),
      credentials: credentialsOf(asked, recording, keys),
      body: MEANING.some((field) => sent.hidden.includes(field)) ? UNREADABLE : requestBody,
    }
    if (sent.hidden.length > 0) seen.hidden = sent.hidden
    // No service sends a response without header fields, so the recorder has left them out.
    if (status === undefined || (answered.length === 0 && !isOwn)) {
      return { id, at, until, overlaps, request: seen, response: undefined }
    }
    const body = redactBody(responseBodyOf(response, { isOwn, method, status, fields: answered }), redact)
    const said: SeenResponse = { status, headers, body }
    if (came.hidden.length > 0) said.hidden = came.hidden
    return { id, at, until, overlaps, request: seen, response: said }
  }
}

function placeOf(entry: unknown): SplitUrl | undefined {
  return splitUrl((isObject(entry) ? requestLineOf(entry)?.url : undefined) ?? '')
}

/** A request whose body may be read in another way if one of these fields is unknown. */
const MEANING = ['content-type', 'content-encoding']
const UNREADABLE: SeenBody = { isKnown: false, reason: 'The recording hides the type of the body of the request.' }

/** Whether each exchange overlaps with another one that may change the account. The exchanges are in order of time. */
function findOverlaps(found: readonly FoundExchange[]): readonly boolean[] {
  const overlaps = new Array<boolean>(found.length).fill(false)
  // The order within a millisecond is known only within a file.
  const isBefore = (end: number, start: number, isSameFile: boolean) => (isSameFile ? end <= start : end < start)
  const ends = new Map<Recording, number>()
  for (let index = 0; index < found.length; index++) {
    const { at, over, mayChange, recording } = found[index] as FoundExchange
    for (const [other, end] of ends) if (!isBefore(end, at, other === recording)) overlaps[index] = true
    if (mayChange) ends.set(recording, Math.max(over, ends.get(recording) ?? over))
  }
  const starts = new Map<Recording, number>()
  for (let index = found.length - 1; index >= 0; index--) {
    const { at, over, mayChange, recording } = found[index] as FoundExchange
    for (const [other, start] of starts) if (!isBefore(over, start, other === recording)) overlaps[index] = true
    if (mayChange) starts.set(recording, at)
  }
  return overlaps
}

/** What a recording says about the sender. Browsers leave the key out, and so do many who pass a recording on. */
function credentialsOf(fields: HeaderFields, recording: Recording, keys: Keys): Credentials {
  const { path, isOwn, hasKeys } = recording
  const written = fieldOf(fields, 'authorization')
  if (!isOwn) {
    const isHidden = written === undefined ? !hasKeys : recording.hidesKey(written) || (!hasKeys && !isKey(written))
    return isHidden ? { kind: 'unknown' } : keys.credentialsOf(fields)
  }
  if (written === undefined) return { kind: 'none' }
  // Each file names its keys independently, so the same name in another file may be another key.
  const read = readCredentials(written, (name) => keys.renameKey(path, name))
  return read ?? keys.credentialsOf(fields)
}

/** In milliseconds: how much later the second observer of an exchange may have seen it. */
const DELAY = 10_000

/**
 * Leaves out exchanges that are recorded a second time: by the page and by its service worker, by two recorders, or by
 * two exports of one recording. Only different observers repeat an exchange: if one observer has seen an answer twice,
 * the service has given it twice. The exchanges are in order of time; of two entries, the one with a body stays.
 */
function dropDuplicates(found: readonly FoundExchange[]): readonly FoundExchange[] {
  const dropped = new Set<FoundExchange>()
  /** The latest exchange with a request id, or without one, with an address. */
  const latest = new Map<string, FoundExchange>()
  for (const exchange of found) {
    const name = exchange.requestId ?? exchange.target
    const other = latest.get(name)
    if (other === undefined || !isSame(other, exchange)) latest.set(name, exchange)
    else if (other.hasBody || !exchange.hasBody) dropped.add(exchange)
    else {
      dropped.add(other)
      exchange.isAfterGap ||= other.isAfterGap
      latest.set(name, exchange)
    }
  }
  return dropped.size === 0 ? found : found.filter((exchange) => !dropped.has(exchange))
}

/** Whether two exchanges are one. Their request ids are the same, or their addresses if they have none. */
function isSame(one: FoundExchange, other: FoundExchange): boolean {
  const { status, observer, requestId } = one
  if (one.method !== other.method || one.target !== other.target || status !== other.status) return false
  const hasId = requestId !== undefined
  const isCopy = one.at === other.at && one.until === other.until
  if (one.recording !== other.recording) return isCopy || (hasId && other.at <= one.until + DELAY)
  if (observer === other.observer) return isCopy && hasId
  return other.at <= one.until + (hasId ? DELAY : 0)
}
