import { constants } from 'node:fs'
import { type FileHandle, link, lstat, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { elapsed } from '../../ground/clock.ts'
import { shorten } from '../../ground/show.ts'
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

export interface HarWriterOptions {
  /** The version of this program. */
  version: string
  /** Whether a recording by this program may be replaced. Other files are never replaced. */
  replaces?: boolean
  limits?: Partial<typeof WRITER_LIMITS>
}

/**
 * Writes a HAR 1.2 file that is complete at every moment, for readers while it grows and after the program was killed.
 * A write in place could not do that: the system may end a program between two pages of one write. So there are two
 * copies. New entries go to the hidden copy, which then takes the name of the other copy in one step.
 */
export class HarWriter {
  readonly #path: string
  readonly #limits: typeof WRITER_LIMITS
  /** The copy that has the name, and the hidden copy, which lacks the entries that were written last. */
  #shown: HarCopy
  #hidden: HarCopy
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

  private constructor(path: string, shown: HarCopy, hidden: HarCopy, limits: Partial<typeof WRITER_LIMITS>) {
    this.#path = path
    this.#shown = shown
    this.#hidden = hidden
    this.#limits = { ...WRITER_LIMITS, ...limits }
  }

  /** Creates the file without entries, readable only by its owner. @throws HarFileError */
  static async open(given: string, { version, replaces = false, limits = {} }: HarWriterOptions): Promise<HarWriter> {
    const path = await refuseOthers(given, replaces)
    const creator = JSON.stringify({ name: CREATOR, version })
    const head = Buffer.from(`{"log":{"version":"1.2","creator":${creator},"entries":[`)
    for (const name of [sideOf(path), oldOf(path)]) await removeLeftover(name)
    const opened: HarCopy[] = []
    try {
      // The hidden copy comes first, so the named file exists only if both can be written.
      for (const name of [oldOf(path), sideOf(path)]) opened.push(await createCopy(name, head))
      const [shown, hidden] = opened as [HarCopy, HarCopy]
      // `link` does not replace a file that was created in the meantime.
      await (replaces ? rename(oldOf(path), path) : link(oldOf(path), path))
      await rm(oldOf(path), { force: true })
      return new HarWriter(path, shown, hidden, limits)
    } catch (error) {
      for (const { handle } of opened) await handle.close()
      await removeCopies(path)
      const hasLinks = !['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(codeOf(error))
      const reason = hasLinks ? '' : ' Its folder must be on a file system with hard links.'
      throw new HarFileError(`${shorten(given)}: The file cannot be written (${codeOf(error)}).${reason}`)
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
    for (const { handle } of [this.#shown, this.#hidden]) await handle.close().catch(() => {})
    await removeCopies(this.#path)
  }

  /** `undefined` if there is no room. */
  #writeEntry(exchange: RecordedExchange): Buffer | undefined {
    const { waiting, file, body } = this.#limits
    if (this.#waitingBytes >= waiting) return undefined
    const entry = writeEntry(exchange, body, this.#droppedBefore)
    return this.#shown.end + this.#waitingBytes + entry.length > file ? undefined : entry
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
    const batch = this.#waiting
    const size = this.#waitingBytes
    this.#waiting = []
    try {
      const isFirst = this.#entries === 0
      const text = batch.flatMap((entry, index) => [isFirst && index === 0 ? FIRST : NEXT, entry])
      const news = Buffer.concat(text)
      const dropped = this.#dropped
      const end = Buffer.from(endFor(dropped))
      await writeAll(this.#hidden, Buffer.concat([this.#latest, news, end]))
      this.#hidden.end += this.#latest.length + news.length
      await this.#swap()
      this.#latest = news
      this.#entries += batch.length
      this.#droppedTold = dropped
    } catch (error) {
      // The named file is complete; only the hidden copy may have a part of an entry.
      this.#problem = `The recording ends early, because its file cannot be written any more (${codeOf(error)}).`
      this.#dropped += batch.length + this.#waiting.length
      this.#waiting = []
      this.#waitingBytes = 0
      return
    }
    this.#waitingBytes -= size
    this.#flushed = elapsed()
  }

  /** Gives the name to the hidden copy. A file with this name exists at every moment. */
  async #swap(): Promise<void> {
    const [named, own] = await Promise.all([stat(this.#path), this.#shown.handle.stat()])
    if (named.ino !== own.ino || named.dev !== own.dev)
      throw Object.assign(new Error(), { code: 'replaced by another file' })
    await link(this.#path, oldOf(this.#path))
    await rename(sideOf(this.#path), this.#path)
    await rename(oldOf(this.#path), sideOf(this.#path))
    const shown = this.#hidden
    this.#hidden = this.#shown
    this.#shown = shown
  }
}

/** The creator that the files name. */
export const CREATOR = 'dmarc-understudy'

const FIRST = Buffer.from('\n')
const NEXT = Buffer.from(',\n')

/** One of the two files. `end` is where its list ends; only the closing brackets and a comment follow. */
interface HarCopy {
  handle: FileHandle
  end: number
}

/** Names for the hidden copy, and for the moment in which the copies change their names. */
const sideOf = (path: string) => `${path}.next`
const oldOf = (path: string) => `${path}.last`

async function removeCopies(path: string): Promise<void> {
  for (const name of [sideOf(path), oldOf(path)]) await rm(name, { force: true }).catch(() => {})
}

async function createCopy(path: string, head: Buffer): Promise<HarCopy> {
  const handle = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600)
  const copy = { handle, end: 0 }
  await writeAll(copy, Buffer.concat([head, Buffer.from(endFor(0))]))
  copy.end = head.length
  return copy
}

/** The end of the document, with a comment about dropped exchanges. It never becomes shorter. */
function endFor(dropped: number): string {
  const comment = `${dropped} exchange${dropped === 1 ? ' was' : 's were'} left out, because the disk was too slow or the file too large.`
  return `\n]${dropped === 0 ? '' : `,"comment":${JSON.stringify(comment)}`}}}\n`
}

/** A single write may write only a part of the bytes. */
async function writeAll({ handle, end }: HarCopy, bytes: Buffer): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, end + written)
    written += bytesWritten
  }
}

/** The path of the file itself if the given path is a link. @throws HarFileError if the file must not be replaced */
async function refuseOthers(given: string, replaces: boolean): Promise<string> {
  const name = shorten(given)
  let path: string
  try {
    path = await realpath(given)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return given
    throw new HarFileError(`${name}: The file cannot be written (${codeOf(error)}).`)
  }
  const facts = await stat(path)
  if (facts.isDirectory()) throw new HarFileError(`${name}: This is a folder; give the name of a file.`)
  if (!facts.isFile()) throw new HarFileError(`${name}: This is no regular file; a recording needs one.`)
  if (!replaces) throw new HarFileError(`${name}: The file is there already; give another name, or remove it.`)
  if (!(await isRecording(path)))
    throw new HarFileError(`${name}: This is no recording of this program; give another name.`)
  return path
}

/** Removes a copy that a killed program left behind. @throws HarFileError if the file is not a recording */
async function removeLeftover(path: string): Promise<void> {
  const facts = await lstat(path).catch(() => undefined)
  if (facts === undefined) return
  if (!facts.isFile() || !(await isRecording(path))) {
    throw new HarFileError(`${shorten(path)}: This name is needed for a copy; remove the file, or give another name.`)
  }
  await rm(path, { force: true })
}

async function isRecording(path: string): Promise<boolean> {
  const handle = await open(path, 'r').catch(() => undefined)
  if (handle === undefined) return false
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(100), 0, 100, 0)
    return bytesRead === 0 || buffer.toString().startsWith(`{"log":{"version":"1.2","creator":{"name":"${CREATOR}"`)
  } finally {
    await handle.close()
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error)
}
