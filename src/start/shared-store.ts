import { DEFAULT_ACCOUNT } from '../accounts/worlds.ts'
import { DEFAULT_SEED } from '../domain/account.ts'
import type { ExplanationReport } from '../explain/explanation.ts'
import { systemClock } from '../ground/clock.ts'
import { drawKey } from '../ground/secrets.ts'
import { clearTimeout, setTimeout } from '../ground/timers.ts'
import { shareAnonymousIds } from '../http/anonymous-ids.ts'
import type { Log } from '../http/log.ts'
import { openConnection, type StoreConnection } from '../redis/connection.ts'
import { removeOtherLibraries } from '../redis/library.ts'
import { FORMAT, type Joining, Membership, type ServerTerms } from '../redis/membership.ts'
import { RedisStore } from '../redis/redis-store.ts'
import { checkServer } from '../redis/server-check.ts'
import { SharedExchangeLog } from '../redis/shared-exchange-log.ts'
import { encodeAccount } from '../store/record.ts'
import type { Store } from '../store/store.ts'
import { StoreError } from '../store/store-error.ts'
import { createKeptCheck } from './kept-accounts.ts'
import type { OpenedStore, OpeningContext } from './opened-store.ts'
import type { CompleteOptions } from './option-table.ts'
import { describeDifference, differingOptions, termsOf } from './server-terms.ts'
import { nameStore } from './store-failure.ts'
import { readStoreUrl } from './store-url.ts'

/** After how many milliseconds a start reports that it waits for the store; multiplied by `patience`. */
const SILENT_WAIT = 1_000

/**
 * Opens a store that several servers share, after a check that this server may take part.
 * @throws StoreError that names the store, the problem and the remedy
 */
export async function openSharedStore(
  options: CompleteOptions & { store: string },
  context: OpeningContext,
): Promise<OpenedStore> {
  const reading = readStoreUrl(options.store)
  if ('remedy' in reading) throw new Error('The URL of the store was not checked.')
  const { address, shown } = reading
  const { instance, patience } = context
  // Only until the store answers: the check of many kept accounts can take longer.
  const answered = announceWait(shown, context)
  let connection: StoreConnection | undefined
  try {
    const named = { name: `dmarc-understudy-${instance}`, now: systemClock(), patience }
    connection = await openConnection(address, named).finally(answered)
    return compose(await join(connection, shown, options, context))
  } catch (error) {
    connection?.close()
    throw nameStore(error, shown, address)
  }
}

/** Reports later that the start waits for the store, unless the returned function is called before. */
function announceWait(shown: string, { log, patience }: Pick<OpeningContext, 'log' | 'patience'>): () => void {
  const timer = setTimeout(() => log.info({ store: shown }, WAITING), SILENT_WAIT * (patience?.() ?? 1))
  return () => clearTimeout(timer)
}

/** What a server has that takes part among the servers of a store. */
type Participation = Awaited<ReturnType<typeof join>>

/** Provides the data of a start again when the store has lost it, once at a time. */
class Restoration {
  provide: (() => Promise<unknown>) | undefined
  /** The restoration that runs now. */
  underWay: Promise<unknown> | undefined

  async run(): Promise<void> {
    this.underWay ??= this.provide?.().finally(() => {
      this.underWay = undefined
    })
    await this.underWay
  }
}

/** Checks the store, takes part among its servers, and repairs what it has lost. */
async function join(connection: StoreConnection, shown: string, options: CompleteOptions, context: OpeningContext) {
  const { storePrefix: prefix, seed = DEFAULT_SEED } = options
  const { contract, instance, log, memory, patience } = context
  const server = await checkServer(connection, { prefix })
  for (const warning of server.warnings) log.warn({ store: shown }, warning)
  const terms = termsOf(options, context)
  const membership = new Membership(connection, { prefix, instance, terms, drawId: drawKey })
  connection.guard(() => membership.refusal)
  const restoration = new Restoration()
  const store = new RedisStore({
    ...{ connection, prefix, settings: contract.settings, copiesLimit: memory },
    place: () => membership.place,
    async lost(account, key) {
      log.warn({ account, key }, LOST_ACCOUNT)
      // Every server needs this account. Its restoration may itself find it lost, and cannot wait for itself.
      if (account === DEFAULT_ACCOUNT && restoration.underWay === undefined) await restoration.run()
    },
    mend: () => (restoration.provide === undefined ? repair(store, log) : membership.check()),
    // While the barrier is closed, it is unknown whether the store is still the same one.
    restoring: () => restoration.underWay ?? (membership.isOpen ? undefined : membership.opened()),
  })
  const joining = await takePart(membership, terms, prefix, () =>
    findInvalid(
      store,
      createKeptCheck(contract, () => connection.clock.now()),
    ),
  )
  if (joining.others === 0) await removeOtherLibraries((command, each) => connection.send(command, each))
  await repair(store, log)
  await freeIncomplete(store, log)
  const differing = joining.others === 0 ? [] : differingOptions(terms, joining.terms)
  if (differing.length > 0) log.warn({ options: differing }, DIFFERING)
  const ids = await shareAnonymousIds(seed, contract.requestIds, {
    instance,
    async reserve(kind, count) {
      return Number(await connection.send(['HINCRBY', `${prefix}:{all}:numbers`, kind, String(count)])) - count + 1
    },
  })
  log.info(
    { store: shown, prefix, server: `${server.name} ${server.version}`, others: joining.others },
    'The store is shared.',
  )
  return { connection, prefix, shown, log, patience, membership, store, restoration, ids }
}

function compose(participation: Participation): OpenedStore {
  const { connection, prefix, shown, log, membership, store, ids } = participation
  let exchanges: SharedExchangeLog<ExplanationReport | undefined> | undefined
  return {
    store,
    recall: (moment) => store.recall(moment),
    clock: () => connection.clock.now(),
    readiness: membership,
    nextId: ids.nextId,
    barrier: membership,
    skipped: [],
    async openExchanges(parts) {
      const readAccount = async (id: string) =>
        (await store.find('id', id)) === undefined ? undefined : store.read(id)
      const others = () => membership.members - 1
      exchanges = new SharedExchangeLog({ connection, prefix, log, ...parts, readAccount, others })
      const connected = announceWait(shown, participation)
      void exchanges.connected.then(connected)
      await exchanges.start().finally(connected)
      return exchanges
    },
    watch: (provide) => watch(participation, provide),
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
}

/** From now on, logs what happens to the store, and restores what it loses. */
function watch(
  { membership, store, restoration, ids, log, shown }: Participation,
  provide: () => Promise<unknown>,
): void {
  const place = { store: shown }
  restoration.provide = provide
  membership.watch({
    away: (reason) => log.error({ ...place, reason }, AWAY),
    back: (after) => log.info({ ...place, seconds: Math.round(after / 100) / 10 }, 'The store is back.'),
    full: (isFull) => (isFull ? log.error(place, FULL) : log.info(place, 'The store has memory again.')),
    async emptied() {
      await repair(store, log)
      const isEmpty = (await store.list()).length === 0
      log.warn(place, isEmpty ? EMPTIED : REPLACED)
      store.copies.clear()
      await ids.renew()
      await restoration.run()
    },
    async lost() {
      await repair(store, log)
      // The repair removes accounts without data.
      await restoration.run()
    },
  })
}

/** Makes lost keys of the store again. */
async function repair(store: RedisStore, log: Log): Promise<void> {
  const keys = await store.repair()
  if (keys.length > 0) log.warn({ keys }, LOST_KEYS)
}

const DIFFERING = 'Other servers of the store were started with other options; give all of them the same.'
const AWAY = 'The store is away: until it is back, requests are answered with 500.'
const EMPTIED = 'The store was emptied or replaced: only the default account is there again.'
const REPLACED = 'The store was replaced, or has lost its marker: the accounts are those that are there now.'
const LOST_KEYS =
  'The store has lost keys, which were deleted or evicted: they are made again, without the order of the accounts.'
const WAITING = 'The store has not answered yet; the start waits for it a little longer.'
const LOST_ACCOUNT = 'The store has lost an account, because its key was deleted or evicted: only its id is free again.'
const FULL = 'The store has no memory left (its setting maxmemory): changes are refused.'

/** Deletes an incomplete `default` account, so that it is created again. */
async function freeIncomplete(store: Store, log: Log): Promise<void> {
  if ((await store.find('id', DEFAULT_ACCOUNT)) === undefined) return
  try {
    await store.read(DEFAULT_ACCOUNT)
  } catch (error) {
    if (!(error instanceof StoreError && error.problem === 'damaged')) return
    log.warn({ reason: error.message }, 'The default account is made again.')
    await store.delete(DEFAULT_ACCOUNT)
  }
}

/** Takes part among the servers of a prefix. @throws StoreError if that is not possible */
async function takePart(
  membership: Membership,
  terms: ServerTerms,
  prefix: string,
  findInvalid: () => Promise<string | undefined>,
): Promise<Joining> {
  const found = await membership.join()
  if (found.isJoined) return found
  if (found.format !== FORMAT && found.format !== '') {
    const format = `in format ${found.format}, and this version reads format ${FORMAT}`
    throw refusal(`holds accounts under ${prefix} ${format}; use the version that made them, or another --store-prefix`)
  }
  if (found.others === 0) {
    // As with a data folder, other overlays are permitted if all accounts can be served with them.
    const invalid = await findInvalid()
    if (invalid !== undefined && found.format === '') {
      const lost = `has lost the key ${prefix}:{all}:marker, which says with which overlays it was used`
      throw refusal(`${lost}, and ${invalid}; start with those, or with another --store-prefix`)
    }
    if (invalid !== undefined) {
      const difference = describeDifference(found.terms, terms)
      throw refusal(
        `was used with ${difference}, and ${invalid}; start with the same overlays, or with another --store-prefix`,
      )
    }
    const again = await membership.join(found.terms.contract)
    if (again.isJoined) return again
  }
  const difference = describeDifference(found.terms, terms)
  const others = found.others > 1 ? `${found.others} other servers use it` : 'Another server uses it'
  throw refusal(
    `is shared by servers with one contract only. ${others} under ${prefix} with ${difference}; start all with the same overlays, or with another --store-prefix`,
  )
}

/** Why an account cannot be served, as the part of a sentence; `undefined` if all accounts can. */
async function findInvalid(store: Store, check: ReturnType<typeof createKeptCheck>): Promise<string | undefined> {
  for (const id of await store.list()) {
    const problem = await check(encodeAccount(await store.read(id)))
    if (problem !== undefined) return `the account ${id} cannot be served here: ${problem}`
  }
  return undefined
}

function refusal(message: string): StoreError {
  return new StoreError('unusable', message)
}
