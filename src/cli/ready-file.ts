import { lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { isObject, type Json } from '../ground/json.ts'
import { UsageError } from './errors.ts'

/** What a ready file says of a server. */
interface ReadyServer {
  readonly baseUrl: string
  readonly adminUrl: string | undefined
  readonly apiKey?: string | undefined
  /** New at each start. `/__admin/health` has the same value. */
  readonly instance: string
}

/** Tells other programs the address of a server that is ready. The file exists only while the server runs. */
export class ReadyFile {
  readonly #path: string
  readonly #source: string
  #instance: string | undefined

  /**
   * Removes the file of an earlier run, so that no program reads it. `source` is the option as the user wrote it.
   * @throws UsageError if the path holds another kind of file, or if it cannot be written later
   */
  constructor(path: string, source: string) {
    this.#path = path
    this.#source = source
    this.#attempt(() => {
      if (!isReplaceable(path)) throw new UsageError(`${source}: exists and is no ready file; give another name`)
      rmSync(path, { force: true })
      this.#writeDraft('')
      rmSync(this.#draft)
    })
  }

  /** Only the owner can read the file, because it has a key. A rename makes the whole content appear at once. */
  write({ baseUrl, adminUrl, apiKey, instance }: ReadyServer): void {
    const facts = {
      base_url: baseUrl,
      admin_url: adminUrl ?? null,
      api_key: apiKey ?? null,
      pid: process.pid,
      instance,
    }
    this.#attempt(() => {
      this.#writeDraft(`${JSON.stringify(facts, undefined, 2)}\n`)
      renameSync(this.#draft, this.#path)
    })
    this.#instance = instance
  }

  /** Does not remove the file if another server has replaced it. */
  remove(): void {
    if (this.#instance === undefined || readFacts(this.#path)?.['instance'] !== this.#instance) return
    try {
      rmSync(this.#path, { force: true })
    } catch {
      // The folder may be read-only by now. That must not hide the outcome of the run.
    }
  }

  get #draft(): string {
    return `${this.#path}.${process.pid}.tmp`
  }

  /** Removes an existing file at the path of the draft, such as a link, and does not follow it. */
  #writeDraft(text: string): void {
    rmSync(this.#draft, { force: true })
    writeFileSync(this.#draft, text, { flag: 'wx', mode: 0o600 })
  }

  #attempt(write: () => void): void {
    try {
      write()
    } catch (error) {
      if (error instanceof UsageError) throw error
      const { code } = error as NodeJS.ErrnoException
      throw new UsageError(`${this.#source}: cannot be written (${code}); give a file in a folder that exists`)
    }
  }
}

/** The largest possible ready file, in bytes. A larger file is not read. */
const LARGEST = 10_000

/**
 * Whether the path is free, or has an empty file (from `mktemp`) or a ready file. Any other file may be important for
 * the user, or be a device.
 */
function isReplaceable(path: string): boolean {
  const status = lstatSync(path, { throwIfNoEntry: false })
  if (status === undefined) return true
  if (!status.isFile() || status.size > LARGEST) return false
  if (status.size === 0) return true
  const facts = readFacts(path)
  return typeof facts?.['instance'] === 'string' && typeof facts['base_url'] === 'string'
}

/** The content of a file; `undefined` if it is no JSON object, or if another process has removed it. */
function readFacts(path: string): Json | undefined {
  try {
    const facts: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return isObject(facts) ? facts : undefined
  } catch {
    return undefined
  }
}
