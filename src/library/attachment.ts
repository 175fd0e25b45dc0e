import { givenFields } from '../domain/given-fields.ts'
import { isObject } from '../ground/json.ts'
import { digestOf } from '../ground/secrets.ts'
import type { AccountOptions, AccountWithKey } from './account.ts'
import { readFields } from './arguments.ts'
import { ControlError } from './control-error.ts'
import { type ControlAddress, HttpTransport } from './http-transport.ts'
import { createAccount, type Library, openLibrary, partsOn } from './library.ts'

/** What a program uses of a server that another program has started. */
export interface Attachment {
  library: Library & { readonly apiKey: string; readonly account: AccountWithKey }
  /** Identifies the run of the server. */
  instance: string
  /** Deletes the accounts that were created here. The server goes on. */
  detach(): Promise<void>
}

export interface AttachmentTerms {
  address: Omit<ControlAddress, 'words'>
  baseUrl: string
  /** The properties of each account for which nothing else is said. */
  accounts: Omit<AccountOptions, 'id' | 'apiKey'>
  /** The key of the account that takes the place of `default`. */
  apiKey: string | undefined
  /** Names the user of an account. The ids of accounts derive from it, so that they are the same in each run. */
  nameUser(): string
  /** Whether the server goes on when its users have ended. */
  lasts?: boolean
}

const OF_TRIAL: ControlAddress['words'] = {
  server: 'The stand-in of the run',
  silence: 'the run has ended, or UNDERSTUDY_ADMIN_URL is wrong',
  address: 'UNDERSTUDY_ADMIN_URL must be that of the run',
  token: 'Give it as the option adminToken.',
}

/**
 * Uses a server that another program has started, and that others use at the same time. Only the accounts that are
 * created here are seen here: one takes the place of `default`, which belongs to all.
 * @throws ControlError if there is no such server, or if the account cannot be created
 */
export async function attach({
  address,
  baseUrl,
  accounts,
  apiKey,
  nameUser,
  lasts = false,
}: AttachmentTerms): Promise<Attachment> {
  const stopping = new AbortController()
  const transport = await HttpTransport.connect({ ...address, words: OF_TRIAL }, stopping.signal)
  const own = new Map<string, AccountWithKey>()
  const shows = (id: string) => own.has(id)
  // Of the requests without an account, it is not known whose they are.
  const parts = partsOn(transport, { baseUrl, shows, sees: (id) => id !== null && shows(id), lasts })
  // Learns which request is the newest.
  await parts.client.call('listAllRequests', { query: { limit: 1 } })

  async function create(options: AccountOptions = {}): Promise<AccountWithKey> {
    const account = await createNamed(options)
    own.set(account.id, account)
    return account
  }

  async function createNamed(options: AccountOptions): Promise<AccountWithKey> {
    // JavaScript can pass any value. The control plane explains what is wrong with it.
    if (!isObject(options)) return createAccount(parts, options)
    const given = givenFields(readFields(options)) as AccountOptions
    if (given.id !== undefined) return createAccount(parts, { ...accounts, ...given })
    for (;;) {
      const id = nextId(nameUser())
      try {
        return await createAccount(parts, { ...accounts, ...given, id })
      } catch (error) {
        // Another user may have the same name, such as the same file in another project of a test runner.
        const isTaken = error instanceof ControlError && error.code === 'taken'
        const parameters = { account: id }
        const exists = () => parts.client.call('getAccount', { parameters }).catch(() => undefined)
        if (!isTaken || (await exists()) === undefined) throw error
      }
    }
  }

  const main = await create(apiKey === undefined ? {} : { apiKey })
  const library = openLibrary(parts, main)
  return {
    library: { ...library, createAccount: create, apiKey: main.apiKey, account: library.account as AccountWithKey },
    instance: transport.instance,
    async detach() {
      try {
        await Promise.all([...own.values()].map((account) => account[Symbol.asyncDispose]()))
      } finally {
        stopping.abort()
      }
    },
  }
}

const LONGEST_NAME = 60
/** By the name of a user: how many accounts have been created for it. */
const created = new Map<string, number>()

/** Such as `cart.test.ts-1f3a9b-2`. */
function nextId(user: string): string {
  const number = (created.get(user) ?? 0) + 1
  created.set(user, number)
  const [name = ''] = user.split(/[\\/]/).slice(-1)
  const readable = name
    .replaceAll(/[^\w.~-]/g, '_')
    .replace(/^\./, '_')
    .slice(0, LONGEST_NAME)
  return `${readable}-${digestOf(user).slice(0, 6)}-${number}`
}
