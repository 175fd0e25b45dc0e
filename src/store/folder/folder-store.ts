import { createHash } from 'node:crypto'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { Low } from 'lowdb'
import type { Settings } from '../../domain/settings.ts'
import type { Awaitable } from '../../ground/awaitable.ts'
import { Semaphore } from '../../ground/semaphore.ts'
import { Accounts, type AccountsDriver, type AccountsOptions } from '../accounts.ts'
import { type AccountRecord, encodeAccount } from '../record.ts'
import { StoreError } from '../store-error.ts'
import type { AccountData } from '../stored-account.ts'
import { AccountFile, type FileAccess } from './account-file.ts'
import { type Durability, syncMade } from './atomic-file.ts'
import { damagedFile } from './file-format.ts'
import type { LockTimers } from './folder-lock.ts'
import { LockedFolder } from './locked-folder.ts'
import { describeExposure, makeFolder } from './private-folder.ts'
import { identityOf } from './regular-file.ts'
import { type WriteFailureListener, WriteFailures } from './write-failures.ts'

/** How many files are written at the same time: each needs a file descriptor, and there may be thousands of accounts. */
const MAX_WRITES = 64
/** The temporary file that a killed process has left during a write. */
const LEFTOVER = /^\.account[-~].*\.json\.tmp$/

export interface FolderOptions extends AccountsOptions {
  /** Returns the problem of an account whose file has the right shape. */
  validate?(record: AccountRecord): Awaitable<string | undefined>
  /** What an acknowledged change survives; `rename` by default. */
  durability?: Durability | undefined
  /**
   * Called for each damaged account. Such an account is left out: its file stays as it is, and no other account gets
   * its id. Without this option, the first damaged account makes the opening fail.
   */
  skipDamaged?: ((error: StoreError) => void) | undefined
  writeFailures?: WriteFailureListener | undefined
  /** Called once a second while the store closes, with the number of written accounts and of all to be written. */
  saving?: ((written: number, all: number) => void) | undefined
  /** Called with one sentence about what the user should change. */
  warn?: ((message: string) => void) | undefined
  /** The timers of the lock. */
  timers?: LockTimers | undefined
}

/**
 * Accounts in a folder, one JSON file each, which are read once, at the opening. Each write goes to a temporary file,
 * which then replaces the old file. So a killed process loses no answered change. If the folder is deleted or replaced,
 * writes are refused until a folder exists again; then all accounts are written again. A file that is not an account
 * makes the opening fail, and stays as it is. Files whose names do not end in `.json`, or start with a dot, are
 * ignored.
 */
export async function openFolderStore(
  directory: string,
  settings: Pick<Settings, 'nameComparison'>,
  {
    validate,
    durability = 'rename',
    skipDamaged,
    writeFailures,
    saving,
    warn = () => {},
    timers,
    ...options
  }: FolderOptions = {},
): Promise<Accounts> {
  const folder = resolve(directory)
  const { made } = makeFolder(folder)
  if (durability === 'fsync') await syncMade(made)
  const known = new Map<string, string>()
  const replaced = () => {
    refuseForeignWrites(folder, known)
    accounts.rewrite()
  }
  const lock = await LockedFolder.open(folder, replaced, { warn, ...(timers && { timers }) })
  const exposure = made.length > 0 ? undefined : describeExposure(folder)
  if (exposure !== undefined) warn(exposure)
  const failures = new WriteFailures(writeFailures)
  const access: FileAccess = { settings, durability, lock, known, failures, semaphore: new Semaphore(MAX_WRITES) }
  /** The errors of damaged files by name in lower case, because some file systems ignore case. */
  const damaged = new Map<string, StoreError>()
  const driver: AccountsDriver = {
    open: (accountId, data) => new Low(fileOf(accountId), data),
    isBlocked: (accountId) => damaged.has(fileName(accountId).toLowerCase()),
    remove: (accountId) => fileOf(accountId).remove(),
    // If the folder was replaced unnoticed, all accounts that are not in it have to be written.
    prepareClose: () => lock.renew().catch(() => {}),
    saving: saving ?? (() => {}),
    close: () => lock.release(),
  }
  const accounts = new Accounts(driver, options)

  function fileOf(accountId: string): AccountFile {
    const name = fileName(accountId)
    const error = damaged.get(name.toLowerCase())
    if (error !== undefined) {
      throw new StoreError('damaged', `The account "${accountId}" is damaged: ${error.message}`)
    }
    return new AccountFile(join(folder, name), access)
  }

  try {
    for (const name of listFiles(folder)) {
      try {
        const data = await readAccount(join(folder, name), access, validate)
        if (data === null) continue
        await refuseSharedKeys(join(folder, name), data, accounts)
        accounts.load(data)
      } catch (error) {
        if (skipDamaged === undefined || !(error instanceof StoreError) || error.problem !== 'damaged') throw error
        damaged.set(name.toLowerCase(), error)
        skipDamaged(error)
      }
    }
    accounts.queueLoaded()
    return accounts
  } catch (error) {
    lock.release()
    throw error
  }
}

/** Refuses to overwrite what another process wrote while the lock was missing. @throws StoreError `locked` */
function refuseForeignWrites(folder: string, known: ReadonlyMap<string, string>): void {
  for (const [path, identity] of known) {
    const status = statSync(path, { throwIfNoEntry: false })
    if (status === undefined || identityOf(status) === identity) continue
    const reason = `another program has changed ${path} while the lock of the folder was missing`
    throw new StoreError('locked', `${folder} is not written to any more, because ${reason}; restart to read it`)
  }
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

async function readAccount(
  path: string,
  access: FileAccess,
  validate: FolderOptions['validate'],
): Promise<AccountData | null> {
  const data = await new AccountFile(path, access).read()
  if (data === null) return null
  const problem = await validate?.(encodeAccount(data.state))
  if (problem !== undefined) throw damagedFile(path, problem)
  const { id } = data.state
  if (fileName(id) !== basename(path)) throw damagedFile(path, `/account/id "${id}" belongs in ${fileName(id)}`)
  return data
}

async function refuseSharedKeys(path: string, { state }: AccountData, accounts: Accounts): Promise<void> {
  for (const [index, { hash }] of state.keys.entries()) {
    const holder = await accounts.find('key', hash)
    if (holder !== undefined) throw damagedFile(path, `/account/keys/${index} belongs to the account "${holder}" too`)
  }
}

/**
 * The name of an account's file. An id may be any string, but a file name may not: it could lead out of the folder, be
 * too long or reserved, or differ from another name only in case, which some file systems ignore. So only a safe id is
 * part of the name; for any other id, its hash is. The hash is of UTF-16, because UTF-8 cannot distinguish lone
 * surrogates.
 */
export function fileName(accountId: string): string {
  if (/^[a-z0-9_-]{1,100}$/.test(accountId)) return `account-${accountId}.json`
  return `account~${createHash('sha256').update(accountId, 'utf16le').digest('hex')}.json`
}
