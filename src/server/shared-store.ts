import { SharedExchangeLog } from '../accounts/shared/shared-exchange-log.ts'
import { DEFAULT_SEED } from '../domain/account.ts'
import type { ExplanationReport } from '../explain/explanation.ts'
import { systemClock } from '../ground/clock.ts'
import { digestOf, drawKey } from '../ground/secrets.ts'
import { clearTimeout, setTimeout } from '../ground/timers.ts'
import { countAnonymousIds } from '../service/request-ids.ts'
import { openConnection, type StoreConnection } from '../store/redis/connection.ts'
import { Membership, type ServerTerms } from '../store/redis/membership.ts'
import { RedisStore } from '../store/redis/redis-store.ts'
import { checkServer } from '../store/redis/server-check.ts'
import { StoreError } from '../store/store-error.ts'
import type { OpenedStore, OpeningContext } from './opened-store.ts'
import type { CompleteOptions } from './option-table.ts'
import { nameStore } from './store-failure.ts'
import { readStoreUrl } from './store-url.ts'

/** After how many milliseconds a start reports that it waits for the store; multiplied by `patience`. */
const SILENT_WAIT = 1_000
const AWAY = 'The store is away: until it is back, requests are answered with 500.'
const EMPTIED = 'The store was emptied or replaced: only the default account is there again.'
const WAITING = 'The store has not answered yet; the start waits for it a little longer.'
const FULL = 'The store has no memory left (its setting maxmemory): changes are refused.'

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
    connection = await openConnection(address, { name: `dmarc-understudy-${instance}`, now: systemClock(), patience })
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
  const terms = termsOf(context)
  const membership = new Membership(connection, { prefix, terms, drawId: drawKey })
  const present = await membership.join()
  if (present.contract !== terms.contract) {
    const difference = `was used under ${prefix} with ${describeDifference(present, terms)}`
    throw new StoreError('unusable', `${difference}; start with the same overlays, or with another --store-prefix`)
  }
  log.info({ store: shown, prefix, server: `${server.name} ${server.version}` }, 'The store is shared.')
  return membership
}

/** The contract of this server, for other servers with the same store. */
function termsOf({ contract, overlays }: OpeningContext): ServerTerms {
  return {
    contract: digestOf(JSON.stringify(contract.document.source)),
    // Folder names have no meaning on other machines.
    overlays: overlays.map(({ name }) => name.replace(/^.*[/\\]/, '')),
  }
}

/** The difference between the contracts of another server and of this one, as the part of a sentence. */
function describeDifference(theirs: ServerTerms, ours: ServerTerms): string {
  const [there, here] = [theirs, ours].map(({ overlays }) => overlays.join(', ') || 'none')
  if (there !== here) return `other overlays (there: ${there}; here: ${here})`
  const overlays = ours.overlays.length === 0 ? '' : `other contents of the overlays ${here}, or `
  return `${overlays}another openapi.yaml, as other versions of the program have`
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
  const restored = () => membership.restored()
  const store = new RedisStore({ connection, prefix, settings: contract.settings, restored })
  let exchanges: SharedExchangeLog<ExplanationReport | undefined> | undefined
  return {
    store,
    clock: () => connection.clock.now(),
    readiness: membership,
    // The other servers count for themselves, so the name of this one makes its ids unique.
    nextId: countAnonymousIds(`${seed} ${instance}`, contract.requestIds),
    async openExchanges(parts) {
      exchanges = new SharedExchangeLog({ connection, prefix, store, log, ...parts })
      await exchanges.start()
      return exchanges
    },
    watch(provide) {
      membership.watch({
        away: (reason) => log.error({ ...place, reason }, AWAY),
        back: (after) => log.info({ ...place, seconds: Math.round(after / 100) / 10 }, 'The store is back.'),
        full: (isFull) => (isFull ? log.error(place, FULL) : log.info(place, 'The store has memory again.')),
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
