import type { Plan } from '../contract/names.ts'
import type { Fixture } from '../domain/fixture.ts'
import type { Clock } from '../ground/clock.ts'
import type { Log } from '../ground/log.ts'

/** The options of a server. Each of them may be left out. */
export interface ServerOptions {
  /** Port to listen on; 0 takes any free port. Default: 0. */
  port?: number | undefined
  /** Address to listen on. Default: 127.0.0.1. */
  host?: string | undefined
  /** Folder that keeps the accounts, one JSON file each. Default: accounts are kept in memory. */
  data?: string | undefined
  /**
   * Failure that a change in the data folder survives: the end of the process (rename), or also a power cut (fsync).
   * Default: rename.
   */
  durability?: 'rename' | 'fsync' | undefined
  /**
   * Redis or Valkey that any number of servers share, such as redis://127.0.0.1:6379. Default: accounts are kept in
   * memory.
   */
  store?: string | undefined
  /** Beginning of every key in the store. Servers with different prefixes share nothing. Default: dmarc-understudy. */
  storePrefix?: string | undefined
  /**
   * Content of a new account: demo, empty, edge-cases, agency, the path of a fixture file, or a fixture. Default: demo.
   */
  fixture?: string | Fixture | undefined
  /** Number from which everything random is derived. Default: the fixture's, else 42. */
  seed?: number | undefined
  /**
   * Instant at which the clock of a new account starts, such as 2026-01-15T09:00:00Z. Default: the fixture's, else the
   * current time.
   */
  now?: string | undefined
  /** Stop the clock of a new account at its start. Default: as the fixture says, else the clock runs. */
  frozen?: boolean | undefined
  /** API key of the default account. Default: derived from the seed on a loopback address, else random. */
  apiKey?: string | undefined
  /** Plan of a new account. Default: the fixture's, else the lowest plan with access. */
  plan?: Plan | (string & {}) | undefined
  /** Fault rules of every new account: flaky, quota-storm, lossy-writes, slow, or a file of fault sets. */
  faults?: readonly string[] | undefined
  /** Token that the control plane asks for. It is required on any address but a loopback address. */
  adminToken?: string | undefined
  /**
   * Maximum number of accounts. To make room, the sandbox is deleted that was idle for longest. Default: 10000.
   */
  maxAccounts?: number | undefined
  /** Number of requests of each account in the journal; 0 for none. Default: 1000. */
  journal?: number | undefined
  /**
   * Open a new account for each key that begins with sandbox_, on its first use. Default: only on a loopback address.
   */
  sandboxKeys?: boolean | undefined
  /** Obey the request header Prefer, such as code=rate_limited, delay=500. Default: true. */
  prefer?: boolean | undefined
  /** Let domains under understudy.test behave as their names say. Default: true. */
  simulator?: boolean | undefined
  /** Serve the control plane. Default: true. */
  admin?: boolean | undefined
  /**
   * Origins whose pages may use the service from a browser; * stands for any. The control plane stays closed to them.
   */
  cors?: readonly string[] | undefined
  /** Refuse a request that is over its quota. Default: true. */
  enforceQuotas?: boolean | undefined
  /** Paths of OpenAPI Overlays, which change assumptions. The command assumptions lists all assumptions. */
  overlays?: readonly string[] | undefined
  /**
   * A response that violates the contract becomes a 500 (error), is logged (warn), or is sent unchanged (off). Default:
   * error.
   */
  responseValidation?: 'error' | 'warn' | 'off' | undefined
  /** Listen on a port. Without one, the service is reached by its method fetch. Default: true. */
  listen?: boolean | undefined
  /** Logger of requests and problems; those of pino fit. Default: nothing is logged. */
  log?: Log | undefined
  /**
   * Clock that the clocks of all accounts follow, in milliseconds since the Unix epoch. Default: the machine's clock.
   */
  clock?: Clock | undefined
  /** Signal that stops the server when it is aborted. A start that is under way then rejects with its reason. */
  signal?: AbortSignal | undefined
}

/** The options of `createTest` and of `shareUnderstudy`: those of the stand-in, and those of the tests. */
export interface TestOptions extends ServerOptions {
  /**
   * A test fails if it violates the contract: if it sends a request that is refused whatever the account holds.
   * Default: false.
   */
  failOnViolation?: boolean | undefined
}
