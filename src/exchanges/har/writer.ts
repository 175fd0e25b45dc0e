import { closeSync, ftruncateSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { shorten } from '../../ground/show.ts'
import { type RecordedExchange, writeEntry } from './entry-writer.ts'
import { CREATOR, HarError, LARGEST_HAR } from './file.ts'

const WRITER_LIMITS = {
  /** The bytes of a body; longer bodies are cut off. */
  body: 1 << 20,
  /** The bytes of the file. */
  file: LARGEST_HAR,
}

/**
 * Writes a HAR 1.2 file with an entry a line. Each write appends an entry in place of the closing brackets, and writes
 * these again, so the file is whole between two writes. If the system ends the program within a write, the reader cuts
 * off the last line. The system takes a write at once, and keeps it if the program ends.
 */
export class HarWriter {
  readonly #file: number
  readonly #limits: typeof WRITER_LIMITS
  /** Where the list ends; only the closing brackets follow. */
  #end = 0
  /** How many exchanges were dropped before the next one, which says so. */
  #droppedBefore = 0
  /** How many exchanges the file has, and how many it lacks because there was no room. */
  entries = 0
  dropped = 0
  /** Why the writer has stopped, as a sentence. */
  problem: string | undefined

  private constructor(file: number, limits: Partial<typeof WRITER_LIMITS>) {
    this.#file = file
    this.#limits = { ...WRITER_LIMITS, ...limits }
  }

  /** Creates the file without entries, readable only by its owner. @throws HarError */
  static open(path: string, version: string, limits: Partial<typeof WRITER_LIMITS> = {}): HarWriter {
    const creator = JSON.stringify({ name: CREATOR, version })
    let file: number | undefined
    try {
      file = openSync(path, 'wx', 0o600)
      const writer = new HarWriter(file, limits)
      writer.#append(Buffer.from(`{"log":{"version":"1.2","creator":${creator},"entries":[`))
      return writer
    } catch (error) {
      if (file !== undefined) {
        closeSync(file)
        rmSync(path, { force: true })
      }
      throw new HarError(`${shorten(path)}: ${reasonAgainst(path, codeOf(error))}`)
    }
  }

  /** Adds an exchange, or drops and counts it. */
  add(exchange: RecordedExchange): void {
    const { file, body } = this.#limits
    const entry = this.problem === undefined ? writeEntry(exchange, body, this.#droppedBefore) : undefined
    if (entry === undefined || this.#end + entry.length + END.length > file) {
      this.dropped++
      this.#droppedBefore++
      return
    }
    try {
      this.#append(Buffer.concat([this.entries === 0 ? FIRST : NEXT, entry]))
      this.entries++
      this.#droppedBefore = 0
    } catch (error) {
      this.problem = `The recording ends early, because its file cannot be written any more (${codeOf(error)}).`
      this.dropped++
      this.#mend()
    }
  }

  close(): void {
    closeSync(this.#file)
  }

  /** Appends to the list, before the closing brackets. */
  #append(news: Buffer): void {
    this.#writeAt(this.#end, Buffer.concat([news, END]))
    this.#end += news.length
  }

  /** Makes the file whole again after a write that has failed, if that is possible. */
  #mend(): void {
    try {
      ftruncateSync(this.#file, this.#end)
      this.#writeAt(this.#end, END)
    } catch {
      // The reader cuts off what is not whole.
    }
  }

  /** A single write may write only a part of the bytes. */
  #writeAt(place: number, bytes: Buffer): void {
    for (let written = 0; written < bytes.length; ) {
      written += writeSync(this.#file, bytes, written, bytes.length - written, place + written)
    }
  }
}

const FIRST = Buffer.from('\n')
const NEXT = Buffer.from(',\n')
const END = Buffer.from('\n]}}\n')

/** Why a new file cannot be created, as a sentence. */
function reasonAgainst(path: string, code: string): string {
  if (code !== 'EEXIST' && code !== 'EISDIR') return `The file cannot be written (${code}).`
  const facts = statSync(path, { throwIfNoEntry: false })
  if (facts?.isDirectory()) return 'This is a folder; give the name of a file.'
  if (facts !== undefined && !facts.isFile()) return 'This is no regular file; a recording needs one.'
  return 'The file is there already; give another name, or remove it.'
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error)
}
