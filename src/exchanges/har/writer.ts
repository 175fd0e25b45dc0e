import { type FileHandle, open, rm, stat } from 'node:fs/promises'
import { shorten } from '../../ground/show.ts'
import { type RecordedExchange, writeEntry } from './entry-writer.ts'
import { CREATOR, HarError, LARGEST_HAR } from './file.ts'

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
  #end = 0
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #writing: Promise<void> | undefined
  /** How many exchanges were dropped before the next one, which says so. */
  #droppedBefore = 0
  /** How many exchanges the file has, and how many it lacks because the disk was too slow or too small. */
  entries = 0
  dropped = 0
  /** Why the writer has stopped, as a sentence. */
  problem: string | undefined

  private constructor(handle: FileHandle, limits: Partial<typeof WRITER_LIMITS>) {
    this.#handle = handle
    this.#limits = { ...WRITER_LIMITS, ...limits }
  }

  /** Creates the file without entries, readable only by its owner. @throws HarError */
  static async open(path: string, version: string, limits: Partial<typeof WRITER_LIMITS> = {}): Promise<HarWriter> {
    const creator = JSON.stringify({ name: CREATOR, version })
    let handle: FileHandle | undefined
    try {
      handle = await open(path, 'wx', 0o600)
      const writer = new HarWriter(handle, limits)
      await writer.#append(Buffer.from(`{"log":{"version":"1.2","creator":${creator},"entries":[`))
      return writer
    } catch (error) {
      if (handle !== undefined) {
        await handle.close()
        await rm(path, { force: true })
      }
      throw new HarError(`${shorten(path)}: ${await reasonAgainst(path, codeOf(error))}`)
    }
  }

  /** Adds an exchange. It never waits: if too much waits for the disk, the exchange is dropped and counted. */
  add(exchange: RecordedExchange): void {
    const { waiting, file, body } = this.#limits
    const hasRoom = this.problem === undefined && this.#waitingBytes < waiting
    const entry = hasRoom ? writeEntry(exchange, body, this.#droppedBefore) : undefined
    if (entry === undefined || this.#end + this.#waitingBytes + entry.length + END.length > file) {
      this.dropped++
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
    await this.#handle.close().catch(() => {})
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const [batch, size] = [this.#waiting, this.#waitingBytes]
      this.#waiting = []
      const lines = batch.flatMap((entry, index) => [this.entries + index === 0 ? FIRST : NEXT, entry])
      try {
        await this.#append(Buffer.concat(lines))
        this.entries += batch.length
      } catch (error) {
        this.problem = `The recording ends early, because its file cannot be written any more (${codeOf(error)}).`
        this.dropped += batch.length + this.#waiting.length
        this.#waiting = []
        await this.#mend().catch(() => {})
      }
      this.#waitingBytes -= size
    }
  }

  /** Appends to the list, before the closing brackets. */
  async #append(news: Buffer): Promise<void> {
    await this.#writeAt(this.#end, Buffer.concat([news, END]))
    this.#end += news.length
  }

  /** Makes the file whole again after a write that has failed. */
  async #mend(): Promise<void> {
    await this.#handle.truncate(this.#end)
    await this.#writeAt(this.#end, END)
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
const END = Buffer.from('\n]}}\n')

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
