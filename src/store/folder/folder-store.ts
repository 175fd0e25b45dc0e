import { createHash } from 'node:crypto'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Low } from 'lowdb'
import { type AccountRecord, type AccountState, recordAccount } from '../../domain/account.ts'
import { Accounts } from '../accounts.ts'
import type { Store } from '../store.ts'
import { StoreError } from '../store-error.ts'
import type { AccountData } from '../stored-account.ts'
import { AccountFile, type FileKeeping } from './account-file.ts'
import { type Durability, makeFolder } from './atomic-file.ts'
import { damage } from './file-format.ts'
import { FolderHold } from './locked-folder.ts'
import { Turns } from './semaphore.ts'
import { type Troubles, WriteHealth } from './write-failures.ts'

/** How many files are written at the same time; each needs a file descriptor, and thousands may be asked for. */
const WRITES = 64
/** What a process that was killed while it wrote an account leaves behind. */
const LEFTOVER = /^\.account[-~].*\.json\.tmp$/

export interface FolderOptions {
  /** Says what is wrong with an account that has the right shape. */
  examine?(record: AccountRecord): string | undefined
  /** What an acknowledged change survives; `rename` by default. */
  durability?: Durability | undefined
  /**
   * Told of each damaged account, which is left out: its file stays as it is, and its id is nobody's. Without it, the
   * first one stops the opening.
   */
  skip?: ((damaged: StoreError) => void) | undefined
  /** Told when writes begin to fail and when they no longer do. */
  troubles?: Troubles | undefined
}

/**
 * Accounts in a folder, one JSON file each, read once at opening. Each write goes to a temporary file that takes the
 * place of the old one, so that what is answered is safe from the process being killed. When the folder is deleted or
 * replaced under the store, writes are refused until there is one again, and then all accounts are written anew. A file
 * that is not an account stops the opening and stays as it is; files whose names end otherwise, or start with a dot,
 * are nobody's business.
 */
export async function openFolderStore(
  directory: string,
  revive: (record: AccountRecord) => AccountState,
  { examine, durability = 'rename', skip, troubles }: FolderOptions = {},
): Promise<Store> {
  const folder = resolve(directory)
  await makeFolder(folder, durability)
  const hold = await FolderHold.take(folder, () => accounts.rewrite())
  const health = new WriteHealth(troubles)
  const keeping: FileKeeping = { revive, durability, hold, health, turns: new Turns(WRITES) }
  /** The files that are left out, in lower case, because some file systems take one case for the other. */
  const skipped = new Map<string, StoreError>()
  const accounts = new Accounts({
    open: (accountId, data) => new Low(fileOf(accountId), data),
    remove: (accountId) => fileOf(accountId).remove(),
    // Should the folder have been replaced unnoticed, all that is not in it has to be written.
    settle: () => hold.renew().catch(() => {}),
    release: () => hold.release(),
  })

  function fileOf(accountId: string): AccountFile {
    const name = fileName(accountId)
    const damaged = skipped.get(name.toLowerCase())
    if (damaged !== undefined) {
      throw new StoreError('damaged', `The account "${accountId}" is damaged: ${damaged.message}`)
    }
    return new AccountFile(join(folder, name), keeping)
  }

  async function readAccount(name: string): Promise<AccountData | null> {
    const path = join(folder, name)
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) throw damage(path, 'is no file that can be read')
    const data = await new AccountFile(path, keeping).read()
    if (data === null) return null
    const problem = examine?.(recordAccount(data.state))
    if (problem !== undefined) throw damage(path, problem)
    const { id, keys } = data.state
    if (fileName(id) !== name) throw damage(path, `/account/id "${id}" belongs into ${fileName(id)}`)
    for (const [index, { hash }] of keys.entries()) {
      const holder = await accounts.accountOf(hash)
      if (holder !== undefined) throw damage(path, `/account/keys/${index} belongs to the account "${holder}" too`)
    }
    return data
  }

  try {
    const names = readdirSync(folder)
    for (const name of names.filter((each) => LEFTOVER.test(each))) removeLeftover(join(folder, name))
    for (const name of names.filter((each) => each.endsWith('.json') && !each.startsWith('.')).sort()) {
      try {
        const data = await readAccount(name)
        if (data !== null) accounts.load(data)
      } catch (error) {
        if (skip === undefined || !(error instanceof StoreError) || error.problem !== 'damaged') throw error
        skipped.set(name.toLowerCase(), error)
        skip(error)
      }
    }
    return accounts
  } catch (error) {
    hold.release()
    throw error
  }
}

function removeLeftover(path: string): void {
  try {
    rmSync(path)
  } catch {
    // The next write of that account says what is wrong with it.
  }
}

/**
 * An id may be any string, a name not: it could lead out of the folder, be too long, be reserved, or differ from
 * another one only in case, which some file systems ignore. So ids that are surely safe stand in the name and all
 * others are replaced by their hash, of UTF-16 because UTF-8 takes lone surrogates for one another.
 */
function fileName(accountId: string): string {
  if (/^[a-z0-9_-]{1,100}$/.test(accountId)) return `account-${accountId}.json`
  return `account~${createHash('sha256').update(accountId, 'utf16le').digest('hex')}.json`
}
