import { type FileHandle, open, readFile, stat } from 'node:fs/promises'
import { dirname, resolve, sep } from 'node:path'
import { isObject, readJson } from '../../ground/json.ts'
import { shorten, showWritten } from '../../ground/show.ts'
import { LARGEST_BODY, type ReadAttached } from './entry.ts'
import type { Extent } from './entry-scanner.ts'
import { HarError } from './service.ts'
import { CREATOR } from './writer.ts'

/** How many bytes of a file are read at a time when entries are read again. */
const WINDOW = 64 << 10

/** A HAR file that can be read several times. */
export interface RecordedFile {
  path: string
  handle: FileHandle
  size: number
  isOwn: boolean
  /** Whether no request shows its sender, because the recorder removes this information. */
  isSanitised: boolean
}

/** @throws HarError for files that cannot be read several times. */
export async function openFile(path: string): Promise<RecordedFile> {
  const name = shorten(path)
  try {
    // Opening a pipe without a writer would block, so the type of the file is checked first.
    const facts = await stat(path)
    if (facts.isDirectory()) throw new HarError(`${name}: This is a folder; give the HAR files in it.`)
    if (!facts.isFile())
      throw new HarError(`${name}: This is no regular file; save the recording in one, and give that.`)
    const handle = await open(path, 'r')
    return { path, handle, size: facts.size, isOwn: false, isSanitised: true }
  } catch (error) {
    throw error instanceof HarError ? error : unreadable(path, error)
  }
}

function unreadable(path: string, error: unknown): HarError {
  return new HarError(`${showWritten(path)}: The file cannot be read (${(error as NodeJS.ErrnoException).code}).`)
}

/** Reads a part of a file into `bytes`; resolves to the number of bytes read. @throws HarError */
export async function readPart({ handle, path }: RecordedFile, bytes: Buffer, offset: number): Promise<number> {
  try {
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, offset)
    return bytesRead
  } catch (error) {
    throw unreadable(path, error)
  }
}

/** Whether the JSON of `log.creator` names this program. */
export function isOwn(creator: string | undefined): boolean {
  const said = creator === undefined ? undefined : readJson(creator)
  return isObject(said) && said['name'] === CREATOR
}

/** How other files begin that users mistake for a recording, in Latin-1. */
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

/** Refuses a file that is not a JSON object, and removes the byte order mark. @throws HarError */
export function refuseForeign(piece: Buffer, name: string): void {
  const beginning = piece.toString('latin1', 0, 4096)
  const isMarked = beginning.startsWith(UTF8_MARK)
  if (isMarked) piece.fill(' ', 0, UTF8_MARK.length)
  const text = (isMarked ? beginning.slice(UTF8_MARK.length) : beginning).trimStart()
  if (text.startsWith('{')) return
  const [, reason = 'it is not a JSON object'] = FOREIGN.find(([magic]) => text.startsWith(magic)) ?? []
  throw new HarError(`${name}: This is no HAR file: ${reason}.`)
}

/** Reads the files that a recorder stored separately. They are beside the recording or below its folder. */
export function attachmentsOf({ path }: RecordedFile): ReadAttached {
  return async (name) => {
    const folder = dirname(resolve(path))
    const wanted = resolve(folder, name)
    if (!wanted.startsWith(folder.endsWith(sep) ? folder : folder + sep)) return undefined
    try {
      const facts = await stat(wanted)
      if (!facts.isFile() || facts.size > LARGEST_BODY) return undefined
      return await readFile(wanted)
    } catch {
      return undefined
    }
  }
}

/** Reads parts of a file, most of them in ascending order. */
export class FileWindow {
  readonly #file: RecordedFile
  readonly #bytes = Buffer.allocUnsafe(WINDOW)
  #offset = 0
  #size = 0

  constructor(file: RecordedFile) {
    this.#file = file
  }

  /** The text of an entry; shorter if the file has become shorter. */
  async read({ offset, length }: Extent): Promise<string> {
    if (length > WINDOW) {
      const bytes = Buffer.allocUnsafe(length)
      return bytes.toString('utf8', 0, await readPart(this.#file, bytes, offset))
    }
    if (offset < this.#offset || offset + length > this.#offset + this.#size) {
      this.#size = await readPart(this.#file, this.#bytes, offset)
      this.#offset = offset
    }
    const start = offset - this.#offset
    return this.#bytes.toString('utf8', start, Math.min(start + length, this.#size))
  }
}
