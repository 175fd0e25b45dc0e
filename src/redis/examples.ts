import { DEFAULT_ACCOUNT } from '../accounts/worlds.ts'
import type { AccountState } from '../domain/account.ts'
import { readJson } from '../ground/json.ts'
import { setTimeout } from '../ground/timers.ts'
import type { Entry } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'
import type { Explain } from '../journal/verdict.ts'
import type { OutboxItem } from './batch.ts'
import { splitFirst } from './stored-counts.ts'

/** In milliseconds, how long and how often to look for the explanation by the server that answered a violation. */
const EXPLAINING = { patience: 300, pause: 20 }
/** Replaces a key that is no secret, because no key is written into the store. */
const PUBLIC_KEY = '{{public-key}}'

/** What the store keeps of a violation. */
interface StoredExample {
  /** The account whose key is replaced in it. */
  account?: string
  /** Null if the explanation has failed. */
  explanation: unknown
}

/** One of the first violations as it is in the store: its ordinal there, and its explanation as soon as there is one. */
export interface FirstViolation {
  place: number
  text: string
}

export interface ExamplesOptions<Explanation> {
  journal: Journal
  /** Makes the explanation of a violation. It must be JSON. */
  explain: Explain<Explanation>
  /** The account of this id as it is now, if there is one. */
  readAccount(accountId: string): Promise<AccountState | undefined>
  /** A key of the account that is no secret, if it has one. */
  publicKeyOf(account: AccountState): string | undefined
  /** Sends an explanation to the store. */
  send(example: OutboxItem): void
}

/** The explanations of the first violations. The server that answered a request explains it, as long as it runs. */
export class Examples<Explanation> {
  readonly #options: ExamplesOptions<Explanation>

  constructor(options: ExamplesOptions<Explanation>) {
    this.#options = options
  }

  /** Explains a violation, with its account before it, or else as it is now. */
  async explain(entry: Entry, owner: string | undefined, known: AccountState | undefined): Promise<Explanation> {
    return this.#options.explain(entry, known ?? (await this.#readAccount(owner)))
  }

  /** `holders` are the accounts whose key may be in the explanation, beside the default account. */
  async keep(
    { place, ordinal }: { place: number; ordinal: number },
    holders: readonly (AccountState | string | undefined)[],
    explain: () => Promise<Explanation>,
  ): Promise<void> {
    const { publicKeyOf, send } = this.#options
    const example: StoredExample = { explanation: (await explain().catch(() => undefined)) ?? null }
    for (const holder of [...holders, DEFAULT_ACCOUNT]) {
      const account = typeof holder === 'string' ? await this.#readAccount(holder) : holder
      const key = account && publicKeyOf(account)
      const text = JSON.stringify(example.explanation)
      if (account === undefined || key === undefined || !text.includes(inJson(key))) continue
      example.account = account.id
      example.explanation = JSON.parse(text.replaceAll(inJson(key), PUBLIC_KEY))
    }
    const text = JSON.stringify(example)
    send({ kind: 'example', place, ordinal, text, bytes: text.length })
  }

  /** The explanations. If the servers that answered do not explain all in time, this server does. */
  async read(look: () => Promise<FirstViolation[]>, patience: number): Promise<Explanation[]> {
    const { pause } = EXPLAINING
    let stored = await look()
    for (let waited = 0; waited < EXPLAINING.patience * patience; waited += pause) {
      if (stored.every(({ text }) => !text.endsWith(' '))) break
      await new Promise((resolve) => setTimeout(resolve, pause))
      stored = await look()
    }
    return (await Promise.all(stored.map((each) => this.#readOne(each)))).flat()
  }

  async #readOne({ place, text }: FirstViolation): Promise<Explanation[]> {
    const [ordinal, stored] = splitFirst(text)
    if (stored === '') {
      const entry = this.#find(ordinal)
      if (entry === undefined) return []
      const explained = this.explain(entry, entry.account, undefined)
      void this.keep({ place, ordinal }, [entry.account], () => explained)
      return [await explained]
    }
    const { account: id, explanation } = JSON.parse(stored) as StoredExample
    if (explanation === null) return []
    if (!stored.includes(PUBLIC_KEY) || id === undefined) return [explanation as Explanation]
    const account = await this.#readAccount(id)
    const publicKey = (account && this.#options.publicKeyOf(account)) ?? '$API_KEY'
    const revealed = readJson(stored.replaceAll(PUBLIC_KEY, inJson(publicKey))) as StoredExample
    return [revealed.explanation as Explanation]
  }

  #find(recorded: number): Entry | undefined {
    for (const entry of this.#options.journal.newestFirst()) if (entry.recorded === recorded) return entry
    return undefined
  }

  async #readAccount(accountId: string | undefined): Promise<AccountState | undefined> {
    // A request whose account cannot be read is explained like a request without an account.
    return accountId === undefined ? undefined : this.#options.readAccount(accountId).catch(() => undefined)
  }
}

/** The text as it occurs within a text of JSON. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
