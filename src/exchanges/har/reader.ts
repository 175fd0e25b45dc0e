import { basename } from 'node:path'
import { isObject, type Json, readJson } from '../../ground/json.ts'
import { shorten } from '../../ground/show.ts'
import { redactTarget } from '../../journal/redaction/redaction.ts'
import type { Credentials, Exchange } from '../exchange.ts'
import { type HeaderFields, type Keys, readCredentials, readFields, redactBody } from '../keys.ts'
import { fieldOf, fieldsOf, requestBodyOf, requestFieldsOf, requestLineOf, responseBodyOf, statusOf } from './entry.ts'
import { RecordedFile } from './recorded-file.ts'
import { HarError, restBelow, splitUrl, withoutSlash } from './service.ts'
import { type ExchangePlace, type HarOptions, type RecordingCounts, Survey } from './survey.ts'

/** The most characters of an X-Request-Id that identifies an exchange. */
const LONGEST_ID = 200

/** Recordings of one service. The caller must close it. */
export interface HarRecording {
  /** Absent if no request went to a path of the contract. */
  baseUrl: string | undefined
  /** How many exchanges there are. */
  size: number
  tally: RecordingCounts
  /** The hosts that requests went to, as a sentence. */
  hosts: string
  /** All keys that were found. No exchange contains any of them. */
  secrets: readonly string[]
  /** The exchanges in the order of their start. They are read one at a time. */
  exchanges(): AsyncGenerator<RecordedStep, void, undefined>
  close(): Promise<void>
}

/** The next exchange of a recording. */
export interface RecordedStep {
  exchange: Exchange
  /** Whether an exchange before it is missing that may have changed the account. */
  isAfterGap: boolean
}

/**
 * Opens HAR 1.2 files. It reads them twice: first to find the exchanges, then to read each in the order of time. So it
 * keeps only some numbers of each exchange and a single entry in memory.
 * @throws HarError for files that are no recordings of the service
 */
export async function openRecording(paths: readonly string[], options: HarOptions): Promise<HarRecording> {
  const files: RecordedFile[] = []
  const close = async () => void (await Promise.all(files.map((file) => file.close())))
  try {
    for (const path of paths) files.push(await RecordedFile.open(path))
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

interface ReaderTerms {
  baseUrl: string | undefined
  /** The base path of the contract. */
  base: string
  keys: Keys
  /** Whether an id that is made from the entry number also has the name of the file. */
  named: boolean
}

async function* readExchanges(
  places: readonly ExchangePlace[],
  terms: ReaderTerms,
  { signal }: HarOptions,
): AsyncGenerator<RecordedStep, void, undefined> {
  const overlaps = findOverlaps(places)
  const path = withoutSlash(splitUrl(terms.baseUrl ?? '')?.target ?? '')
  for (const [index, place] of places.entries()) {
    signal?.throwIfAborted()
    const { file } = place
    const entry = readJson(await file.read(place))
    const url = isObject(entry) ? splitUrl(requestLineOf(entry)?.url ?? '') : undefined
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
  { place, overlaps, target, keys, named }: ReaderTerms & { place: ExchangePlace; overlaps: boolean; target: string },
): Promise<Exchange> {
  const { at, until, number, file } = place
  const request = isObject(entry['request']) ? entry['request'] : {}
  const response = isObject(entry['response']) ? entry['response'] : {}
  const method = String(request['method'])
  const status = statusOf(response)
  const fields = { request: requestFieldsOf(request), response: fieldsOf(response) }
  const redact = keys.redactorFor({ target, fields: [...fields.request, ...fields.response] })
  const readAttached = (attached: string) => file.readAttached(attached)
  const headers = readFields(fields.response, redact)
  const name = headers['x-request-id']
  return {
    id:
      name !== undefined && name !== '' && name.length <= LONGEST_ID
        ? name
        : `${named ? `${basename(file.path)} ` : ''}entry ${number}`,
    at,
    until,
    overlaps,
    request: {
      method,
      target: redactTarget(target, redact),
      headers: readFields(fields.request, redact),
      credentials: credentialsOf(fieldsOf(request), file, keys),
      body: redactBody(await requestBodyOf(request, readAttached), redact),
    },
    // No service sends a response without header fields, so the recorder has left them out.
    response:
      status === undefined || (fields.response.length === 0 && !file.isOwn)
        ? undefined
        : {
            status,
            headers,
            body: redactBody(await responseBodyOf(response, { method, status }, readAttached), redact),
          },
  }
}

function credentialsOf(fields: HeaderFields, file: RecordedFile, keys: Keys): Credentials {
  if (!file.isOwn) return file.isSanitised || fields.length === 0 ? { kind: 'unknown' } : keys.credentialsOf(fields)
  const written = fieldOf(fields, 'authorization')
  if (written === undefined) return { kind: 'none' }
  // Each file names its keys independently, so the same name in another file may be another key.
  const read = readCredentials(written, (name) => keys.renameKey(file.path, name))
  return read ?? keys.credentialsOf(fields)
}
