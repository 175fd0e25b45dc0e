import { createHash } from 'node:crypto'
import { appendFileSync, closeSync, fsyncSync, openSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DomainGroup } from '../domain/account.ts'
import { readInput } from '../ground/files.ts'
import { isObject, readJson } from '../ground/json.ts'

/** The domains and groups of an account. */
export interface Inventory {
  domains: readonly string[]
  groups: readonly DomainGroup[]
}

/** What a request may create if the service accepts it, even if it is invalid. */
export interface Intent {
  domains: readonly string[]
  /** The name of a group. */
  group?: string
}

export interface LedgerHead {
  run: string
  /** The base URL, as information for the user. */
  target: string
  /** A hash of the base URL and the key, so that the ledger of another target or account is refused. */
  digest: string
}

/** A line of the file: the account before the run, what the next request may create, or the id of a created group. */
type LedgerLine = { before: Inventory } | { creates: Intent } | { group: string }

export interface LedgerContent {
  head: LedgerHead
  before: Inventory | undefined
  /** Whether the run may have created anything. The names of it contain those of the run. */
  hasIntents: boolean
  /** Ids of groups that the run has created, whatever their names are. */
  groups: readonly string[]
}

/** A file is not a ledger, or it cannot be used. The message is a phrase whose subject is the file, or a sentence. */
export class LedgerError extends Error {
  override name = 'LedgerError'
}

const KIND = { ledger: 'dmarc-understudy verify', version: 2 }

/** Identifies a target and an account without revealing the key. */
export function digestOf(target: string, apiKey: string): string {
  return createHash('sha256').update(`${KIND.ledger} ${target} ${apiKey}`).digest('hex')
}

/**
 * Records what a run creates, with one JSON value on each line. Each line is on the disk before the run goes on. So
 * even a killed run has created nothing that is missing in its ledger.
 */
export class Ledger {
  readonly path: string

  /** Creates the file, which only its owner may read. @throws LedgerError if it exists or cannot be written */
  constructor(path: string, head: LedgerHead) {
    this.path = path
    this.#append({ ...KIND, ...head }, 'ax')
    const folder = openSync(dirname(path), 'r')
    fsyncSync(folder)
    closeSync(folder)
  }

  /** @throws LedgerError if the disk is full. */
  write(line: LedgerLine): void {
    this.#append(line, 'a')
  }

  /** Removes the file. Nothing of the run may be left in the account then. */
  remove(): void {
    rmSync(this.path, { force: true })
  }

  #append(entry: object, flag: string): void {
    try {
      const line = `${JSON.stringify(entry).replace(/[\u0080-\uffff]/g, escapeUnit)}\n`
      appendFileSync(this.path, line, { flag, mode: 0o600, flush: true })
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      const isThere = code === 'EEXIST'
      throw new LedgerError(isThere ? 'is there already; undo its run with --sweep' : `cannot be written (${code})`)
    }
  }
}

/** Without it, a line that a full disk has cut could end within a character, and the file would be no text. */
function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Reads the ledger of an earlier run. @throws LedgerError */
export async function readLedger(path: string): Promise<LedgerContent> {
  const text = await readInput(path, { content: 'ledger', fail: (reason) => new LedgerError(reason) })
  // A killed run may have left an unfinished last line. Its request was not sent.
  const [first, ...lines] = text.split('\n').map((line) => readJson(line))
  const read = lines.filter(isObject)
  return {
    head: readHead(first),
    before: read.find((line) => 'before' in line)?.['before'] as Inventory | undefined,
    hasIntents: read.some((line) => 'creates' in line),
    groups: read.flatMap((line) => ('group' in line ? [String(line['group'])] : [])),
  }
}

/** @throws LedgerError */
function readHead(value: unknown): LedgerHead {
  const { ledger, version, run, target, digest } = isObject(value) ? value : {}
  // The names of everything that is removed contain the run.
  const isRun = typeof run === 'string' && /^[a-z0-9]{8}$/.test(run)
  const isKnown = ledger === KIND.ledger && version === KIND.version
  if (isKnown && isRun && typeof target === 'string' && typeof digest === 'string') return { run, target, digest }
  throw new LedgerError('is no ledger of verify')
}
