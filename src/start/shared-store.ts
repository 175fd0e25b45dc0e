import { FIXTURE_NAMES } from '../accounts/fixture.ts'
import { DEFAULT_SEED } from '../domain/account.ts'
import type { ExplanationReport } from '../explain/explanation.ts'
import { systemClock } from '../ground/clock.ts'
import { digestOf } from '../ground/digest.ts'
import { drawKey } from '../ground/secrets.ts'
import { shareNobodyIds } from '../http/nobody-ids.ts'
import { openSharedExchangeLog, type SharedExchangeLog } from '../replicas/shared-exchange-log.ts'
import { encodeAccount } from '../store/record.ts'
import {
  type CommandOptions,
  openConnection,
  type Reply,
  type StoreAddress,
  type StoreConnection,
} from '../store/redis/connection.ts'
import { FORMAT, type Joining, Membership, type Terms } from '../store/redis/membership.ts'
import { openRedisStore } from '../store/redis/redis-store.ts'
import { checkServer } from '../store/redis/server-check.ts'
import { readScriptsIn, type Script } from '../store/script.ts'
import type { Store } from '../store/store.ts'
import { StoreError } from '../store/store-error.ts'
import { createKeptCheck } from './kept-accounts.ts'
import type { ExchangeParts, OpenedStore, OpeningContext } from './opened-store.ts'
import { flagOf, type Option } from './option.ts'
import { type CompleteOptions, LIBRARY_OPTIONS } from './option-table.ts'
import { readStoreUrl } from './store-url.ts'

/** Where scripts are that run in the store, below `src/`. */
const SCRIPTS = ['store/redis/scripts', 'replicas/scripts']
/** Options that change what servers answer, or for how long they keep what others ask for. */
const SHARED_OPTIONS = [
  ...(['fixture', 'seed', 'now', 'frozen', 'plan', 'faults', 'maxAccounts', 'sandboxIdle', 'journal'] as const),
  ...(['sandboxKeys', 'prefer', 'simulator', 'cors', 'enforceQuotas', 'responseValidation'] as const),
]

/**
 * Opens a store that several servers share, once it is clear that this one may take part.
 * @throws StoreError that names the store, says what is wrong, and what to do
 */
export async function openSharedStore(
  options: CompleteOptions & { store: string },
  context: OpeningContext,
): Promise<OpenedStore> {
  const reading = readStoreUrl(options.store)
  if ('remedy' in reading) throw new Error('The URL of the store was not checked.')
  const { address, shown } = reading
  try {
    return await openAt(address, shown, options, context)
  } catch (error) {
    throw nameStore(error, shown, address)
  }
}

async function openAt(
  address: StoreAddress,
  shown: string,
  options: CompleteOptions,
  { contract, overlays, fixture, instance, log, memory }: OpeningContext,
): Promise<OpenedStore> {
  const { storePrefix: prefix, seed = DEFAULT_SEED } = options
  const connection = await openConnection(address, { name: `dmarc-understudy-${instance}`, now: systemClock() })
  try {
    const scripts = SCRIPTS.flatMap(readScriptsIn)
    const server = await checkServer(connection, { prefix, scripts })
    for (const warning of server.warnings) log.warn({ store: shown }, warning)
    const terms: Terms = {
      contract: digestOf(JSON.stringify(contract.document.source)),
      overlays: overlays.map(
        ({ name, actions }) => `${name.replace(/^.*[/\\]/, '')} ${digestOf(JSON.stringify(actions)).slice(0, 12)}`,
      ),
      options: describeOptions(options, fixture),
    }
    const membership = new Membership(connection, { prefix, instance, terms, drawId: drawKey })
    const guarded = new GuardedConnection(connection, membership)
    const clock = () => connection.clock.now()
    const { settings } = contract
    const store = openRedisStore({ connection: guarded, prefix, settings, copiesLimit: memory })
    const joining = await takePart(membership, terms, prefix, () =>
      findInvalid(store, createKeptCheck(contract, clock)),
    )
    warnOfOptions(joining, terms)
    const { nextId, renew } = await shareNobodyIds(seed, contract.requestIds, {
      instance,
      async reserve(kind, count) {
        return Number(await guarded.send(['HINCRBY', `${prefix}:{all}:numbers`, kind, String(count)])) - count + 1
      },
    })
    log.info(
      { store: shown, prefix, server: `${server.name} ${server.version}`, others: joining.others },
      'The store is shared.',
    )
    let exchanges: SharedExchangeLog<ExplanationReport | undefined> | undefined
    return {
      store,
      clock,
      budget: {
        get use() {
          return store.copies
        },
      },
      readiness: {
        kind: 'redis',
        get state() {
          return membership.state
        },
      },
      nextId,
      door: membership,
      traffic: {
        figures: connection.figures,
        get servers() {
          return membership.members
        },
        get queued() {
          return exchanges?.queued ?? 0
        },
      },
      skipped: [],
      async openExchanges(parts: ExchangeParts) {
        const readAccount = async (id: string) => ((await store.has(id)) ? store.read(id) : undefined)
        exchanges = await openSharedExchangeLog({
          connection: guarded,
          prefix,
          log,
          ...parts,
          readAccount,
          others: () => membership.members - 1,
        })
        return exchanges
      },
      watch(restore) {
        membership.watch({
          away: (reason) => log.error({ store: shown, reason }, AWAY),
          back: (after) => log.info({ store: shown, seconds: Math.round(after / 100) / 10 }, 'The store is back.'),
          async emptied() {
            log.warn({ store: shown }, 'The store was emptied or replaced: only the default account is there again.')
            store.forgetCopies()
            await renew()
            await restore()
          },
        })
      },
      async close() {
        try {
          await exchanges?.close()
          await store.close()
        } finally {
          await membership.leave()
          connection.close()
        }
      },
    }
  } catch (error) {
    connection.close()
    throw error
  }

  function warnOfOptions({ others, terms: { options: theirs } }: Joining, { options: ours }: Terms): void {
    if (others === 0) return
    const names = [...new Set([...Object.keys(theirs), ...Object.keys(ours)])]
    const differing = names.filter((name) => theirs[name] !== ours[name])
    if (differing.length === 0) return
    const shownOptions = differing.map((name) => ({
      option: name,
      here: ours[name] ?? 'not given',
      there: theirs[name] ?? 'not given',
    }))
    log.warn(
      { options: shownOptions },
      'Other servers of the store were started with other options; give all of them the same.',
    )
  }
}

const AWAY = 'The store is away: until it is back, requests are answered with 500.'

/** Takes part among the servers of a prefix. @throws StoreError when that is not possible */
async function takePart(
  membership: Membership,
  terms: Terms,
  prefix: string,
  findInvalid: () => Promise<string | undefined>,
): Promise<Joining> {
  const found = await membership.join()
  if (found.isJoined) return found
  if (found.format !== FORMAT) {
    const format = `in format ${found.format}, and this version reads format ${FORMAT}`
    throw refusal(`holds accounts under ${prefix} ${format}; use the version that made them, or another --store-prefix`)
  }
  const difference = describeDifference(found.terms, terms)
  if (found.others === 0) {
    // Like a data folder, which is opened with other overlays as long as all of its accounts can be served.
    const invalid = await findInvalid()
    if (invalid !== undefined) {
      throw refusal(
        `was used with ${difference}, and ${invalid}; start with the same overlays, or with another --store-prefix`,
      )
    }
    const again = await membership.join(found.terms.contract)
    if (again.isJoined) return again
  }
  const others = found.others === 1 ? 'Another server uses it' : `${found.others} other servers use it`
  throw refusal(
    `is shared by servers with one contract only. ${others} under ${prefix} with ${difference}; start all with the same overlays, or with another --store-prefix`,
  )
}

function describeDifference(theirs: Terms, ours: Terms): string {
  const list = (overlays: readonly string[]) => overlays.map((each) => each.split(' ')[0]).join(', ') || 'none'
  const [there, here] = [list(theirs.overlays), list(ours.overlays)]
  if (there !== here) return `other overlays (there: ${there}; here: ${here})`
  if (`${theirs.overlays}` !== `${ours.overlays}`) return `other contents of the overlays ${here}`
  return 'another openapi.yaml, as other versions of the program have'
}

/** Why an account cannot be served, as the part of a sentence; `undefined` where all can. */
async function findInvalid(store: Store, check: ReturnType<typeof createKeptCheck>): Promise<string | undefined> {
  for (const id of await store.list()) {
    const problem = await check(encodeAccount(await store.read(id)))
    if (problem !== undefined) return `the account ${id} cannot be served here: ${problem}`
  }
  return undefined
}

/** The options by which servers may differ although they should not, by their flags. */
function describeOptions(options: CompleteOptions, fixture: object): Record<string, string> {
  const isReadyMade = FIXTURE_NAMES.some((name) => name === options.fixture)
  const shown = { ...options, fixture: isReadyMade ? options.fixture : digestOf(JSON.stringify(fixture)).slice(0, 12) }
  return Object.fromEntries(
    SHARED_OPTIONS.flatMap((name) => {
      const value = shown[name]
      const option: Option<unknown> = LIBRARY_OPTIONS[name]
      return value === undefined ? [] : [[`--${flagOf(name, option)}`, JSON.stringify(value)]]
    }),
  )
}

function refusal(message: string): StoreError {
  return new StoreError('unusable', message)
}

/** What helps against a failure, where its text begins like this or has this in it. */
const HINTS: readonly (readonly [failure: RegExp, hint: string])[] = [
  [/ECONNREFUSED|ENOENT|EHOSTUNREACH|ENETUNREACH/, 'is it running there?'],
  [/ENOTFOUND|EAI_AGAIN/, 'check the name of the host'],
  [/EACCES/, 'this user may not use it'],
  [/certificate|CERT_|SELF_SIGNED|altnames/i, 'name the file of its authority in NODE_EXTRA_CA_CERTS'],
  [/NOAUTH/, 'write redis://USER:PASSWORD@HOST'],
  [/DB index/, 'end the URL with the number of a database that it has'],
  [/WRONGPASS|invalid password|AUTH/, 'check user and password in the URL'],
]
/** What happens where one side speaks TLS and the other does not. Neither of them says so. */
const MISUNDERSTOOD =
  /ECONNRESET|EPROTO|EPIPE|wrong version number|packet length|closed unexpectedly|hang up|has not answered/i

/** The error with the name of the store, and with what helps. */
function nameStore(error: unknown, shown: string, { kind, tls = false }: StoreAddress): unknown {
  if (!(error instanceof StoreError)) return error
  const said = error.message.replace(/^The store /, '')
  const other = tls ? ['does not speak TLS', 'redis://'] : ['speaks TLS', 'rediss://']
  const hint =
    kind === 'tcp' && MISUNDERSTOOD.test(said)
      ? `is it Redis or Valkey? If it ${other[0]}, write ${other[1]}`
      : HINTS.find(([failure]) => failure.test(said))?.[1]
  const message = `The store ${shown} ${said}${hint === undefined || said.includes(';') ? '' : `; ${hint}`}`
  return new StoreError(error.problem, message, { cause: error })
}

/** The connection for everything that must not act once servers with another contract have taken over. */
class GuardedConnection implements StoreConnection {
  readonly #inner: StoreConnection
  readonly #membership: Membership

  constructor(inner: StoreConnection, membership: Membership) {
    this.#inner = inner
    this.#membership = membership
  }

  run(script: Script, keys: readonly string[], args: readonly string[], options?: CommandOptions): Promise<Reply> {
    return this.#refusal() ?? this.#inner.run(script, keys, args, options)
  }

  send(command: readonly string[], options?: CommandOptions): Promise<Reply> {
    return this.#refusal() ?? this.#inner.send(command, options)
  }

  duplicate(): StoreConnection {
    return new GuardedConnection(this.#inner.duplicate(), this.#membership)
  }

  get state() {
    return this.#inner.state
  }

  get clock() {
    return this.#inner.clock
  }

  get figures() {
    return this.#inner.figures
  }

  listen(listener: Parameters<StoreConnection['listen']>[0]): () => void {
    return this.#inner.listen(listener)
  }

  close(): void {
    this.#inner.close()
  }

  #refusal(): Promise<never> | undefined {
    const { state, isDisplaced } = this.#membership
    if (!isDisplaced || state.isReady) return undefined
    const error = new StoreError('unavailable', state.reason)
    error.reported = true
    return Promise.reject(error)
  }
}
