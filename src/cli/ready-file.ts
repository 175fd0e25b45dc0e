import { lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { isObject } from '../ground/json.ts'
import type { Understudy } from '../start/server.ts'
import { UsageError } from './errors.ts'

/** What a ready file says of a server that answers. */
interface ReadyFacts {
  base_url: string
  admin_url: string | null
  api_key: string | null
  pid: number
  /** New at each start; `/__admin/health` has the same. */
  instance: string
}

/** What the file says of this server. */
export function readyFactsOf({ baseUrl, adminUrl, apiKey, instance }: Understudy): ReadyFacts {
  return { base_url: baseUrl, admin_url: adminUrl ?? null, api_key: apiKey ?? null, pid: process.pid, instance }
}

/** Tells other programs that a server is ready, and where. The file exists only while the server runs. */
export class ReadyFile {
  readonly #path: string
  readonly #source: string
  #instance: string | undefined

  /**
   * Removes a file that is left of another run, so that nobody reads it. `source` is the option as it was given.
   * @throws UsageError where something else is there, or the file could not be written later
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

  /** Only its owner can read the file, because it holds a key. It appears at once, with all of its content. */
  write(facts: ReadyFacts): void {
    this.#attempt(() => {
      this.#writeDraft(`${JSON.stringify(facts, undefined, 2)}\n`)
      renameSync(this.#draft, this.#path)
    })
    this.#instance = facts.instance
  }

  /** Leaves the file of another server that has replaced it. */
  remove(): void {
    try {
      const facts = JSON.parse(readFileSync(this.#path, 'utf8')) as Partial<ReadyFacts>
      if (facts.instance === this.#instance) rmSync(this.#path, { force: true })
    } catch {
      // Somebody else has removed or changed it.
    }
  }

  get #draft(): string {
    return `${this.#path}.${process.pid}.tmp`
  }

  /** What somebody else has left in its place, such as a link, is removed and not followed. */
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

/** No ready file is larger, so that a large file is not read to find out that it is something else. */
const LARGEST = 10_000

/** Whether nothing is there, or an empty file as `mktemp` makes it, or a ready file. Anything else may be somebody's work, or a device. */
function isReplaceable(path: string): boolean {
  const status = lstatSync(path, { throwIfNoEntry: false })
  if (status === undefined) return true
  if (!status.isFile() || status.size > LARGEST) return false
  if (status.size === 0) return true
  try {
    const facts: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return isObject(facts) && typeof facts['instance'] === 'string' && typeof facts['base_url'] === 'string'
  } catch {
    return false
  }
}
