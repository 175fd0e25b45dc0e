import { setMaxListeners } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ExchangeLog } from '../accounts/exchange-log.ts'
import { loadFixture } from '../accounts/fixture.ts'
import { secretsOf } from '../accounts/fixture-keys.ts'
import { DEFAULT_ACCOUNT, Worlds } from '../accounts/worlds.ts'
import { ADMIN_PATH, createAdmin } from '../admin/admin.ts'
import { createControlLoader } from '../admin/control-loader.ts'
import { type FaultSet, loadFaultSets } from '../admin/fault-sets.ts'
import type { OperationBehaviour, ServiceContract } from '../behaviour/operation.ts'
import { OPERATIONS } from '../behaviour/operations/operations.ts'
import { bindBehaviours } from '../behaviour/service-contract.ts'
import { type Contract, loadContract } from '../contract/contract.ts'
import { readOverlay } from '../contract/overlay.ts'
import type { AccountState } from '../domain/account.ts'
import type { FaultRule } from '../domain/faults.ts'
import type { ExplanationReport } from '../explain/explanation.ts'
import { findPublicKey, nameInstance } from '../ground/secrets.ts'
import { createCrowdedReply } from '../http/engine/crowded.ts'
import { closeServer, createHttpServer, listen } from '../http/engine/http-server.ts'
import { createMalformedReply } from '../http/engine/malformed.ts'
import { createHostCheck, isLoopback } from '../http/hosts.ts'
import type { Log } from '../http/log.ts'
import { Journal, type JournalLimits } from '../journal/journal.ts'
import { redactLog } from '../journal/redacted-log.ts'
import { Secrets } from '../journal/secrets.ts'
import type { AccountWithKey } from '../library/account.ts'
import { type Library, openLibrary } from '../library/library.ts'
import { createPipeline } from '../service/pipeline.ts'
import { createMalformedRecorder } from '../service/recorder.ts'
import type { Store } from '../store/store.ts'
import { allowedOrigins, corsFor } from './allowed-origins.ts'
import { findPossibleConnections } from './connection-limit.ts'
import { findExposed, hasDefaultAccount, provideDefaultAccount, SEARCHED } from './default-account.ts'
import { divideMemory } from './memory.ts'
import { readDuration } from './option.ts'
import { OptionError } from './option-error.ts'
import { type CompleteOptions, checkPlan, completeOptions, refuseContradictions } from './option-table.ts'
import type { ServerOptions } from './options.ts'
import { openStore } from './store-opening.ts'
import { createExplainer } from './violation-explainer.ts'

const EXPOSED =
  'Keys of these accounts were derived from a seed, so that anybody can compute them. Replace them by other keys.'

/** A running stand-in. */
export interface Understudy extends Library, AsyncDisposable {
  /** What a client takes as its base URL, version segment included. */
  readonly baseUrl: string
  /** Where the control plane answers over HTTP, if it does. */
  readonly adminUrl: string | undefined
  /** Names this run of the server; another start has another one. `/__admin/health` tells it. */
  readonly instance: string
  /** Whether the `default` account was kept from before, so that options for new accounts did not apply. */
  readonly kept: boolean
  /** File and reason of each account that was left out because it is damaged; see `skipDamaged`. */
  readonly skipped: readonly string[]
  /** The accounts with a key that anybody can compute, where other machines reach the server; the log names them so, too. */
  readonly exposed: readonly string[]
  /** What every request and answer is held to. */
  readonly contract: ServiceContract
  /** Answers what is under way, saves, closes every connection. A second call waits for the first. */
  stop(): Promise<void>
}

/** What a program that runs a server for a purpose of its own may ask for beside the options. */
export interface Inside {
  /** In place of the contract that the option `overlays` makes. */
  contract?: Contract | undefined
  /** Fault rules of every new account, which come before those of the option `faults`. They must have been checked. */
  faults?: readonly FaultRule[] | undefined
  /** Whether nothing waits: the delay of a fault passes at once, as when the server stops. */
  hurries?: boolean | undefined
  /** Limits of the journal, in place of the usual ones. */
  journal?: Partial<JournalLimits> | undefined
  /** Is called with parts of the server before it listens. */
  open?(parts: ServerParts): void
}

/** Parts of a server that neither its clients nor the users of the library see. */
export interface ServerParts {
  contract: ServiceContract
  store: Store
  journal: Journal
  worlds: Worlds
  exchanges: ExchangeLog<ExplanationReport | undefined>
}

/** A stand-in whose key is known: nothing was kept from before, or the key was given. */
export type UnderstudyWithKey = Understudy & { readonly apiKey: string; readonly account: AccountWithKey }

/** Options with which the key of the `default` account is known. */
export type KeyedOptions = ServerOptions & ({ data?: undefined; store?: undefined } | { apiKey: string })

/**
 * Composes contract, store, service and control plane into a listening server.
 * @throws OptionError, ContractError, FixtureError, FaultSetError, StoreError, or the `EADDRINUSE` and the like of `listen`.
 */
export function startUnderstudy(options?: KeyedOptions): Promise<UnderstudyWithKey>
export function startUnderstudy(options: ServerOptions): Promise<Understudy>
export function startUnderstudy(options: ServerOptions = {}): Promise<Understudy> {
  return startServer(options, OPERATIONS)
}

/** The same, with these behaviours of the operations, by operationId. */
export async function startServer(
  given: ServerOptions,
  behaviours: Readonly<Record<string, OperationBehaviour>>,
  inside: Inside = {},
): Promise<Understudy> {
  const options = completeOptions(given)
  refuseContradictions(given)
  const { signal, log } = options
  signal?.throwIfAborted()
  const understudy = await composeServer(given, options, behaviours, inside)
  return signal === undefined ? understudy : stopWith(signal, understudy, log)
}

/** The server, which stops when the signal is aborted. @throws the reason of a signal that was aborted during the start */
async function stopWith(signal: AbortSignal, understudy: Understudy, log: Log): Promise<Understudy> {
  if (signal.aborted) {
    await understudy.stop()
    throw signal.reason
  }
  function abort(): void {
    understudy.stop().catch((err: unknown) => log.error({ err }, 'The server could not save everything at its stop.'))
  }
  function stop(): Promise<void> {
    // A signal may outlive many servers.
    signal.removeEventListener('abort', abort)
    return understudy.stop()
  }
  signal.addEventListener('abort', abort, { once: true })
  return { ...understudy, stop, [Symbol.asyncDispose]: stop }
}

async function composeServer(
  given: ServerOptions,
  options: CompleteOptions,
  behaviours: Readonly<Record<string, OperationBehaviour>>,
  inside: Inside,
): Promise<Understudy> {
  const { host, admin, adminToken, plan, simulator } = options
  const secrets = new Secrets(adminToken === undefined ? [] : [adminToken])
  const log = redactLog(options.log, secrets)
  if (admin && adminToken === undefined && !isLoopback(host)) {
    const remedy = 'others can reach this address, so give'
    throw new OptionError('host', host, (spell) => `${remedy} ${spell('adminToken')} or ${spell('admin', false)}`)
  }
  const overlays = inside.contract === undefined ? await Promise.all(options.overlays.map(readOverlay)) : []
  const loaded = inside.contract ?? (await loadContract({ overlays }))
  const contract = bindBehaviours(loaded, { behaviours, simulator })
  checkPlan(plan, contract.settings)
  const fixture = await loadFixture(options.fixture)
  const faultSets = await readFaultSets(options.faults, contract)
  const memory = divideMemory(options.maxMemory)
  const instance = nameInstance()
  const opened = await openStore(options, { contract, overlays, fixture, instance, log, memory: memory.accounts })
  const { store, clock, budget, nextId, skipped, readiness, traffic, door } = opened
  const stopping = new AbortController()
  // Whoever waits listens to it, and any number may.
  setMaxListeners(0, stopping.signal)
  try {
    const { now, frozen } = options
    const ofSets = faultSets.flatMap(({ name, rules }) => rules.map((rule) => ({ set: name, rule })))
    const faults = [...(inside.faults ?? []).map((rule) => ({ rule })), ...ofSets]
    const full = 'The journal is full: from now on, it forgets old requests of the accounts that have most.'
    const limits = { entries: options.journal, total: memory.journal, ...inside.journal }
    const journal = new Journal(limits, () => log.warn({}, full), secrets)
    const urls = { baseUrl: '', adminUrl: '' }
    const randomKeys = !isLoopback(host)
    const publicKeyOf = (account: AccountState) => findPublicKey(account, { derived: !randomKeys })
    const explain = createExplainer({ contract, store, journal, publicKeyOf, urls, log })
    const exchanges = await opened.openExchanges({ contract, journal, explain, publicKeyOf })
    const worlds = new Worlds({
      contract,
      store,
      clock,
      exchanges,
      budget,
      defaults: { fixture, seed: options.seed, now, frozen, plan, faults },
      maxAccounts: options.maxAccounts,
      sandboxKeys: options.sandboxKeys,
      sandboxIdle: readDuration(options.sandboxIdle),
      randomKeys,
      log,
    })
    const kept = await hasDefaultAccount(store)
    if (kept) worlds.checkDefaults()
    const apiKey = await provideDefaultAccount(store, worlds, options.apiKey)
    // A random key that was shown is used again; one that derives from the seed is the same anyway.
    opened.watch(() => provideDefaultAccount(store, worlds, options.apiKey ?? (randomKeys ? apiKey : undefined)))
    await worlds.noteKeys(DEFAULT_ACCOUNT, [...(apiKey === undefined ? [] : [apiKey]), ...secretsOf(fixture)])
    const exposed = isLoopback(host) ? [] : await findExposed(store, traffic === undefined ? undefined : SEARCHED)
    if (exposed.length > 0) log.warn({ accounts: exposed.slice(0, 10), count: exposed.length }, EXPOSED)
    // Not before the account that must not be damaged is there: a start that fails says one thing.
    for (const reason of skipped) log.warn({ reason }, 'A damaged account is left out.')
    const control = createControlLoader({
      contract,
      instance,
      store,
      clock,
      worlds,
      exchanges,
      faultSets,
      urls: () => urls,
      readiness,
      traffic,
      enforceQuotas: options.enforceQuotas,
    })
    inside.open?.({ contract, store, journal, worlds, exchanges })
    const namesUs = createHostCheck(host, allowedOrigins(options, contract))
    const service = createPipeline({
      contract,
      store,
      clock,
      worlds,
      exchanges,
      nextId,
      log,
      stopping: inside.hurries ? AbortSignal.abort() : stopping.signal,
      prefer: options.prefer,
      simulator,
      enforceQuotas: options.enforceQuotas,
      responseValidation: options.responseValidation,
      cors: corsFor(options, contract),
      namesUs,
    })
    const beside = admin
      ? createAdmin({
          control,
          token: adminToken,
          host,
          instance,
          urls: () => urls,
          log,
          stopping: stopping.signal,
          readiness,
        })
      : undefined
    function dispatch(request: IncomingMessage, response: ServerResponse): void | Promise<void> {
      if (beside !== undefined && (isAdminTarget(request.url ?? '') || (isRoot(request) && namesUs(request)))) {
        return beside(request, response)
      }
      // Where the store is away, or may be another one by now, a request waits a little for what is found out.
      return door === undefined || door.isOpen
        ? service(request, response)
        : door.opened().then(() => service(request, response))
    }
    const refuseCrowded = createCrowdedReply(contract, nextId)
    const limit = Math.min(options.maxConnections, findPossibleConnections())
    if (given.maxConnections !== undefined && limit < options.maxConnections) {
      log.warn({}, `The system lets the process have ${limit} connections, not ${options.maxConnections}.`)
    }
    const server = createHttpServer(
      dispatch,
      createMalformedReply(contract, nextId, log, createMalformedRecorder({ exchanges, clock })),
      {
        limit,
        // Who finds out what goes on, and ends it, must get in.
        refuse: (request, response) =>
          beside !== undefined && isAdminTarget(request.url ?? '') && isOfThisMachine(request)
            ? beside(request, response)
            : refuseCrowded(request, response),
        began: () => log.warn({ limit }, 'There are as many connections as there may be; others are refused.'),
        ended: (refused) => log.info({ refused }, 'There is room for connections again.'),
      },
    )
    const origin = await listen(server, options.port, host)
    Object.assign(urls, { baseUrl: origin + contract.basePath, adminUrl: origin + ADMIN_PATH })
    let stopped: Promise<void> | undefined
    async function stop(): Promise<void> {
      stopping.abort()
      await closeServer(server)
      await opened.close()
    }
    const stopOnce = () => (stopped ??= stop())
    return {
      baseUrl: urls.baseUrl,
      adminUrl: admin ? urls.adminUrl : undefined,
      instance,
      kept,
      skipped,
      exposed,
      contract,
      ...openLibrary(control, {
        baseUrl: urls.baseUrl,
        apiKey,
        exchanges,
        contract,
        store,
        stopping: stopping.signal,
      }),
      stop: stopOnce,
      [Symbol.asyncDispose]: stopOnce,
    }
  } catch (error) {
    await opened.close()
    throw error
  }
}

/** Whether somebody looks at the server itself, which the service knows nothing of. */
function isRoot({ method, url = '' }: IncomingMessage): boolean {
  return (url === '/' || url.startsWith('/?')) && (method === 'GET' || method === 'HEAD')
}

/** Whether the client runs on this machine. */
function isOfThisMachine({ socket: { remoteAddress = '' } }: IncomingMessage): boolean {
  return isLoopback(remoteAddress.replace(/^::ffff:/, ''))
}

function isAdminTarget(url: string): boolean {
  return (
    url.startsWith(ADMIN_PATH) && (url.length === ADMIN_PATH.length || '/?'.includes(url.charAt(ADMIN_PATH.length)))
  )
}

async function readFaultSets(sources: readonly string[], contract: Contract): Promise<FaultSet[]> {
  if (sources.length === 0) return []
  const { createSetCheck } = await import('../admin/fault-set-check.ts')
  const check = await createSetCheck(contract)
  return (await Promise.all(sources.map((source) => loadFaultSets(source, check)))).flat()
}
