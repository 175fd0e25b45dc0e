import { basename } from 'node:path'
import { isObject, readJson } from '../../ground/json.ts'
import { redactTarget } from '../../journal/redaction/redaction.ts'
import type { Credentials, Exchange, SeenBody, SeenRequest, SeenResponse } from '../exchange.ts'
import { type HeaderFields, type Keys, readCredentials, readFields, redactBody } from '../keys.ts'
import { hidesKey } from './blacked-out.ts'
import { dropDuplicates } from './duplicates.ts'
import { fieldOf, fieldsOf, requestBodyOf, requestFieldsOf, responseBodyOf, splitFields } from './entry.ts'
import { readAttached, readHarFile } from './file.ts'
import {
  Finder,
  type FoundExchange,
  type HarOptions,
  isKey,
  NO_ASIDES,
  type Recording,
  type RecordingCounts,
} from './finder.ts'

/** The most characters of an X-Request-Id that identifies an exchange. */
const LONGEST_ID = 200

/** The next exchange of a recording. */
export interface RecordedStep {
  exchange: Exchange
  /** Whether an exchange before it is missing that may have changed the account. */
  isAfterGap: boolean
}

/** Recordings of one service, in HAR 1.2 files of any recorder. */
export class HarRecording {
  /** Absent if no request went to a path of the contract. */
  readonly baseUrl: string | undefined
  readonly tally: RecordingCounts
  readonly #found: readonly FoundExchange[]
  readonly #finder: Finder
  readonly #isSeveral: boolean

  private constructor(finder: Finder, isSeveral: boolean) {
    this.#finder = finder
    this.#isSeveral = isSeveral
    const baseUrl = finder.search.conclude()
    this.baseUrl = baseUrl
    const own = finder.found.filter(({ service }) => service === baseUrl).sort((one, other) => one.at - other.at)
    this.#found = dropDuplicates(own)
    const asides = finder.asides.get(baseUrl ?? '') ?? NO_ASIDES
    const { preflight, cache, fulfilled } = asides
    const elsewhere = finder.requests - own.length - preflight - cache - fulfilled - finder.tally.left
    this.tally = { ...finder.tally, ...asides, elsewhere, repeated: own.length - this.#found.length }
  }

  /** @throws HarError for files that are no recordings of the service */
  static async open(paths: readonly string[], options: HarOptions): Promise<HarRecording> {
    const finder = new Finder(options)
    for (const path of paths) {
      options.signal?.throwIfAborted()
      finder.take(await readHarFile(path))
    }
    return new HarRecording(finder, paths.length > 1)
  }

  /** How many exchanges there are. */
  get size(): number {
    return this.#found.length
  }

  /** The hosts that requests went to, as a sentence. */
  get hosts(): string {
    return this.#finder.search.describeHosts()
  }

  /** All keys that were found. No exchange contains any of them, except short ones in a body: they may be words. */
  get secrets(): readonly string[] {
    return this.#finder.keys.secrets
  }

  /** The exchanges in the order of their start. */
  *exchanges(): Generator<RecordedStep, void, undefined> {
    const overlaps = findOverlaps(this.#found)
    for (const [index, found] of this.#found.entries()) {
      this.#finder.options.signal?.throwIfAborted()
      yield { exchange: this.#readExchange(found, overlaps[index] === true), isAfterGap: found.isAfterGap }
    }
  }

  #readExchange(found: FoundExchange, overlaps: boolean): Exchange {
    const { at, until, number, recording, method, target } = found
    const { status } = found.facts
    const { keys } = this.#finder
    const { path, isOwn } = recording
    const read = readJson(found.text)
    const entry = isObject(read) ? read : {}
    const request = isObject(entry['request']) ? entry['request'] : {}
    const response = isObject(entry['response']) ? entry['response'] : {}
    const split = (fields: HeaderFields) => (isOwn ? { shown: fields, hidden: [] } : splitFields(fields))
    const [asked, answered] = [fieldsOf(request), fieldsOf(response)]
    const [sent, came] = [split(requestFieldsOf(request, asked)), split(answered)]
    const redact = keys.redactorFor({ target, fields: [...sent.shown, ...came.shown] })
    const terms = { isOwn, readAttached: (name: string) => readAttached(path, name) }
    const headers = readFields(came.shown, redact)
    const name = headers['x-request-id'] ?? ''
    const ordinal = `${this.#isSeveral ? `${basename(path)} ` : ''}entry ${number}`
    const id = name !== '' && name.length <= LONGEST_ID ? name : ordinal
    const requestBody = redactBody(requestBodyOf(request, { ...terms, fields: asked }), redact)
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
    const body = redactBody(responseBodyOf(response, { ...terms, method, status, fields: answered }), redact)
    const said: SeenResponse = { status, headers, body }
    if (came.hidden.length > 0) said.hidden = came.hidden
    return { id, at, until, overlaps, request: seen, response: said }
  }
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
  for (const [index, { at, over, mayChange, recording }] of found.entries()) {
    for (const [other, end] of ends) if (!isBefore(end, at, other === recording)) overlaps[index] = true
    if (mayChange) ends.set(recording, Math.max(over, ends.get(recording) ?? over))
  }
  const starts = new Map<Recording, number>()
  for (const [index, { at, over, mayChange, recording }] of [...found.entries()].reverse()) {
    for (const [other, start] of starts) if (!isBefore(over, start, other === recording)) overlaps[index] = true
    if (mayChange) starts.set(recording, at)
  }
  return overlaps
}

/** What a recording says about the sender. Browsers leave the key out, and so do many who pass a recording on. */
function credentialsOf(fields: HeaderFields, { path, isOwn, hasKeys }: Recording, keys: Keys): Credentials {
  const written = fieldOf(fields, 'authorization')
  if (!isOwn) {
    const isHidden = written === undefined ? !hasKeys : hidesKey(written) || (!hasKeys && !isKey(written))
    return isHidden ? { kind: 'unknown' } : keys.credentialsOf(fields)
  }
  if (written === undefined) return { kind: 'none' }
  // Each file names its keys independently, so the same name in another file may be another key.
  const read = readCredentials(written, (name) => keys.renameKey(path, name))
  return read ?? keys.credentialsOf(fields)
}
