import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Exchange, SeenBody, SeenResponse } from '../exchanges/exchange.ts'
import { readOutcome } from '../exchanges/reading.ts'
import { isUtf16, lengthOfMark, WRITTEN_IN_UTF16 } from '../ground/input-file.ts'
import { isObject, readJson } from '../ground/json.ts'
import type { Intent, Inventory } from './inventory.ts'
import type { ProbeRequest } from './probe.ts'

export interface LedgerHead {
  run: string
  /** The base URL, as information for the user. */
  target: string
  /** A hash of the base URL and the key, so that the ledger of another target or account is refused. */
  digest: string
  /** The suffix of the domains of the run. */
  suffix: string
  /** Whether the run may write. */
  writes: boolean
}

/** A line of the file. */
type LedgerLine =
  | { before: Inventory }
  /** The next request may create this. */
  | { creates: Intent }
  /** The run created this group, whatever its name is. */
  | { group: string }
  | { done: string }
  /** The account is restored. It is for a reader of the file; a later run learns it from the exchanges. */
  | { removed: true }

/** An exchange of the run, and its purpose. */
export interface KeptExchange {
  exchange: Exchange
  /** Without the body and the other header fields, which the exchange has. */
  sent: Pick<ProbeRequest, 'method' | 'path' | 'key' | 'scheme'>
  /** The `data` of a success in the envelope of the service. */
  data: unknown
  /** The id of the probe that it belongs to. */
  probe: string | undefined
  /** Whether it set up the probe. */
  setUp: boolean
}

/** The content of a ledger. */
export interface LedgerContent {
  head: LedgerHead
  before: Inventory | undefined
  intents: readonly Intent[]
  /** Ids of groups that the run has created. */
  groups: readonly string[]
  exchanges: readonly KeptExchange[]
  done: readonly string[]
}

/** A file is not a ledger, or it cannot be used. */
export class LedgerError extends Error {
  override name = 'LedgerError'
}

const KIND = 'dmarc-understudy verify'
const VERSION = 1
/** The largest body that is kept for a later run, in bytes. */
const LARGEST_KEPT = 1 << 20
/** The largest ledger that is read, in bytes. */
const LARGEST_LEDGER = 256 << 20
const PRIVATE_FILE = 0o600

/** Identifies a target and an account without revealing the key. */
export function digestOf(target: string, apiKey: string): string {
  return createHash('sha256').update(`dmarc-understudy verify ${target} ${apiKey}`).digest('hex')
}

/**
 * Records each step of a run before the step. The file has one JSON value on each line. What a request may create is on
 * the disk before the request is sent. So even a killed run has created nothing that is missing in its ledger. An
 * unfinished last line does not count: its request was not sent.
 */
export class Ledger {
  readonly path: string
  readonly #file: number

  private constructor(path: string, file: number) {
    this.path = path
    this.#file = file
  }

  /** @throws LedgerError if the file exists or cannot be written. */
  static create(path: string, head: LedgerHead): Ledger {
    const ledger = new Ledger(path, open(path, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY))
    ledger.#write({ ledger: KIND, version: VERSION, ...head }, true)
    syncFolder(path)
    return ledger
  }

  /** Opens a ledger to continue it. @throws LedgerError */
  static continue(path: string): { ledger: Ledger; content: LedgerContent } {
    const { content, isWhole } = read(path)
    const ledger = new Ledger(path, open(path, constants.O_WRONLY | constants.O_APPEND))
    if (!isWhole) writeSync(ledger.#file, '\n')
    return { ledger, content }
  }

  /** @throws LedgerError */
  static read(path: string): LedgerContent {
    return read(path).content
  }

  /** Lines that decide what a sweep removes survive a crash of the machine; other lines survive that of the process. */
  write(line: LedgerLine): void {
    this.#write(line, 'creates' in line || 'before' in line || 'group' in line)
  }

  keep({ exchange, sent, probe, setUp }: KeptExchange): void {
    this.#write({ exchange: withBodies(exchange, store), sent, probe, setUp }, false)
  }

  close(): void {
    closeSync(this.#file)
  }

  /** Removes the file. Nothing of the run may be left in the account then, and nothing to ask. */
  remove(): void {
    this.close()
    rmSync(this.path, { force: true })
  }

  #write(entry: object, isDurable: boolean): void {
    try {
      writeAll(this.#file, Buffer.from(`${JSON.stringify(entry)}\n`))
      if (isDurable) fsyncSync(this.#file)
    } catch (error) {
      throw new LedgerError(`cannot be written (${(error as NodeJS.ErrnoException).code})`)
    }
  }
}

function writeAll(file: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written)
}

function open(path: string, flags: number): number {
  try {
    // A symbolic link could lead to a file of another user.
    const file = openSync(path, flags | constants.O_NOFOLLOW, PRIVATE_FILE)
    if (fstatSync(file).isFile()) return file
    closeSync(file)
    throw new LedgerError('is no file')
  } catch (error) {
    if (error instanceof LedgerError) throw error
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw new LedgerError('is there already; continue it with --resume, or undo it with --sweep')
    throw new LedgerError(`cannot be opened (${code})`)
  }
}

function syncFolder(path: string): void {
  const folder = openSync(dirname(path), 'r')
  fsyncSync(folder)
  closeSync(folder)
}

function read(path: string): { content: LedgerContent; isWhole: boolean } {
  const text = readText(path)
  const isWhole = text.endsWith('\n')
  const lines = text.split('\n').slice(0, -1)
  const head = readHead(readJson(lines[0] ?? ''))
  if (head === undefined) throw new LedgerError('is no ledger of verify')
  let before: Inventory | undefined
  const intents: Intent[] = []
  const groups: string[] = []
  const exchanges: KeptExchange[] = []
  const done: string[] = []
  for (const line of lines.slice(1)) {
    const entry = readJson(line)
    // After a kill in the middle of a line, the run continues on the next line. An unfinished line was not sent.
    if (!isObject(entry)) continue
    if ('before' in entry) before = entry['before'] as Inventory
    if ('creates' in entry) intents.push(entry['creates'] as Intent)
    if ('group' in entry) groups.push(String(entry['group']))
    if ('done' in entry) done.push(String(entry['done']))
    if ('exchange' in entry) exchanges.push(readExchange(entry as unknown as StoredExchange))
  }
  return { content: { head, before, intents, groups, exchanges, done }, isWhole }
}

function readText(path: string): string {
  const file = open(path, constants.O_RDONLY)
  try {
    if (fstatSync(file).size > LARGEST_LEDGER) throw new LedgerError(`has more than ${LARGEST_LEDGER >> 20} MiB`)
    const bytes = readFileSync(file)
    if (isUtf16(bytes)) throw new LedgerError(WRITTEN_IN_UTF16)
    // A killed run may have left a part of a character at the end of its last line.
    return bytes.toString('utf8', lengthOfMark(bytes))
  } finally {
    closeSync(file)
  }
}

function readHead(value: unknown): LedgerHead | undefined {
  if (!isObject(value) || value['ledger'] !== KIND || value['version'] !== VERSION) return undefined
  const { run, target, digest, suffix, writes } = value
  // The names of everything that is removed contain the run.
  if (typeof run !== 'string' || !/^[a-z0-9]{8}$/.test(run) || typeof target !== 'string') return undefined
  if (typeof digest !== 'string' || typeof suffix !== 'string' || typeof writes !== 'boolean') return undefined
  return { run, target, digest, suffix, writes }
}

type StoredBody = { isKnown: true; base64: string } | { isKnown: false; reason: string }
type StoredExchange = Omit<KeptExchange, 'exchange' | 'data'> & { exchange: WithBodies<StoredBody> }

function store(body: SeenBody): StoredBody {
  if (!body.isKnown) return body
  if (body.bytes.length > LARGEST_KEPT) return { isKnown: false, reason: 'The body was too large for the ledger.' }
  return { isKnown: true, base64: body.bytes.toString('base64') }
}

function readExchange({ exchange: stored, sent, probe, setUp }: StoredExchange): KeptExchange {
  const exchange = withBodies<StoredBody, SeenBody>(stored, (body) =>
    body.isKnown ? { isKnown: true, bytes: Buffer.from(body.base64, 'base64') } : body,
  )
  return { exchange, sent, data: dataOf(exchange), probe, setUp }
}

/** The `data` of a success; `undefined` for anything else. */
export function dataOf({ request: { method }, response }: Pick<Exchange, 'request' | 'response'>): unknown {
  const outcome = response && readOutcome(method, response)
  return outcome?.kind === 'success' ? outcome.data : undefined
}

type WithBodies<Body> = Omit<Exchange, 'request' | 'response'> & {
  request: Omit<Exchange['request'], 'body'> & { body: Body }
  response: (Omit<SeenResponse, 'body'> & { body: Body }) | undefined
}

/** The exchange with both bodies in another form. */
function withBodies<From, To>(exchange: WithBodies<From>, convert: (body: From) => To): WithBodies<To> {
  const { request, response } = exchange
  return {
    ...exchange,
    request: { ...request, body: convert(request.body) },
    response: response && { ...response, body: convert(response.body) },
  }
}
