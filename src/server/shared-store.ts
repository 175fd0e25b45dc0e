import { SharedExchangeLog } from '../accounts/shared/shared-exchange-log.ts'
import { DEFAULT_SEED } from '../domain/account.ts'
import { countAnonymousIds } from '../ground/chance.ts'
import { digestOf, drawKey } from '../ground/secrets.ts'
import { clearTimeout, setTimeout } from '../ground/timers.ts'
import { openConnection, type StoreAddress, type StoreConnection } from '../store/redis/connection.ts'
import { Membership } from '../store/redis/membership.ts'
import { RedisStore } from '../store/redis/redis-store.ts'
import { checkServer } from '../store/redis/server-check.ts'
import { StoreError } from '../store/store-error.ts'
import type { OpenedStore, OpeningContext } from './opened-store.ts'
import type { CompleteOptions } from './options.ts'
import { readStoreUrl } from './store-url.ts'

/** After how many milliseconds a start reports that it waits for the store; multiplied by `patience`. */
const SILENT_WAIT = 1_000
const AWAY = 'The store is away: until it is back, requests are answered with 500.'
const EMPTIED = 'The store was emptied or replaced: only the default account is there again.'
const WAITING = 'The store has not answered yet; the start waits for it a little longer.'

/**
 * Opens a store that several servers share, after a check that this server may take part.
 * @throws StoreError that names the store, the problem and the remedy
 */
export async function openSharedStore(
  options: CompleteOptions & { store: string },
  context: OpeningContext,
): Promise<OpenedStore> {
  const reading = readStoreUrl(options.store)
  if (reading === undefined) throw new Error('The URL of the store was not checked.')
  const { address, shown } = reading
  const { instance, patience, log } = context
  const waiting = setTimeout(() => log.info({ store: shown }, WAITING), SILENT_WAIT * (patience?.() ?? 1))
  let connection: StoreConnection | undefined
  try {
    connection = await openConnection(address, { name: `dmarc-understudy-${instance}`, patience })
    const membership = await join(connection, shown, options, context)
    return await compose(connection, membership, shown, options, context)
  } catch (error) {
    connection?.close()
    throw nameStore(error, shown, address)
  } finally {
    clearTimeout(waiting)
  }
}

/** Checks the store, and takes part among its servers. @throws StoreError if that is not possible */
async function join(
  connection: StoreConnection,
  shown: string,
  options: CompleteOptions,
  context: OpeningContext,
): Promise<Membership> {
  const { storePrefix: prefix } = options
  const { log } = context
  const server = await checkServer(connection)
  if (server.warning !== undefined) log.warn({ store: shown }, server.warning)
  const contract = digestOf(JSON.stringify(context.contract.document.source))
  const membership = new Membership(connection, { prefix, contract, drawId: drawKey })
  await membership.join()
  log.info({ store: shown, prefix, server: server.name }, 'The store is shared.')
  return membership
}

/** What a server does with a store in which it takes part. */
async function compose(
  connection: StoreConnection,
  membership: Membership,
  shown: string,
  { storePrefix: prefix, seed = DEFAULT_SEED }: CompleteOptions,
  { contract, instance, log }: OpeningContext,
): Promise<OpenedStore> {
  const place = { store: shown }
  const store = new RedisStore({ connection, prefix, settings: contract.settings, check: () => membership.check() })
  let exchanges: SharedExchangeLog | undefined
  return {
    store,
    clock: () => connection.now(),
    readiness: membership,
    // The other servers count for themselves, so the name of this one makes its ids unique.
    nextId: countAnonymousIds(`${seed} ${instance}`, contract.requestIds),
    async openExchanges(journal) {
      exchanges = new SharedExchangeLog({ connection, prefix, store, log, contract, journal })
      await exchanges.start()
      return exchanges
    },
    watch(provide) {
      membership.watch({
        away: (reason) => log.error({ ...place, reason }, AWAY),
        back: (after) => log.info({ ...place, seconds: Math.round(after / 100) / 10 }, 'The store is back.'),
        async emptied() {
          log.warn(place, EMPTIED)
          await exchanges?.restart()
          await provide()
        },
      })
    },
    async close() {
      membership.leave()
      await exchanges?.close()
      await store.close()
      connection.close()
    },
  }
}

/** Hints for failures, by the beginning of the failure's text or by a part of it. */
const HINTS: readonly (readonly [failure: RegExp, hint: string])[] = [
  [/ECONNREFUSED|EHOSTUNREACH|ENETUNREACH/, 'is it running there?'],
  [/ENOTFOUND|EAI_AGAIN/, 'check the name of the host'],
  [/certificate|CERT_|SELF_SIGNED|altnames/i, 'name the file of its authority in NODE_EXTRA_CA_CERTS'],
  [/NOAUTH/, 'write redis://USER:PASSWORD@HOST'],
  [/DB index/, 'end the URL with the number of a database that it has'],
  // What a connection needs, before any other right can be asked for.
  [/NOPERM/, 'give it +@connection +time'],
  [/WRONGPASS|invalid password|AUTH/, 'check user and password in the URL'],
]
/** Errors if only one side speaks TLS. Neither side reports this cause. */
const MISUNDERSTOOD =
  /ECONNRESET|EPROTO|EPIPE|wrong version number|packet length|closed unexpectedly|hang up|has not answered|Connection timeout/i

/** The error with the name of the store and a hint. */
function nameStore(error: unknown, shown: string, { tls = false }: StoreAddress): unknown {
  if (!(error instanceof StoreError)) return error
  const said = error.message.replace(/^The store /, '')
  const other = tls ? ['does not speak TLS', 'redis://'] : ['speaks TLS', 'rediss://']
  const hint = MISUNDERSTOOD.test(said)
    ? `is it Redis or Valkey? If it ${other[0]}, write ${other[1]}`
    : HINTS.find(([failure]) => failure.test(said))?.[1]
  // Node.js proposes a remedy for its own trusted authorities. It does not help with a private authority.
  const problem = said.replace(/; if the root CA is installed locally, .*$/, '')
  const message = `The store ${shown} ${problem}${hint === undefined || problem.includes(';') ? '' : `; ${hint}`}`
  return new StoreError(error.problem, message, { cause: error })
}
