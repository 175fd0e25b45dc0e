import { lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { isObject, type Json, readJson } from '../ground/json.ts'
import { UsageError } from './options.ts'

/** What a ready file says of a server. */
interface ReadyServer {
  readonly baseUrl: string
  readonly adminUrl: string | undefined
  readonly apiKey?: string | undefined
  /** New at each start. `/__admin/health` has the same value. */
  readonly instance: string
}

/** Tells other programs the address of a server that is ready. The file exists only while the server runs. */
export interface ReadyFile {
  write(server: ReadyServer): void
  /** Does not remove the file if another server has replaced it. */
  remove(): void
}

interface ReadyOption {
  values: { readyFile?: string | undefined }
  sources: { readyFile: string }
}

/**
 * Removes the file of an earlier run, so that no program reads it. Without the option, there is no file.
 * @throws UsageError if the path holds another kind of file, or if it cannot be written later
 */
export function openReadyFile({ values: { readyFile: path }, sources: { readyFile: source } }: ReadyOption): ReadyFile {
  if (path === undefined) return { write: () => {}, remove: () => {} }
  const draft = `${path}.${process.pid}.tmp`
  let written: string | undefined

  /** Removes an existing file at the path of the draft, such as a link, and does not follow it. */
  function writeDraft(text: string): void {
    try {
      rmSync(draft, { force: true })
      writeFileSync(draft, text, { flag: 'wx', mode: 0o600 })
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      throw new UsageError(`${source}: cannot be written (${code}); give a file in a folder that exists`)
    }
  }

  if (!isReplaceable(path)) throw new UsageError(`${source}: exists and is no ready file; give another name`)
  writeDraft('')
  rmSync(draft)
  rmSync(path, { force: true })

  return {
    /** Only the owner can read the file, because it has a key. A rename makes the whole content appear at once. */
    write({ baseUrl, adminUrl, apiKey, instance }) {
      const urls = { base_url: baseUrl, admin_url: adminUrl ?? null }
      const facts = { ...urls, api_key: apiKey ?? null, pid: process.pid, instance }
      writeDraft(`${JSON.stringify(facts, undefined, 2)}\n`)
      renameSync(draft, path)
      written = instance
    },
    remove() {
      if (written === undefined || readFacts(path)?.['instance'] !== written) return
      try {
        rmSync(path, { force: true })
      } catch {
        // The folder may be read-only by now. That must not hide the outcome of the run.
      }
    },
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
  const facts = readFacts(path)
  return status.size === 0 || (typeof facts?.['instance'] === 'string' && typeof facts['base_url'] === 'string')
}

/** The content of a file; `undefined` if it is no JSON object, or if another process has removed it. */
function readFacts(path: string): Json | undefined {
  try {
    const facts = readJson(readFileSync(path, 'utf8'))
    return isObject(facts) ? facts : undefined
  } catch {
    return undefined
  }
}
