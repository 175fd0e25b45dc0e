import { type FileHandle, link, open, rename, rm, stat } from 'node:fs/promises'
import { elapsed } from '../../ground/clock.ts'
import { shorten } from '../../ground/show.ts'
import { clearTimeout, setTimeout } from '../../ground/timers.ts'
import { type RecordedExchange, writeEntry } from './entry-writer.ts'

/** Why a file cannot be written. The message is one line. */
export class HarFileError extends Error {
  override name = 'HarFileError'
}

export const WRITER_LIMITS = {
  /** The bytes of a body; longer bodies are cut off. */
  body: 1 << 20,
  /** The bytes that may wait for the disk. */
  waiting: 32 << 20,
  /** The bytes of the file. */
  file: 2 ** 31,
} as const

/** In milliseconds: the file grows at most once in this time. */
const INTERVAL = 50

/** One of two files with the same beginning. `end` is where its list ends; only the closing brackets follow. */
interface HarCopy {
  handle: FileHandle
  end: number
}

/**
 * Writes a HAR 1.2 file that is whole at every moment, also if the program is killed. The system may end a program
 * within a write, so a write never goes to the file with the name: it appends to a second copy, which then takes the
 * name in one step.
 */
export class HarWriter {
  readonly #path: string
  readonly #limits: typeof WRITER_LIMITS
  /** The copy that has the name, and the other one, which lacks the entries that were written last. */
  #named: HarCopy
  #other: HarCopy
  #latest = Buffer.alloc(0)
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #entries = 0
  #dropped = 0
  /** How many exchanges were dropped before the next one, and how many the file reports. */
  #droppedBefore = 0
  #droppedTold = 0
  #problem: string | undefined
  #flushing: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #flushed = Number.NEGATIVE_INFINITY

  private constructor(path: string, named: HarCopy, other: HarCopy, limits: Partial<typeof WRITER_LIMITS>) {
    this.#path = path
    this.#named = named
    this.#other = other
    this.#limits = { ...WRITER_LIMITS, ...limits }
  }

  /** Creates the file without entries, readable only by its owner. @throws HarFileError */
  static async open(path: string, version: string, limits: Partial<typeof WRITER_LIMITS> = {}): Promise<HarWriter> {
    const named = await createCopy(path, version)
    try {
      const writer = new HarWriter(path, named, await createCopy(otherOf(path), version), limits)
      // Not every file system has hard links.
      await writer.#swap().catch(async (error: unknown) => {
        await writer.close()
        throw new HarFileError(`${shorten(path)}: The file cannot be written (${codeOf(error)}). ${NEEDED}`)
      })
      return writer
    } catch (error) {
      await named.handle.close()
      await rm(path, { force: true })
      throw error
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
    const entry = this.#problem === undefined ? this.#writeEntry(exchange) : undefined
    if (entry === undefined) {
      this.#dropped++
      this.#droppedBefore++
    } else {
      this.#droppedBefore = 0
      this.#waiting.push(entry)
      this.#waitingBytes += entry.length
    }
    this.#plan()
  }

  /** Resolves when everything that was added is in the file. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#flushing
    if (this.#waiting.length > 0 || this.#droppedTold < this.#dropped) await this.#flush()
    for (const { handle } of [this.#named, this.#other]) await handle.close().catch(() => {})
    await rm(otherOf(this.#path), { force: true }).catch(() => {})
  }

  /** `undefined` if there is no room. */
  #writeEntry(exchange: RecordedExchange): Buffer | undefined {
    const { waiting, file, body } = this.#limits
    if (this.#waitingBytes >= waiting) return undefined
    const entry = writeEntry(exchange, body, this.#droppedBefore)
    return this.#named.end + this.#waitingBytes + entry.length > file ? undefined : entry
  }

  #plan(): void {
    if (this.#timer !== undefined || this.#flushing !== undefined || this.#problem !== undefined) return
    const wait = Math.max(0, this.#flushed + INTERVAL - elapsed())
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#flushing = this.#flush().finally(() => {
        this.#flushing = undefined
        if (this.#waiting.length > 0) this.#plan()
      })
    }, wait)
    this.#timer.unref()
  }

  async #flush(): Promise<void> {
    if (this.#problem !== undefined) return
    const [batch, size, dropped] = [this.#waiting, this.#waitingBytes, this.#dropped]
    this.#waiting = []
    try {
      const isFirst = this.#entries === 0
      const news = Buffer.concat(batch.flatMap((entry, index) => [isFirst && index === 0 ? FIRST : NEXT, entry]))
      await append(this.#other, Buffer.concat([this.#latest, news]), endFor(dropped))
      await this.#swap()
      this.#latest = news
      this.#entries += batch.length
      this.#droppedTold = dropped
    } catch (error) {
      // The named copy is whole; only the other one may have a part of an entry.
      this.#problem = `The recording ends early, because its file cannot be written any more (${codeOf(error)}).`
      this.#dropped += batch.length + this.#waiting.length
      this.#waiting = []
      this.#waitingBytes = 0
      return
    }
    this.#waitingBytes -= size
    this.#flushed = elapsed()
  }

  /** Gives the name to the other copy. A file with this name exists at every moment. */
  async #swap(): Promise<void> {
    const [named, own] = await Promise.all([stat(this.#path), this.#named.handle.stat()])
    if (named.ino !== own.ino || named.dev !== own.dev)
      throw Object.assign(new Error(), { code: 'replaced by another file' })
    const former = formerOf(this.#path)
    await link(this.#path, former)
    try {
      await rename(otherOf(this.#path), this.#path)
      await rename(former, otherOf(this.#path))
    } catch (error) {
      await rm(former, { force: true })
      throw error
    }
    ;[this.#named, this.#other] = [this.#other, this.#named]
  }
}

const NEEDED = 'Its folder must allow hard links, and have no file of this name with .last behind it.'

/** The creator that the files name. */
export const CREATOR = 'dmarc-understudy'

const FIRST = Buffer.from('\n')
const NEXT = Buffer.from(',\n')

/** The end of the document, with a comment about dropped exchanges. It never becomes shorter. */
function endFor(dropped: number): Buffer {
  const comment = `${dropped} exchange${dropped === 1 ? ' was' : 's were'} left out, because the disk was too slow or the file too large.`
  return Buffer.from(`\n]${dropped === 0 ? '' : `,"comment":${JSON.stringify(comment)}`}}}\n`)
}

/** Names for the other copy, and for the moment in which the copies change their names. */
const OTHER = '.next'
const otherOf = (path: string) => path + OTHER
const formerOf = (path: string) => `${path}.last`

/** Creates a recording without entries. @throws HarFileError */
async function createCopy(path: string, version: string): Promise<HarCopy> {
  const creator = JSON.stringify({ name: CREATOR, version })
  let handle: FileHandle | undefined
  try {
    handle = await open(path, 'wx', 0o600)
    const copy = { handle, end: 0 }
    await append(copy, Buffer.from(`{"log":{"version":"1.2","creator":${creator},"entries":[`), endFor(0))
    return copy
  } catch (error) {
    if (handle !== undefined) {
      await handle.close()
      await rm(path, { force: true })
    }
    throw new HarFileError(`${shorten(path)}: ${await reasonAgainst(path, codeOf(error))}`)
  }
}

/** Appends to the list, before the closing brackets. A single write may write only a part of the bytes. */
async function append(copy: HarCopy, news: Buffer, end: Buffer): Promise<void> {
  const bytes = Buffer.concat([news, end])
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await copy.handle.write(bytes, written, bytes.length - written, copy.end + written)
    written += bytesWritten
  }
  copy.end += news.length
}

/** Why a new file cannot be created, as a sentence. */
async function reasonAgainst(path: string, code: string): Promise<string> {
  const facts = await stat(path).catch(() => undefined)
  if (facts?.isDirectory()) return 'This is a folder; give the name of a file.'
  if (facts !== undefined && !facts.isFile()) return 'This is no regular file; a recording needs one.'
  if (code === 'EEXIST' && path.endsWith(OTHER))
    return 'The recording needs this name for its second copy; remove the file, which an earlier run may have left.'
  if (code === 'EEXIST') return 'The file is there already; give another name, or remove it.'
  return `The file cannot be written (${code}).`
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error)
}
