import { type FileHandle, open, rm, stat } from 'node:fs/promises'
import { shorten } from '../../ground/show.ts'
import { type RecordedExchange, writeEntry } from './entry-writer.ts'
import { CREATOR, LARGEST_HAR } from './file.ts'

/** Why a file cannot be written. The message is one line. */
export class HarFileError extends Error {
  override name = 'HarFileError'
}

const WRITER_LIMITS = {
  /** The bytes of a body; longer bodies are cut off. */
  body: 1 << 20,
  /** The bytes that may wait for the disk. */
  waiting: 32 << 20,
  /** The bytes of the file. */
  file: LARGEST_HAR,
}

/**
 * Writes a HAR 1.2 file with an entry a line. Each write appends entries in place of the closing brackets, and writes
 * these again, so the file is whole between two writes. If the system ends the program within a write, the reader cuts
 * off the last line.
 */
export class HarWriter {
  readonly #handle: FileHandle
  readonly #limits: typeof WRITER_LIMITS
  /** Where the list ends; only the closing brackets follow. */
  #end: number
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #writing: Promise<void> | undefined
  #entries = 0
  #dropped = 0
  /** How many exchanges were dropped before the next one, and how many the file reports. */
  #droppedBefore = 0
  #droppedTold = 0
  #problem: string | undefined

  private constructor(handle: FileHandle, end: number, limits: Partial<typeof WRITER_LIMITS>) {
    this.#handle = handle
    this.#end = end
    this.#limits = { ...WRITER_LIMITS, ...limits }
  }

  /** Creates the file without entries, readable only by its owner. @throws HarFileError */
  static async open(path: string, version: string, limits: Partial<typeof WRITER_LIMITS> = {}): Promise<HarWriter> {
    const start = Buffer.from(
      `{"log":{"version":"1.2","creator":${JSON.stringify({ name: CREATOR, version })},"entries":[`,
    )
    let handle: FileHandle | undefined
    try {
      handle = await open(path, 'wx', 0o600)
      const writer = new HarWriter(handle, 0, limits)
      await writer.#append(start)
      return writer
    } catch (error) {
      if (handle !== undefined) {
        await handle.close()
        await rm(path, { force: true })
      }
      throw new HarFileError(`${shorten(path)}: ${await reasonAgainst(path, codeOf(error))}`)
    }
  }

  /** How many exchanges the file has. `dropped` counts those it lacks because the disk was too slow or too small. */
  get entries(): number {
    return this.#entries
  }
  get dropped(): number {
    return this.#dropped
  }
  /** Why the writer has stopped, as a sentence. */
  get problem(): string | undefined {
    return this.#problem
  }

  /** Adds an exchange. It never waits: if too much waits for the disk, the exchange is dropped and counted. */
  add(exchange: RecordedExchange): void {
    const { waiting, file, body } = this.#limits
    const hasRoom = this.#problem === undefined && this.#waitingBytes < waiting
    const entry = hasRoom ? writeEntry(exchange, body, this.#droppedBefore) : undefined
    if (entry === undefined || this.#end + this.#waitingBytes + entry.length + LONGEST_END > file) {
      this.#dropped++
      this.#droppedBefore++
      return
    }
    this.#droppedBefore = 0
    this.#waiting.push(entry)
    this.#waitingBytes += entry.length
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined
    })
  }

  /** Resolves when everything that was added is in the file. */
  async close(): Promise<void> {
    await this.#writing
    if (this.#droppedTold < this.#dropped) await this.#write()
    await this.#handle.close().catch(() => {})
  }

  async #write(): Promise<void> {
    do {
      const [batch, size] = [this.#waiting, this.#waitingBytes]
      this.#waiting = []
      if (this.#problem !== undefined) return
      const lines = batch.flatMap((entry, index) => [this.#entries + index === 0 ? FIRST : NEXT, entry])
      try {
        await this.#append(Buffer.concat(lines))
        this.#entries += batch.length
      } catch (error) {
        this.#problem = `The recording ends early, because its file cannot be written any more (${codeOf(error)}).`
        this.#dropped += batch.length + this.#waiting.length
        this.#waiting = []
        await this.#mend().catch(() => {})
      }
      this.#waitingBytes -= size
    } while (this.#waiting.length > 0)
  }

  /** Appends to the list, before the closing brackets. */
  async #append(news: Buffer): Promise<void> {
    const told = this.#dropped
    await this.#writeAt(this.#end, Buffer.concat([news, endFor(told)]))
    this.#end += news.length
    this.#droppedTold = told
  }

  /** Makes the file whole again after a write that has failed. */
  async #mend(): Promise<void> {
    await this.#handle.truncate(this.#end)
    await this.#writeAt(this.#end, endFor(this.#droppedTold))
  }

  /** A single write may write only a part of the bytes. */
  async #writeAt(place: number, bytes: Buffer): Promise<void> {
    for (let written = 0; written < bytes.length; ) {
      const { bytesWritten } = await this.#handle.write(bytes, written, bytes.length - written, place + written)
      written += bytesWritten
    }
  }
}

const FIRST = Buffer.from('\n')
const NEXT = Buffer.from(',\n')

/** The end of the document, with a comment about dropped exchanges. It never becomes shorter. */
function endFor(dropped: number): Buffer {
  const comment = `${dropped} exchange${dropped === 1 ? ' was' : 's were'} left out, because the disk was too slow or the file too large.`
  return Buffer.from(`\n]${dropped === 0 ? '' : `,"comment":${JSON.stringify(comment)}`}}}\n`)
}
const LONGEST_END = 200

/** Why a new file cannot be created, as a sentence. */
async function reasonAgainst(path: string, code: string): Promise<string> {
  const facts = await stat(path).catch(() => undefined)
  if (facts?.isDirectory()) return 'This is a folder; give the name of a file.'
  if (facts !== undefined && !facts.isFile()) return 'This is no regular file; a recording needs one.'
  if (code === 'EEXIST') return 'The file is there already; give another name, or remove it.'
  return `The file cannot be written (${code}).`
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error)
}
