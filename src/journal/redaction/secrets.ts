import type { AccountState } from '../../domain/account.ts'
import { hashKey } from '../../ground/secrets.ts'
import { hasKeyForm } from './key-shapes.ts'
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
  known: ReadonlyMap<string, string>
  hidden: readonly string[]
  /** Finds the hidden secrets. Created when exchanges of the account are read after a change of its secrets. */
  index?: SecretIndex
}

const NONE: AccountSecrets = { known: new Map(), hidden: [] }

/**
 * The secrets to hide: for each account those of its keys, as long as it has them, and everywhere those of the process.
 * An account stores only the hash of a key, so the secret is kept here from the moment it is given. A key that its form
 * reveals, such as that of a sandbox, needs no entry here.
 */
export class Secrets {
  readonly #everywhere: readonly string[]
  readonly #common: SecretIndex
  readonly #accounts = new Map<string, AccountSecrets>()
  /** Secret in lower case → the number of accounts with it. */
  readonly #holders = new Map<string, number>()

  /** `everywhere` are secrets that belong to no account, such as the token of the control plane. */
  constructor(everywhere: readonly string[] = []) {
    this.#everywhere = everywhere
    this.#common = new SecretIndex(everywhere)
    this.#count(everywhere, 1)
  }

  /**
   * Hides the secrets of the account's present keys, and drops those of other keys. `given` are newly known secrets.
   * Only those that belong to its keys are kept.
   */
  update(accountId: string, { held, recoverable = () => [] }: HeldKeys, given: readonly string[] = []): void {
    if (!this.concerns(accountId, given)) return
    const former = this.#of(accountId)
    const all = [...former.known, ...given.filter(isWorthPlace).map((secret) => [hashKey(secret), secret] as const)]
    const present = new Set(held)
    // Most changes remove no key, so the second set is created only when it is needed.
    const kept = all.every(([hash]) => present.has(hash)) ? present : new Set([...present, ...recoverable()])
    const known = new Map(all.filter(([hash]) => kept.has(hash)))
    const hidden = [...known].filter(([hash]) => present.has(hash)).map(([, secret]) => secret)
    this.#count(former.hidden, -1)
    this.#count(hidden, 1)
    if (known.size > 0) this.#accounts.set(accountId, { known, hidden })
    else this.#accounts.delete(accountId)
  }

  /**
   * Hides the secret of a key of the account, unless it is known, and drops nothing. Returns whether the account has
   * secrets that are not hidden. `update` may drop these.
   */
  meet({ id, keys }: Pick<AccountState, 'id' | 'keys'>, { secret, hash }: { secret: string; hash: string }): boolean {
    const former = this.#of(id).known
    if (former.has(hash)) return false
    this.update(id, { held: keys.map((key) => key.hash), recoverable: () => former.keys() }, [secret])
    const { known, hidden } = this.#of(id)
    return hidden.length < known.size
  }

  /** Whether the account has secrets here, or would have some with `given`. */
  concerns(accountId: string, given: readonly string[]): boolean {
    return this.#accounts.has(accountId) || given.some(isWorthPlace)
  }

  /** Drops the secrets of a deleted account. */
  forget(accountId: string): void {
    this.update(accountId, { held: [] })
  }

  /** Finds the secrets in a request of this account, or of no account, besides the request's own credentials. */
  indexOf(accountId: string | undefined): SecretIndex {
    const account = accountId === undefined ? undefined : this.#accounts.get(accountId)
    if (account === undefined) return this.#common
    account.index ??= new SecretIndex([...this.#everywhere, ...account.hidden])
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

  #of(accountId: string): AccountSecrets {
    return this.#accounts.get(accountId) ?? NONE
  }

  #count(secrets: readonly string[], change: number): void {
    for (const secret of secrets) {
      if (hasKeyForm(secret)) continue
      const word = secret.toLowerCase()
      const count = (this.#holders.get(word) ?? 0) + change
      if (count > 0) this.#holders.set(word, count)
      else this.#holders.delete(word)
    }
  }
}

/** The key of a sandbox needs no entry, because its form reveals it. */
function isWorthPlace(secret: string): boolean {
  return !secret.startsWith('sandbox_')
}
