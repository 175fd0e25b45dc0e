import { hashKey } from '../../ground/secrets.ts'
import { looksLikeKey } from './key-shapes.ts'
import { SecretIndex } from './secret-index.ts'
import { wordsOf } from './spellings.ts'

/** The keys of an account, by their hashes. */
export interface HeldKeys {
  held: Iterable<string>
  /** Lists the keys that the account may get back, for example by a reset. Their secrets are not hidden until then. */
  recoverable?: () => Iterable<string>
}

/** The secrets of one account. */
interface AccountSecrets {
  /** By their hashes. */
  known: Map<string, string>
  /** The hashes of the hidden secrets. */
  hidden: Set<string>
  /** Finds the hidden secrets. Created when exchanges of the account are read after a change of its secrets. */
  index: SecretIndex | undefined
}

/**
 * The secrets to hide: for each account those of its keys, as long as it has them, and everywhere those of the process.
 * An account stores only the hash of a key, so the secret is kept here from the moment it is given. A key that its form
 * reveals, such as that of a sandbox, needs no entry here.
 */
export class Secrets {
  readonly #everywhere: readonly string[]
  readonly #accounts = new Map<string, AccountSecrets>()
  /** Secret in lower case → the number of accounts with it. */
  readonly #holders = new Map<string, number>()
  readonly #common: SecretIndex

  /** `everywhere` are secrets that belong to no account, such as the token of the control plane. */
  constructor(everywhere: readonly string[] = []) {
    this.#everywhere = everywhere
    this.#common = new SecretIndex(everywhere)
    for (const secret of everywhere) this.#count(secret, 1)
  }

  /**
   * Hides the secrets of the account's present keys, and drops those of other keys. `given` are newly known secrets.
   * Only those that belong to its keys are kept.
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
      // Most changes remove no key, so the set is created only when it is needed.
      kept ??= new Set(recoverable())
      if (!kept.has(hash)) account.known.delete(hash)
    }
    if (account.known.size > 0) this.#accounts.set(accountId, account)
    else this.#accounts.delete(accountId)
  }

  /**
   * Hides the secret of an account's key, and drops nothing. Returns whether the account has secrets that are not
   * hidden. `update` may drop these.
   */
  meet(accountId: string, held: Iterable<string>, secret: string): boolean {
    this.update(accountId, { held, recoverable: () => this.#accounts.get(accountId)?.known.keys() ?? [] }, [secret])
    const account = this.#accounts.get(accountId)
    return account !== undefined && account.hidden.size < account.known.size
  }

  /** Whether the account has secrets here, or would have some with `given`. */
  concerns(accountId: string, given: readonly string[]): boolean {
    return this.#accounts.has(accountId) || given.some(isWorthPlace)
  }

  /** Whether the secret with this hash is known. */
  knows(accountId: string, hash: string): boolean {
    return this.#accounts.get(accountId)?.known.has(hash) === true
  }

  /** Drops the secrets of a deleted account. */
  forget(accountId: string): void {
    this.update(accountId, { held: [] })
  }

  /** Finds the secrets in a request of this account, or of no account, besides the request's own credentials. */
  indexOf(accountId: string | undefined): SecretIndex {
    const account = accountId === undefined ? undefined : this.#accounts.get(accountId)
    if (account === undefined) return this.#common
    const { hidden, known } = account
    account.index ??= new SecretIndex([...this.#everywhere, ...[...hidden].map((hash) => known.get(hash) ?? '')])
    return account.index
  }

  /** Whether a word is a secret of any account, as in `findIn`. */
  has(word: string): boolean {
    return this.#holders.has(word.toLowerCase())
  }

  /** The words of these texts that are a secret of any account, except those that their form reveals. */
  findIn(texts: readonly string[]): string[] {
    return this.#holders.size === 0 ? [] : texts.flatMap(wordsOf).filter((word) => this.has(word))
  }

  #setHidden(account: AccountSecrets, hash: string, secret: string, isHidden: boolean): void {
    if (isHidden) account.hidden.add(hash)
    else account.hidden.delete(hash)
    account.index = undefined
    this.#count(secret, isHidden ? 1 : -1)
  }

  #count(secret: string, change: number): void {
    if (looksLikeKey(secret)) return
    const word = secret.toLowerCase()
    const count = (this.#holders.get(word) ?? 0) + change
    if (count > 0) this.#holders.set(word, count)
    else this.#holders.delete(word)
  }
}

/** The key of a sandbox needs no entry, because its form reveals it. */
function isWorthPlace(secret: string): boolean {
  return !secret.startsWith('sandbox_')
}
