import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { Settings } from '../../domain/settings.ts'
import type { Awaitable } from '../../ground/awaitable.ts'
import { quoteWord } from '../../ground/show.ts'
import { Accounts, type AccountsOptions } from '../accounts.ts'
import type { AccountDatabase, StoredAccount } from '../kept-account.ts'
import type { AccountRecord } from '../record.ts'
import { StoreError } from '../store-error.ts'
import { AccountFile, type Durability, syncFolder, type WriteFailureListener } from './account-file.ts'
import { accountParser, damagedFile } from './file-format.ts'
import { lockFolder } from './folder-lock.ts'

/** The temporary file that a killed process has left during a write. */
const LEFTOVER = /^\.account[-~].*\.json\.tmp$/

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
  const release = await openFolder(folder, durability, options.warn)
  const parse = accountParser(settings, validate)
  const access = { parse, durability, failures: writeFailures, isFailing: false }
  const fileOf = (accountId: string) => new AccountFile(join(folder, fileName(accountId)), access)
  try {
    // It is an ECMAScript module, so `require` may warn of it.
    const { Low } = await import('lowdb')
    const place = (file: AccountFile) => new Low<StoredAccount | null>(file, null)
    const driver = {
      open: (accountId: string) => place(fileOf(accountId)),
      remove: (accountId: string) => fileOf(accountId).remove(),
      close: release,
    }
    const accounts = new Accounts(options, driver)
    accounts.load(await readAccounts(folder, (path) => place(new AccountFile(path, access))))
    return accounts
  } catch (error) {
    release()
    throw error
  }
}

/**
 * Makes a folder that only its owner can use, and its missing parents. Returns whether it is new. With `recursive`, `mkdir`
 * of Node.js does not return if nothing can be made in an existing parent, such as /proc.
 */
function makeFolder(folder: string): boolean {
  const isThere = () => statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
  if (isThere()) return false
  const parent = dirname(folder)
  if (parent !== folder) makeFolder(parent)
  try {
    mkdirSync(folder, 0o700)
  } catch (error) {
    // Another process may have made the folder first.
    if (!isThere()) throw error
  }
  return true
}

/** Makes a folder that only its owner can use, if it is not there, and locks it. @throws StoreError */
async function openFolder(folder: string, durability: Durability, warn: FolderOptions['warn']): Promise<() => void> {
  try {
    const isNew = makeFolder(folder)
    if (isNew && durability === 'fsync') await syncFolder(dirname(folder))
    // On Windows, the mode does not describe the access of other users.
    if (process.platform !== 'win32' && (statSync(folder).mode & 0o077) !== 0) {
      const remedy = `keep them out with: chmod 700 ${quoteWord(folder)}`
      warn?.(`Other users of this machine can look into ${folder}; ${remedy}`)
    }
    return await lockFolder(folder, { warn })
  } catch (cause) {
    if (cause instanceof StoreError) throw cause
    const { code = '' } = cause as NodeJS.ErrnoException
    const problem = ['EEXIST', 'ENOTDIR'].includes(code) ? 'is not a folder' : `cannot be written to (${code})`
    throw new StoreError('unusable', `${folder} ${problem}`, { cause })
  }
}

/** The accounts in the folder. Removes what killed processes have left. @throws StoreError for the first damaged one */
async function readAccounts(folder: string, open: (path: string) => AccountDatabase): Promise<AccountDatabase[]> {
  const names = readdirSync(folder).sort()
  for (const name of names) if (LEFTOVER.test(name)) rmSync(join(folder, name))
  const databases: AccountDatabase[] = []
  for (const name of names) {
    if (!name.endsWith('.json') || name.startsWith('.')) continue
    const path = join(folder, name)
    const database = open(path)
    await database.read()
    const id = database.data?.state.id ?? ''
    if (fileName(id) !== basename(path)) throw damagedFile(path, `/account/id "${id}" belongs in ${fileName(id)}`)
    databases.push(database)
  }
  return databases
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
