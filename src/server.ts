import type { IncomingMessage, ServerResponse } from 'node:http'
import { ADMIN_PATH, createAdmin } from './admin/admin.ts'
import { type Clock, systemClock } from './clock.ts'
import { type Contract, loadContract } from './contract/contract.ts'
import { readOverlay } from './contract/overlay.ts'
import { openAccount } from './domain/account.ts'
import { timeOn } from './domain/clock.ts'
import { accept } from './domain/errors.ts'
import type { Fixture } from './domain/fixture.ts'
import { comparedName } from './domain/groups.ts'
import { isInstant } from './domain/iso-8601.ts'
import { addKey } from './domain/keys.ts'
import { createPipeline } from './http/pipeline.ts'
import { createAccount, DEFAULT_SEED, establishedKey, loadFixture } from './seeding/fixture.ts'
import { deriveKey, hashKey, identityOf } from './seeding/secrets.ts'
import { openFolderStore } from './store/folder.ts'
import { openMemoryStore } from './store/memory.ts'
import type { Store } from './store/store.ts'
import { closeServer, createHttpServer, listen } from './wire/http-server.ts'
import { type Log, SILENT } from './wire/log.ts'
import { createMalformedReply } from './wire/malformed.ts'
import type { ResponseValidation } from './wire/reply.ts'

export interface ServerOptions {
  /** 0, the default, takes any free port. */
  port?: number | undefined
  /** 127.0.0.1 by default. */
  host?: string | undefined
  /** Folder that keeps the accounts; without it they live in memory. */
  data?: string | undefined
  /** A store of your own instead of the two; it is closed at the stop. */
  store?: Store | undefined
  /** `demo` (default), `empty`, the path of a fixture file or a fixture, for an account that does not exist yet. */
  fixture?: string | Fixture | undefined
  /** What all chance derives from; the fixture's or else 42 by default. */
  seed?: number | undefined
  /** RFC 3339 instant at which the clock of a new account starts; the fixture's or else the machine's by default. */
  now?: string | undefined
  /** Whether the clock of a new account stands still; false by default. */
  frozen?: boolean | undefined
  /** Key of the `default` account; without it, one that derives from the seed. */
  apiKey?: string | undefined
  /** Plan of a new account. */
  plan?: string | undefined
  /** Whether the control plane answers; true by default. */
  admin?: boolean | undefined
  /** Whether a request over its quota is refused; true by default. */
  enforceQuotas?: boolean | undefined
  /** Paths of OpenAPI Overlay files. */
  overlays?: readonly string[] | undefined
  /** What happens to a response that violates the contract; `error` by default. */
  responseValidation?: ResponseValidation | undefined
  log?: Log | undefined
  clock?: Clock | undefined
}

/** An option that cannot be, with what would be right. */
export class OptionError extends Error {
  override name = 'OptionError'
  readonly option: keyof ServerOptions
  readonly remedy: string

  constructor(option: keyof ServerOptions, value: unknown, remedy: string) {
    super(`${option} ${JSON.stringify(value)}: ${remedy}.`)
    this.option = option
    this.remedy = remedy
  }
}

/** A running stand-in. */
export interface Understudy {
  /** What a client takes as its base URL, version segment included. */
  baseUrl: string
  /** Where the control plane answers, if it does. */
  adminUrl: string | undefined
  /** Key of the `default` account; unknown when a kept account was made with a key of its own and none is given now. */
  apiKey: string | undefined
  /** Whether the `default` account was kept from before, so that options for new accounts did not apply. */
  kept: boolean
  contract: Contract
  /** Answers what is under way, saves, closes every connection. */
  stop(): Promise<void>
}

/** The account that serves a client who knows of no other. */
const DEFAULT_ACCOUNT = 'default'

/**
 * Composes contract, store and http into a listening server.
 * @throws OptionError, ContractError, FixtureError, StoreError, or the `EADDRINUSE` and the like of `listen`.
 */
export async function startUnderstudy(options: ServerOptions = {}): Promise<Understudy> {
  const { host = '127.0.0.1', port = 0, seed = DEFAULT_SEED, clock = systemClock, log = SILENT, admin = true } = options
  const contract = await loadContract({ overlays: await Promise.all((options.overlays ?? []).map(readOverlay)) })
  checkOptions(options, contract)
  const store = options.store ?? (await openStore(options.data, contract))
  try {
    const kept = await store.has(DEFAULT_ACCOUNT)
    const apiKey = await provideDefaultAccount(store, contract, clock, options)
    const service = createPipeline({
      contract,
      store,
      clock,
      seed,
      log,
      enforceQuotas: options.enforceQuotas ?? true,
      responseValidation: options.responseValidation ?? 'error',
    })
    const control = admin ? createAdmin() : undefined
    function dispatch(request: IncomingMessage, response: ServerResponse): void | Promise<void> {
      const { url = '' } = request
      const beside = url === ADMIN_PATH || url.startsWith(`${ADMIN_PATH}/`)
      return control !== undefined && beside ? control(request, response) : service(request, response)
    }
    const server = createHttpServer(dispatch, createMalformedReply(contract, seed, log))
    const origin = await listen(server, port, host)
    return {
      baseUrl: origin + contract.basePath,
      adminUrl: admin ? origin + ADMIN_PATH : undefined,
      apiKey,
      kept,
      contract,
      async stop() {
        await closeServer(server)
        await store.close()
      },
    }
  } catch (error) {
    await store.close()
    throw error
  }
}

function checkOptions({ plan, now, seed, apiKey }: ServerOptions, { settings }: Contract): void {
  const plans = settings.plans.order
  if (plan !== undefined && !plans.includes(plan))
    throw new OptionError('plan', plan, `must be one of ${plans.join(', ')}`)
  if (seed !== undefined && !(Number.isSafeInteger(seed) && seed >= 0)) {
    throw new OptionError('seed', seed, `must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`)
  }
  if (apiKey !== undefined && !/^[!-~]+$/.test(apiKey)) {
    throw new OptionError('apiKey', apiKey, 'must be visible ASCII characters without spaces')
  }
  if (now !== undefined && !isInstant(now))
    throw new OptionError('now', now, 'must be an instant such as 2026-01-15T09:00:00Z')
}

function openStore(data: string | undefined, { settings }: Contract): Promise<Store> {
  const compared = (name: string) => comparedName(name, settings.nameComparison)
  return data === undefined
    ? Promise.resolve(openMemoryStore())
    : openFolderStore(data, (record) => openAccount(record, compared))
}

/** Sees to it that the `default` account is there and has the key; returns the key where it is known. */
async function provideDefaultAccount(
  store: Store,
  contract: Contract,
  clock: Clock,
  options: ServerOptions,
): Promise<string | undefined> {
  const { apiKey, fixture = 'demo', ...birth } = options
  const id = DEFAULT_ACCOUNT
  const real = clock()
  if (!(await store.has(id))) {
    await store.create(createAccount(await loadFixture(fixture), { ...birth, apiKey, id, real }, contract))
  }
  const account = await store.read(id)
  const key = apiKey ?? deriveKey(account.seed, id)
  const known = account.keys.some(({ hash }) => hash === hashKey(key))
  if (known || apiKey === undefined) return known ? key : undefined
  const added = establishedKey(identityOf(apiKey), timeOn(account.clock, real))
  await store.update(id, (state) => accept(addKey(state, added), undefined))
  return apiKey
}
