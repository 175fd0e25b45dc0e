import { createHash } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { TextFile } from 'lowdb/node'
import { type AccountRecord, type AccountState, recordAccount } from '../domain/account.ts'
import { damage, readAccountFile, writeAccountFile } from './account-file.ts'
import { type AccountAdapter, Accounts } from './accounts.ts'
import { lockFolder } from './folder-lock.ts'
import type { AccountData } from './kept-account.ts'
import type { Store } from './store.ts'
import { StoreError } from './store-error.ts'
import { Turns } from './turns.ts'

/** How many files are written at the same time; each needs a file descriptor, and thousands may be asked for. */
const WRITES = 64

/**
 * Accounts in a folder, one JSON file each, read once at opening. What is answered is safe from the process being
 * killed, because each write goes to a temporary file that takes the place of the old one; from a power cut as far
 * as the file system keeps what was not flushed. A file that is not an account stops the opening and stays as it is;
 * files whose names end otherwise, or start with a dot, are nobody's business. `examine` says what is wrong with an
 * account that has the right shape.
 */
export async function openFolderStore(
  directory: string,
  revive: (record: AccountRecord) => AccountState,
  examine: (record: AccountRecord) => string | undefined = () => undefined,
): Promise<Store> {
  const folder = resolve(directory)
  const release = await lockFolder(folder)
  const turns = new Turns(WRITES)
  function adapterFor(accountId: string): AccountFile {
    return new AccountFile(join(folder, fileName(accountId)), revive, turns)
  }
  try {
    const accounts = new Accounts({ adapterFor, release })
    const names = readdirSync(folder).filter((name) => name.endsWith('.json') && !name.startsWith('.'))
    for (const name of names.sort()) {
      const path = join(folder, name)
      if (!statSync(path, { throwIfNoEntry: false })?.isFile()) throw damage(path, 'is no file that can be read')
      const data = await new AccountFile(path, revive, turns).read()
      if (data === null) continue
      const problem = examine(recordAccount(data.state))
      if (problem !== undefined) throw damage(path, problem)
      const { id, keys } = data.state
      if (fileName(id) !== name) throw damage(path, `/account/id "${id}" belongs into ${fileName(id)}`)
      for (const [index, { hash }] of keys.entries()) {
        const holder = await accounts.accountOf(hash)
        if (holder !== undefined) throw damage(path, `/account/keys/${index} belongs to the account "${holder}" too`)
      }
      accounts.load(data)
    }
    return accounts
  } catch (error) {
    release()
    throw error
  }
}

class AccountFile implements AccountAdapter {
  readonly #path: string
  readonly #file: TextFile
  readonly #revive: (record: AccountRecord) => AccountState
  readonly #turns: Turns

  constructor(path: string, revive: (record: AccountRecord) => AccountState, turns: Turns) {
    this.#path = path
    this.#file = new TextFile(path)
    this.#revive = revive
    this.#turns = turns
  }

  async read(): Promise<AccountData | null> {
    const content = await this.#file.read().catch((cause) => this.#fail('read', cause))
    if (content === null) return null
    const { account, quotas, tallies, requests } = await readAccountFile(this.#path, content)
    return {
      state: this.#revive(account),
      quotas: new Map(Object.entries(quotas)),
      tallies: new Map(Object.entries(tallies)),
      requests,
    }
  }

  async write({ state, quotas, tallies, requests }: AccountData): Promise<void> {
    // Before its turn comes, because by then the data may have moved on.
    const content = writeAccountFile({
      account: recordAccount(state),
      quotas: Object.fromEntries(quotas),
      tallies: Object.fromEntries(tallies),
      requests,
    })
    await this.#turns.take(() => this.#file.write(content)).catch((cause) => this.#fail('written', cause))
  }

  async remove(): Promise<void> {
    await rm(this.#path, { force: true }).catch((cause) => this.#fail('removed', cause))
  }

  #fail(deed: string, cause: unknown): never {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new StoreError('unusable', `${this.#path} cannot be ${deed} (${reason})`, { cause })
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
