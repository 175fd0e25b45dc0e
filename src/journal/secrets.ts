import { hashKey } from '../ground/secrets.ts'
import { looksLikeKey } from './key-shapes.ts'
import { spellInBase64, wordsOf } from './spellings.ts'
import { WordIndex } from './word-index.ts'

/** Which keys an account has, by their hashes. */
export interface HeldKeys {
  held: Iterable<string>
  /** Makes a list of those that it may get back, as by a reset. Their secrets are not hidden until then. */
  recoverable?: () => Iterable<string>
}

/** The secrets of one account. */
interface AccountSecrets {
  /** By their hashes. */
  known: Map<string, string>
  /** The hashes of those that are hidden. */
  hidden: Set<string>
  /** Made when somebody first reads what happened in the account. */
  index: WordIndex | undefined
}

/**
 * What must not be shown: for each account the secrets of its keys, as long as it has them, and everywhere the secrets of
 * the process. Of a key, an account keeps only the hash, so a secret is kept here from the moment when it is given. A key
 * that can be told by its form, such as that of a sandbox, needs no place here.
 */
export class Secrets {
  readonly #everywhere: readonly string[]
  readonly #accounts = new Map<string, AccountSecrets>()
  /** How many accounts have a secret, in small letters. */
  readonly #holders = new Map<string, number>()
  readonly #common: WordIndex

  /** `everywhere` are secrets that no account has, such as the token of the control plane. */
  constructor(everywhere: readonly string[] = []) {
    this.#everywhere = everywhere
    this.#common = createIndex(everywhere)
    for (const secret of everywhere) this.#count(secret, 1)
  }

  /** How many accounts have a secret here. */
  get size(): number {
    return this.#accounts.size
  }

  /**
   * Hides the secrets of the keys that an account has now, and forgets those of other keys. `given` are secrets that
   * were not known before; of these, only those of its keys are kept.
   */
  update(accountId: string, { held, recoverable = () => [] }: HeldKeys, given: readonly string[] = []): void {
    const listed = given.filter(isWorthPlace)
    const former = this.#accounts.get(accountId)
    if (former === undefined && listed.length === 0) return
    const account = former ?? { known: new Map(), hidden: new Set(), index: undefined }
    for (const secret of listed) account.known.set(hashKey(secret), secret)
    const present = new Set(held)
    let kept: Set<string> | undefined
    for (const [hash, secret] of account.known) {
      const isHeld = present.has(hash)
      if (isHeld !== account.hidden.has(hash)) this.#setHidden(account, hash, secret, isHeld)
      if (isHeld) continue
      // Most changes take no key away, so the list is not made for each of them.
      kept ??= new Set(recoverable())
      if (!kept.has(hash)) account.known.delete(hash)
    }
    if (account.known.size > 0) this.#accounts.set(accountId, account)
    else this.#accounts.delete(accountId)
  }

  /**
   * Hides a secret of a key that an account has, and forgets nothing. Returns whether it has secrets that are not hidden,
   * which `update` may forget.
   */
  meet(accountId: string, held: Iterable<string>, secret: string): boolean {
    this.update(accountId, { held, recoverable: () => this.#accounts.get(accountId)?.known.keys() ?? [] }, [secret])
    const account = this.#accounts.get(accountId)
    return account !== undefined && account.hidden.size < account.known.size
  }

  /** Whether the account has secrets here, or would with these. */
  concerns(accountId: string, given: readonly string[]): boolean {
    return this.#accounts.has(accountId) || given.some(isWorthPlace)
  }

  /** Whether the secret of this hash was given. */
  knows(accountId: string, hash: string): boolean {
    return this.#accounts.get(accountId)?.known.has(hash) === true
  }

  /** Forgets the secrets of an account that is deleted. */
  forget(accountId: string): void {
    this.update(accountId, { held: [] })
  }

  /** Finds what must not be shown of a request of this account, or of none, whatever the request itself carries. */
  indexOf(accountId: string | undefined): WordIndex {
    const account = accountId === undefined ? undefined : this.#accounts.get(accountId)
    if (account === undefined) return this.#common
    if (account.index === undefined) {
      const hidden = [...account.hidden].map((hash) => account.known.get(hash) ?? '')
      account.index = createIndex([...this.#everywhere, ...hidden])
    }
    return account.index
  }

  /** Whether a word is a secret of anybody, as `findIn`. */
  has(word: string): boolean {
    return this.#holders.has(word.toLowerCase())
  }

  /** The words of these texts that are a secret of anybody, apart from those that can be told by their form. */
  findIn(texts: readonly string[]): string[] {
    return this.#holders.size === 0 ? [] : texts.flatMap(wordsOf).filter((word) => this.has(word))
  }

  #setHidden(account: AccountSecrets, hash: string, secret: string, isHidden: boolean): void {
    if (isHidden) account.hidden.add(hash)
    else account.hidden.delete(hash)
    this.#count(secret, isHidden ? 1 : -1)
    if (account.index === undefined) return
    if (isHidden) addSecret(account.index, secret)
    else removeSecret(account.index, secret)
  }

  #count(secret: string, change: number): void {
    if (looksLikeKey(secret)) return
    const word = secret.toLowerCase()
    const count = (this.#holders.get(word) ?? 0) + change
    if (count > 0) this.#holders.set(word, count)
    else this.#holders.delete(word)
  }
}

/** A sandbox is not worth a place. */
function isWorthPlace(secret: string): boolean {
  return !secret.startsWith('sandbox_')
}

export function createIndex(secrets: Iterable<string>): WordIndex {
  const index = new WordIndex()
  for (const secret of secrets) addSecret(index, secret)
  return index
}

/** Adds a secret to an index, with all the ways in which it may be spelled. */
export function addSecret(index: WordIndex, secret: string): void {
  index.add(secret)
  for (const spelling of spellInBase64(secret)) index.add(spelling, true)
}

function removeSecret(index: WordIndex, secret: string): void {
  index.remove(secret)
  for (const spelling of spellInBase64(secret)) index.remove(spelling, true)
}
