import { setMaxListeners } from 'node:events'
import { getHeapStatistics } from 'node:v8'
import type { ExchangeLog } from '../accounts/exchange-log.ts'
import { establishedKey, loadFixture, secretsOf } from '../accounts/fixture.ts'
import { DEFAULT_ACCOUNT, Worlds } from '../accounts/worlds.ts'
import type { Control } from '../admin/control.ts'
import { createControlLoader } from '../admin/control-loader.ts'
import type { ObservedService } from '../admin/handler.ts'
import { bindBehaviours, type OperationBehaviour, type ServiceContract } from '../behaviour/operation.ts'
import { type Contract, loadContract } from '../contract/contract.ts'
import type { Overlay } from '../contract/overlay.ts'
import type { ServerUrls } from '../coverage/curl.ts'
import { addKey } from '../domain/account.ts'
import { accept } from '../domain/errors.ts'
import type { FaultRule } from '../domain/faults.ts'
import type { FaultSet } from '../faults/fault-sets.ts'
import { createHostCheck, type HostCheck, isLoopback } from '../ground/hosts.ts'
import type { Log } from '../ground/log.ts'
import { deriveKey, hasDerivedKey, hashKey, identityOf, nameInstance } from '../ground/secrets.ts'
import { JOURNAL_LIMITS, Journal, type JournalLimits } from '../journal/journal.ts'
import { redactLog } from '../journal/redaction/redaction.ts'
import { nameInLog, Secrets } from '../journal/redaction/secrets.ts'
import { createService, type Service } from '../service/answer.ts'
import { createCors } from '../service/cors.ts'
import type { Store } from '../store/store.ts'
import { StoreError } from '../store/store-error.ts'
import type { OpenedStore, OpeningContext } from './opened-store.ts'
import { type CompleteOptions, checkPlan, OptionError } from './options.ts'
import { openStore } from './store-opening.ts'

const EXPOSED =
  'The keys of these accounts derive from a seed, so any program can compute them. Replace them by other keys.'

/** Additional settings for a program that runs a stand-in for its own purpose. */
export interface InternalOptions {
  /** Replaces the contract that the option `overlays` makes. */
  contract?: Contract | undefined
  /** Fault rules of every new account, before those of the option `faults`. They must have been checked. */
  faults?: readonly FaultRule[] | undefined
  /** Whether there are no waits: the delay of a fault ends at once, as when the server stops. */
  hurries?: boolean | undefined
  /** The factor for the time limit of a step of a shared store. */
  patience?: (() => number) | undefined
  /** How many connections may be open, in place of the usual number. */
  maxConnections?: number | undefined
  /** A store in this process that replaces the one that the options name. */
  store?: Store | undefined
  /** Limits of the journal that replace the usual ones. */
  journal?: Partial<JournalLimits> | undefined
  /** Called with the stand-in before its first request. */
  open?(standIn: StandIn): void
  /** The service that the doors call in place of the usual one, such as one that lets requests wait. */
  wrapService?(service: Service): Service
  /** A real service to which the requests in the journal went. */
  observed?: ObservedService | undefined
}

export type Behaviours = Readonly<Record<string, OperationBehaviour>>

/** The stand-in: the service with its data. Doors lead to it, but it knows no door. */
export interface StandIn {
  readonly answer: Service
  readonly contract: ServiceContract
  readonly store: Store
  readonly journal: Journal
  readonly worlds: Worlds
  readonly exchanges: ExchangeLog
  readonly opened: OpenedStore
  /** The control plane. It is loaded at its first use. */
  readonly control: () => Promise<Control>
  /** The addresses for clients; a door fills them in. */
  readonly urls: ServerUrls
  readonly namesUs: HostCheck
  readonly instance: string
  readonly log: Log
  /** The key of the `default` account, if it is known, and whether the account existed before. */
  readonly apiKey: string | undefined
  readonly kept: boolean
  /** The accounts with a computable key, if other machines can reach the stand-in. */
  readonly exposed: readonly string[]
  /** Aborted when the stand-in stops; then nothing waits any longer. */
  readonly stopping: AbortController
}

/** The parts that do not depend on the store. */
interface Preparation extends Omit<OpeningContext, 'patience' | 'given'> {
  contract: ServiceContract
  faultSets: FaultSet[]
  secrets: Secrets
}

/**
 * Composes contract, store and service. The caller must close `opened` at the end.
 * @throws OptionError, ContractError, FixtureError, FaultSetError, StoreError
 */
export async function openStandIn(
  options: CompleteOptions,
  behaviours: Behaviours,
  internal: InternalOptions,
): Promise<StandIn> {
  const prepared = await prepare(options, behaviours, internal)
  const { contract, log, instance, faultSets } = prepared
  const opened = await openStore(options, { ...prepared, patience: internal.patience, given: internal.store })
  const stopping = new AbortController()
  // Each waiting request listens to the signal, and their number is not limited.
  setMaxListeners(0, stopping.signal)
  try {
    const { store, clock, nextId, readiness } = opened
    const urls: ServerUrls = { baseUrl: '', adminUrl: '' }
    const { journal, exchanges, worlds } = await openAccounts(options, internal, prepared, opened)
    const { apiKey, kept, exposed } = await provideAccounts(options, opened, worlds, log)
    const { enforceQuotas, prefer, simulator, responseValidation } = options
    const shared = { contract, store, clock, worlds, exchanges, enforceQuotas }
    // What comes without a port was sent by a program that has the stand-in.
    const namesUs = options.listen ? createHostCheck(options.host, options.cors) : () => true
    const control = createControlLoader({
      ...shared,
      instance,
      faultSets,
      urls: () => urls,
      namesUs,
      readiness,
      observed: internal.observed,
    })
    const service = createService({
      ...{ ...shared, urls, nextId, log, prefer, simulator, responseValidation, namesUs },
      stopping: internal.hurries ? AbortSignal.abort() : stopping.signal,
      cors: createCors({
        origins: options.cors,
        exposed: Object.keys(contract.document.resolved.components?.headers ?? {}),
      }),
    })
    const answer = internal.wrapService?.(service) ?? service
    const standIn: StandIn = {
      ...{ answer, contract, store, journal, worlds, exchanges, opened, control, urls, namesUs, instance, log },
      ...{ apiKey, kept, exposed, stopping },
    }
    internal.open?.(standIn)
    return standIn
  } catch (error) {
    await opened.close()
    throw error
  }
}

async function prepare(
  options: CompleteOptions,
  behaviours: Behaviours,
  internal: InternalOptions,
): Promise<Preparation> {
  const { host, admin, adminToken, apiKey, plan, simulator } = options
  const secrets = new Secrets([adminToken, apiKey].filter((secret) => secret !== undefined))
  const log = redactLog(options.log, secrets)
  if (admin && adminToken === undefined && !isLoopback(host)) {
    throw new OptionError('host', host, 'others can reach this address, so give {adminToken} or {admin: false}')
  }
  const overlays = internal.contract === undefined ? await readGiven(options.overlays) : []
  const loaded = internal.contract ?? (await loadContract({ overlays }))
  const contract = bindBehaviours(loaded, { behaviours, simulator })
  checkPlan(plan, contract.settings)
  const fixture = await loadFixture(options.fixture)
  // Keys with another form are only known where they are given.
  for (const secret of secretsOf(fixture)) secrets.add(secret)
  const faultSets = await readFaultSets(options.faults, contract)
  return { contract, overlays, fixture, faultSets, secrets, log, instance: nameInstance() }
}

/** The largest share of the heap for the journal. */
const JOURNAL_SHARE = 0.15

/** The data of the accounts: their states and their history. */
async function openAccounts(
  options: CompleteOptions,
  internal: InternalOptions,
  { contract, fixture, faultSets, secrets, log }: Preparation,
  { store, clock, openExchanges }: OpenedStore,
) {
  const { seed, now, frozen, plan, maxAccounts, sandboxKeys } = options
  const ofSets = faultSets.flatMap(({ name, rules }) => rules.map((rule) => ({ set: name, rule })))
  const faults = [...(internal.faults ?? []).map((rule) => ({ rule })), ...ofSets]
  const full = 'The journal is full: from now on, it forgets old requests of the accounts that have most.'
  const total = Math.min(JOURNAL_LIMITS.total, JOURNAL_SHARE * getHeapStatistics().heap_size_limit)
  const limits = { entries: options.journal, total, ...internal.journal }
  const journal = new Journal(limits, () => log.warn({}, full), secrets)
  const randomKeys = !isLoopback(options.host)
  const exchanges = await openExchanges(journal)
  const worlds = new Worlds({
    ...{ contract, store, clock, exchanges, maxAccounts, sandboxKeys, randomKeys, log },
    defaults: { fixture, seed, now, frozen, plan, faults },
  })
  return { journal, exchanges, worlds }
}

/** Provides the account `default`, and logs which keys anybody can compute. */
async function provideAccounts(
  options: CompleteOptions,
  { store, watch }: OpenedStore,
  worlds: Worlds,
  log: Log,
): Promise<Pick<StandIn, 'apiKey' | 'kept' | 'exposed'>> {
  const isLocal = isLoopback(options.host)
  const kept = await hasDefaultAccount(store)
  if (kept) worlds.checkDefaults()
  const apiKey = await provideDefaultAccount(store, worlds, options.apiKey)
  // A random key that was shown is used again. A derived key is the same anyway.
  watch(() => provideDefaultAccount(store, worlds, options.apiKey ?? (isLocal ? undefined : apiKey)))
  const exposed = isLocal ? [] : await findExposed(store)
  if (exposed.length > 0) log.warn({ accounts: exposed.slice(0, 10), count: exposed.length }, EXPOSED)
  return { apiKey, kept, exposed }
}

async function readGiven(paths: readonly string[]): Promise<Overlay[]> {
  if (paths.length === 0) return []
  const { readOverlays } = await import('../contract/overlay.ts')
  return readOverlays(paths)
}

async function readFaultSets(sources: readonly string[], contract: Contract): Promise<FaultSet[]> {
  if (sources.length === 0) return []
  const [{ loadFaultSets }, { loadRuleCheck }] = await Promise.all([
    import('../faults/fault-sets.ts'),
    import('../faults/rule-check.ts'),
  ])
  const check = await loadRuleCheck(contract)
  return (await Promise.all(sources.map((source) => loadFaultSets(source, check)))).flat()
}

/** Ensures that the `default` account exists and has the key; returns the key if it is known. */
async function provideDefaultAccount(
  store: Store,
  worlds: Worlds,
  chosen: string | undefined,
): Promise<string | undefined> {
  const id = DEFAULT_ACCOUNT
  const created = (await hasDefaultAccount(store)) ? undefined : await createUnlessThere(store, worlds, chosen)
  const account = created?.account ?? (await store.read(id)).state
  const key = chosen ?? created?.apiKey ?? deriveKey(account.seed, id)
  const known = account.keys.some(({ hash }) => hash === hashKey(key))
  if (known || chosen === undefined) return known ? key : undefined
  const added = establishedKey(identityOf(chosen), worlds.now(account))
  await store.update(id, (state) => accept(addKey(state, added), undefined))
  return chosen
}

async function hasDefaultAccount(store: Store): Promise<boolean> {
  return (await store.find('id', DEFAULT_ACCOUNT)) !== undefined
}

/** The account; `undefined` if another server with the same store has created it at the same moment. */
async function createUnlessThere(store: Store, worlds: Worlds, apiKey: string | undefined) {
  try {
    return await worlds.create({ id: DEFAULT_ACCOUNT, apiKey })
  } catch (error) {
    // If the account does not exist, another account has the key.
    if (error instanceof StoreError && error.problem === 'taken' && (await hasDefaultAccount(store))) return undefined
    throw error
  }
}

/** How many accounts are searched: each one of a store in another process costs a step of that store. */
const SEARCHED = 1_000

/** The accounts with a key that an earlier start on a loopback address has derived, as the log names them. */
async function findExposed(store: Store): Promise<string[]> {
  const exposed: string[] = []
  for (const id of (await store.list()).slice(0, SEARCHED)) {
    // Another server may have deleted the account meanwhile.
    const { state } = (await store.read(id).catch(unlessUnknown)) ?? {}
    if (state !== undefined && hasDerivedKey(state)) exposed.push(nameInLog(id))
  }
  return exposed
}

function unlessUnknown(error: unknown): undefined {
  if (!(error instanceof StoreError) || error.problem !== 'unknown-account') throw error
}
