import { createHash } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { Low } from 'lowdb'
import type { Settings } from '../../domain/settings.ts'
import type { Awaitable } from '../../ground/awaitable.ts'
import { isObject } from '../../ground/json.ts'
import { Semaphore } from '../../ground/semaphore.ts'
import { Accounts, type AccountsOptions } from '../accounts.ts'
import type { AccountDatabase, StoredAccount } from '../kept-account.ts'
import type { AccountRecord } from '../record.ts'
import { StoreError } from '../store-error.ts'
import {
  type Durability,
  damagedFile,
  type FileAccess,
  FileAdapter,
  type FileFormat,
  syncFolder,
  type WriteFailureListener,
  WriteFailures,
} from './file-adapter.ts'
import { accountFormat, parseJson } from './file-format.ts'
import { lockFolder } from './folder-lock.ts'
import { describeExposure, makeFolder, unusableFolder } from './private-folder.ts'

/** How many files are written at the same time: each needs a file descriptor, and there may be thousands of accounts. */
const MAX_WRITES = 64
/** The temporary file that a killed process has left during a write. */
const LEFTOVER = /^\.account[-~].*\.json\.tmp$/
/** The file with the number of the last generated id. */
const LAST_ID = '.last-id.json'

export interface FolderOptions extends AccountsOptions {
  /** Returns the problem of an account whose file has the right shape. */
  validate?: ((record: AccountRecord) => Awaitable<string | undefined>) | undefined
  /** What an acknowledged change survives; `rename` by default. */
  durability?: Durability | undefined
  writeFailures?: WriteFailureListener | undefined
}

/**
 * Accounts in a folder, one JSON file each, which are read once, at the opening. Each write goes to a temporary file,
 * which then replaces the old file. So a killed process loses no answered change. A file that is not an account makes
 * the opening fail, and stays as it is. Files whose names do not end in `.json`, or start with a dot, are ignored.
 */
export async function openFolderStore(
  directory: string,
  settings: Pick<Settings, 'nameComparison'>,
  { validate = () => undefined, durability = 'rename', writeFailures, ...options }: FolderOptions = {},
): Promise<Accounts> {
  const folder = resolve(directory)
  const made = makeFolder(folder)
  if (durability === 'fsync') for (const each of made) await syncFolder(dirname(each))
  const release = await lock(folder, options.warn)
  const exposure = made.length > 0 ? undefined : describeExposure(folder)
  if (exposure !== undefined) options.warn?.(exposure)
  const access = { durability, failures: new WriteFailures(writeFailures), semaphore: new Semaphore(MAX_WRITES) }
  const format = accountFormat(settings, validate)
  const adapterAt = (path: string) => new FileAdapter(path, format, access)
  const adapterOf = (accountId: string) => adapterAt(join(folder, fileName(accountId)))

  try {
    const driver = {
      open: (accountId: string) => new Low<StoredAccount | null>(adapterOf(accountId), null),
      nextNumber: await openNumbers(folder, access),
      remove: (accountId: string) => adapterOf(accountId).remove(),
      close: release,
    }
    const databases = await readAccounts(folder, adapterAt)
    const accounts = new Accounts(driver, options)
    accounts.load(databases)
    return accounts
  } catch (error) {
    release()
    throw error
  }
}

/** The accounts in the folder. @throws StoreError for the first damaged one */
async function readAccounts(
  folder: string,
  adapterAt: (path: string) => FileAdapter<StoredAccount>,
): Promise<AccountDatabase[]> {
  const databases: AccountDatabase[] = []
  const holders = new Map<string, string>()
  for (const name of listFiles(folder)) {
    const path = join(folder, name)
    const database = new Low<StoredAccount | null>(adapterAt(path), null)
    await database.read()
    if (database.data === null) continue
    refuseMisplaced(path, database.data, holders)
    databases.push(database)
  }
  return databases
}

/** Creates the function that gives the numbers of generated ids. No number returns, also after a restart. */
async function openNumbers(folder: string, access: FileAccess): Promise<() => Promise<number>> {
  const last = new Low(new FileAdapter(join(folder, LAST_ID), lastIdFormat, access), { number: 0 })
  await last.read()
  let writing = Promise.resolve()
  return async () => {
    const number = ++last.data.number
    // One write after the other, after a failed one too.
    writing = writing.catch(() => {}).then(() => last.write())
    await writing
    return number
  }
}

async function lock(folder: string, warn: FolderOptions['warn']): Promise<() => void> {
  try {
    return await lockFolder(folder, { warn })
  } catch (error) {
    throw error instanceof StoreError ? error : unusableFolder(folder, error)
  }
}

const lastIdFormat: FileFormat<{ number: number }> = {
  parse(path, content) {
    const data = parseJson(path, content)
    const number = isObject(data) ? data['number'] : undefined
    if (typeof number !== 'number' || !Number.isSafeInteger(number)) throw damagedFile(path, '/number is no integer')
    return { number }
  },
  stringify: (data) => `${JSON.stringify(data)}\n`,
}

/** The names of the account files, sorted. Removes the temporary files that killed processes have left. */
function listFiles(folder: string): string[] {
  const names = readdirSync(folder)
  for (const name of names.filter((each) => LEFTOVER.test(each))) {
    try {
      rmSync(join(folder, name))
    } catch {
      // The next write of that account reports the problem.
    }
  }
  return names.filter((name) => name.endsWith('.json') && !name.startsWith('.')).sort()
}

/** Refuses an account in the file of another, or with the key of another. `holders` are the accounts by key so far. */
function refuseMisplaced(path: string, { state: { id, keys } }: StoredAccount, holders: Map<string, string>): void {
  if (fileName(id) !== basename(path)) throw damagedFile(path, `/account/id "${id}" belongs in ${fileName(id)}`)
  for (const [index, { hash }] of keys.entries()) {
    const holder = holders.get(hash)
    if (holder !== undefined) throw damagedFile(path, `/account/keys/${index} belongs to the account "${holder}" too`)
  }
  for (const { hash } of keys) holders.set(hash, id)
}

/**
 * The name of an account's file. An id may be any string, but a file name may not: it could lead out of the folder, be
 * too long or reserved, or differ from another name only in case, which some file systems ignore. So only a safe id is
 * part of the name; for any other id, its hash is. The hash is of UTF-16, because UTF-8 cannot distinguish lone
 * surrogates.
 */
function fileName(accountId: string): string {
  if (/^[a-z0-9_-]{1,100}$/.test(accountId)) return `account-${accountId}.json`
  return `account~${createHash('sha256').update(accountId, 'utf16le').digest('hex')}.json`
}
