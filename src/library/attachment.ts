import type { ControlRequest } from '../admin/control.ts'
import { givenFields } from '../domain/given-fields.ts'
import { isObject } from '../ground/json.ts'
import { digestOf } from '../ground/secrets.ts'
import type { AccountOptions, AccountWithKey } from './account.ts'
import { readFields } from './arguments.ts'
import type { CallId, ControlClient, DataOf } from './control-client.ts'
import { ControlError } from './control-error.ts'
import { type Library, openLibrary } from './library.ts'
import { type ControlAddress, RemoteClient } from './remote-client.ts'
import { RemoteFeed } from './remote-feed.ts'
import { RemoteViolations } from './remote-violations.ts'
import { ViolationWatches } from './violations.ts'

/** What a program uses of a server that another program has started. */
export interface Attachment {
  library: Library & { readonly apiKey: string; readonly account: AccountWithKey }
  /** Identifies the run of the server. */
  instance: string
  /** Deletes the accounts that were created here. The server goes on. */
  detach(): Promise<void>
}

export interface AttachmentTerms {
  address: ControlAddress
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

/** The operations that clear the journal of an account. */
const CLEARING: ReadonlySet<CallId> = new Set<CallId>(['clearRequests', 'resetAccount', 'deleteAccount'])

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
  const remote = await RemoteClient.connect(address, stopping.signal)
  const own = new Set<string>()
  const present = new Map<string, AccountWithKey>()
  const violations = new RemoteViolations(remote, () => present.keys(), lasts)
  const shows = (id: string) => own.has(id)
  const feed = new RemoteFeed(remote, shows)
  // Requests from before belong to others.
  feed.note(undefined, (await remote.call('listAllRequests', { query: { limit: '1' } })).requests)
  const client: ControlClient = {
    stopping: stopping.signal,
    limits: () => remote.limits(),
    async call<Id extends CallId>(operationId: Id, request?: ControlRequest): Promise<DataOf<Id>> {
      const { account } = request?.parameters ?? {}
      if (account !== undefined && CLEARING.has(operationId)) await violations.catchUp(account)
      const data = await remote.call(operationId, request)
      if (account !== undefined && operationId === 'deleteAccount') present.delete(account)
      if (isList(operationId, data)) feed.note(account, data.requests)
      return data
    },
  }
  const parts = {
    ...{ baseUrl, client, feed, shows },
    watches: new ViolationWatches(violations),
  }
  // The account that it stands on is created by the same rules as all others.
  const { createAccount } = openLibrary({ ...parts, account: { id: '', apiKey: undefined } })

  async function create(options: AccountOptions = {}): Promise<AccountWithKey> {
    const account = await createNamed(options)
    own.add(account.id)
    present.set(account.id, account)
    return account
  }

  async function createNamed(options: AccountOptions): Promise<AccountWithKey> {
    // JavaScript can pass any value. The control plane explains what is wrong with it.
    if (!isObject(options)) return createAccount(options)
    const given = givenFields(readFields(options)) as AccountOptions
    if (given.id !== undefined) return createAccount({ ...accounts, ...given })
    for (;;) {
      const id = nextId(nameUser())
      try {
        return await createAccount({ ...accounts, ...given, id })
      } catch (error) {
        // Another user may have the same name, such as the same file in another project of a test runner.
        const isTaken = error instanceof ControlError && error.code === 'taken'
        if (!isTaken || !(await exists(id))) throw error
      }
    }
  }

  function exists(account: string): Promise<boolean> {
    return remote.call('getAccount', { parameters: { account } }).then(
      () => true,
      () => false,
    )
  }

  const main = await create(apiKey === undefined ? {} : { apiKey })
  const library = openLibrary({ ...parts, account: main })
  return {
    library: { ...library, createAccount: create, apiKey: main.apiKey, account: library.account as AccountWithKey },
    instance: remote.instance,
    async detach() {
      try {
        await Promise.all([...present.values()].map((account) => account[Symbol.asyncDispose]()))
      } finally {
        stopping.abort()
      }
    },
  }
}

function isList(operationId: CallId, _: unknown): _ is DataOf<'listRequests' | 'listAllRequests'> {
  return operationId === 'listRequests' || operationId === 'listAllRequests'
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
