import { type FileHandle, open, readFile, stat } from 'node:fs/promises'
import { dirname, resolve, sep } from 'node:path'
import { isUtf16, lengthOfMark, WRITTEN_IN_UTF16 } from '../../ground/input-file.ts'
import { isObject, readJson } from '../../ground/json.ts'
import { shorten, showWritten } from '../../ground/show.ts'
import { Turns } from '../../ground/turns.ts'
import { LARGEST_BODY } from './entry.ts'
import { EntryScanner, type Extent, type FoundEntry } from './entry-scanner.ts'
import { HarError } from './service.ts'
import { CREATOR } from './writer.ts'

/** How many bytes of a file are read at a time, in the search for entries, and for single entries. */
const PIECE = 1 << 20
const WINDOW = 64 << 10
const LONGEST_CREATOR = 4096

/** What the search for entries does beside. */
export interface ScanOptions {
  signal?: AbortSignal | undefined
  /** Reports how many more bytes were read. */
  onRead(bytes: number): void
}

/** A HAR file that can be read several times. */
export class RecordedFile {
  readonly path: string
  readonly size: number
  /** Whether this program has written it. */
  isOwn = false
  /** Whether no request shows its sender, because the recorder removes this information. */
  isSanitised = true
  readonly #handle: FileHandle
  /** The part of the file that was read last, from `#offset` on. */
  readonly #window = Buffer.allocUnsafe(WINDOW)
  #offset = 0
  #filled = 0

  private constructor(path: string, size: number, handle: FileHandle) {
    this.path = path
    this.size = size
    this.#handle = handle
  }

  /** @throws HarError for files that cannot be read several times. */
  static async open(path: string): Promise<RecordedFile> {
    const name = shorten(path)
    // Opening a pipe without a writer would block, so the type of the file is checked first.
    const facts = await stat(path).catch((error: unknown) => refuseUnreadable(path, error))
    if (facts.isDirectory()) throw new HarError(`${name}: This is a folder; give the HAR files in it.`)
    if (!facts.isFile())
      throw new HarError(`${name}: This is no regular file; save the recording in one, and give that.`)
    const handle = await open(path, 'r').catch((error: unknown) => refuseUnreadable(path, error))
    return new RecordedFile(path, facts.size, handle)
  }

  close(): Promise<void> {
    return this.#handle.close()
  }

  /**
   * Calls `take` for each entry in file order. Resolves to a sentence about the place where the file is broken, if it
   * is. @throws HarError for a file that is no recording
   */
  async scan(take: (entry: FoundEntry) => Promise<void>, { signal, onRead }: ScanOptions): Promise<string | undefined> {
    const name = shorten(this.path)
    const scanner = new EntryScanner()
    const piece = Buffer.allocUnsafe(PIECE)
    const turns = new Turns()
    let knowsCreator = false
    for (let offset = 0; !scanner.isBroken; ) {
      signal?.throwIfAborted()
      const length = await this.#readPart(piece, offset)
      if (length === 0 && offset === 0) throw new HarError(`${name}: The file is empty.`)
      if (length === 0) break
      const part = piece.subarray(0, length)
      if (offset === 0) refuseForeign(part, name)
      offset += length
      onRead(length)
      const found = scanner.push(part)
      const { creator } = scanner
      if (creator !== undefined && !knowsCreator) {
        this.isOwn = creator.length <= LONGEST_CREATOR && isOwn((await this.read(creator)).toString())
        knowsCreator = true
      }
      for (const entry of found) await take(entry)
      if (turns.isOver()) await turns.next()
    }
    const end = scanner.end()
    if (!scanner.hasEntries || (end !== undefined && scanner.count === 0)) {
      const reason = end === undefined ? 'it has no list log.entries' : `${end.reason} (byte ${end.offset + 1})`
      throw new HarError(`${name}: This is no HAR file: ${reason}.`)
    }
    if (end === undefined) return undefined
    return `${name} is broken at byte ${end.offset + 1}: ${end.reason}. What comes behind is not judged.`
  }

  /**
   * The bytes of a part until the next call; fewer if the file has become shorter. Most parts are read in ascending
   * order.
   */
  async read({ offset, length }: Extent): Promise<Buffer> {
    if (length > WINDOW) {
      const bytes = Buffer.allocUnsafe(length)
      return bytes.subarray(0, await this.#readPart(bytes, offset))
    }
    if (offset < this.#offset || offset + length > this.#offset + this.#filled) {
      this.#filled = await this.#readPart(this.#window, offset)
      this.#offset = offset
    }
    const start = offset - this.#offset
    return this.#window.subarray(start, Math.min(start + length, this.#filled))
  }

  /** A file that a recorder stored separately, if it is beside the recording or below its folder. */
  async readAttached(name: string): Promise<Buffer | undefined> {
    const folder = dirname(resolve(this.path))
    const wanted = resolve(folder, name)
    if (!wanted.startsWith(folder.endsWith(sep) ? folder : folder + sep)) return undefined
    try {
      const facts = await stat(wanted)
      return facts.isFile() && facts.size <= LARGEST_BODY ? await readFile(wanted) : undefined
    } catch {
      return undefined
    }
  }

  async #readPart(bytes: Buffer, offset: number): Promise<number> {
    const read = this.#handle.read(bytes, 0, bytes.length, offset)
    const { bytesRead } = await read.catch((error: unknown) => refuseUnreadable(this.path, error))
    return bytesRead
  }
}

function refuseUnreadable(path: string, error: unknown): never {
  throw new HarError(`${showWritten(path)}: The file cannot be read (${(error as NodeJS.ErrnoException).code}).`)
}

/** Whether the JSON of `log.creator` names this program. */
function isOwn(creator: string): boolean {
  const said = readJson(creator)
  return isObject(said) && said['name'] === CREATOR
}

/** How other files begin that users mistake for a recording, in Latin-1. */
const FOREIGN: readonly [beginning: string, reason: string][] = [
  ['\x1f\x8b', 'it is compressed with gzip; unpack it first'],
  ['PK\x03\x04', 'it is a ZIP archive; unpack it first, and give the .har file in it'],
  ['%PDF', 'it is a PDF document'],
  ['<', 'it is HTML or XML'],
  ['[', 'it is a list, not an object with a log'],
]

/** Refuses a file that is not a JSON object, and removes the byte order mark. @throws HarError */
function refuseForeign(piece: Buffer, name: string): void {
  if (isUtf16(piece)) throw new HarError(`${name}: The file ${WRITTEN_IN_UTF16}.`)
  piece.fill(' ', 0, lengthOfMark(piece))
  const text = piece.toString('latin1', 0, 4096).trimStart()
  if (text.startsWith('{')) return
  const [, reason = 'it is not a JSON object'] = FOREIGN.find(([magic]) => text.startsWith(magic)) ?? []
  throw new HarError(`${name}: This is no HAR file: ${reason}.`)
}
