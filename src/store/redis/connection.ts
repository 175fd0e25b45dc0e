import { givenFields } from '../../domain/given-fields.ts'
import { clearTimeout, elapsed, pause, setTimeout, Waiters } from '../../ground/timers.ts'
import { StoreError } from '../store-error.ts'
import { SCRIPTS, type ScriptName } from './scripts.ts'

/** The address of the server, and the user for the login. */
export interface StoreAddress {
  host: string
  port: number
  tls?: boolean | undefined
  username?: string | undefined
  password?: string | undefined
  database?: number | undefined
}

/** What is used of the client of `@redis/client`. */
interface RedisClient extends Record<ScriptName, (prefix: string, args: readonly string[]) => Promise<unknown>> {
  connect(): Promise<unknown>
  destroy(): void
  on(event: 'error', listener: (error: Error) => void): unknown
  sendCommand(words: readonly string[]): Promise<unknown>
}

/** In milliseconds, how long a command may take, all waiting included. */
const DEADLINE = 800
/** In milliseconds, the pauses before the next attempts to connect. */
const PAUSES = [20, 50, 100, 200, 350, 500]
/** In milliseconds, how long an attempt to connect may take. */
const CONNECTING = 1_500
/** In milliseconds, the most that a reply about the time may take. */
const LATE = 100
const LOST = 'The connection to the store was lost'

/** What the server answers: texts, whole numbers, nothing, or a list of them. */
export type RedisReply = string | number | null | readonly RedisReply[]

/** Whether the store can be reached. `reason` is a sentence without a full stop, for the operator of the service. */
export type ConnectionState = { isReady: true } | { isReady: false; reason: string }

export interface CommandOptions {
  /** Whether the command may be sent again if its reply was lost. Then its outcome is never `unknown`. */
  isRepeatable?: boolean
  /** In milliseconds, how long the command may take. */
  deadline?: number
}

export interface ConnectionOptions {
  /** Shown in the server's list of connections. */
  name?: string
  /** The factor for all time limits. Default: 1. Tests use more on a slow machine. */
  patience?: (() => number) | undefined
}

/** Opens a connection that renews itself. @throws StoreError `unavailable` if the first attempt fails */
export async function openConnection(address: StoreAddress, options: ConnectionOptions): Promise<StoreConnection> {
  const { name = 'dmarc-understudy', patience = () => 1 } = options
  const create = await prepareClients(address)
  const connection = new StoreConnection(() => create(name), patience)
  const reason = await connection.firstAttempt
  if (reason === undefined) return connection
  connection.close()
  throw new StoreError('unavailable', reason)
}

/** How clients are made for an address. Users with accounts in memory or in a folder do not wait for the package. */
async function prepareClients(address: StoreAddress): Promise<(name: string) => RedisClient> {
  const { createClient, defineScript } = await import('@redis/client')
  const define = (SCRIPT: string) =>
    defineScript({
      SCRIPT,
      NUMBER_OF_KEYS: 1,
      parseCommand(parser, prefix: string, args: readonly string[]) {
        parser.pushKey(prefix)
        parser.pushVariadic([...args])
      },
      transformReply: undefined as unknown as () => unknown,
    })
  const scripts = Object.fromEntries(Object.entries(SCRIPTS).map(([name, text]) => [name, define(text)]))
  const { host, port, tls, ...login } = address
  // A connection here is used until it is lost, and then replaced. The package would write again what waits in it.
  const socket = { host, port, tls, connectTimeout: 60_000, reconnectStrategy: false }
  const common = { RESP: 2, socket, scripts, disableOfflineQueue: true, disableClientInfo: true }
  return (name) => createClient({ ...common, ...givenFields(login), name } as never) as unknown as RedisClient
}

/** A connection to the store's server. It is replaced when it is lost. */
export class StoreConnection {
  readonly #create: () => RedisClient
  readonly #patience: () => number
  /** The problem of the first attempt to connect, if there was one. */
  readonly firstAttempt: Promise<string | undefined>
  readonly #listeners = new Set<(state: ConnectionState) => void>()
  /** The callers that wait for a connection. */
  readonly #waiting = new Waiters()
  #client: RedisClient | undefined
  #state: ConnectionState = { isReady: false, reason: 'The store is not connected yet' }
  #lostAt = elapsed()
  /** The difference between the time of the server and `elapsed`, in milliseconds. */
  #offset = 0
  #latest = 0
  #isClosed = false
  #pause: NodeJS.Timeout | undefined

  constructor(create: () => RedisClient, patience: () => number) {
    this.#create = create
    this.#patience = patience
    this.firstAttempt = this.#connect(0)
  }

  /** The time of the server in milliseconds since the Unix epoch, by its last reply about it. It never goes back. */
  now(): number {
    this.#latest = Math.max(this.#latest, Math.floor(elapsed() + this.#offset))
    return this.#latest
  }

  /** The factor for all times that a caller may wait; see `ConnectionOptions`. */
  get patience(): number {
    return this.#patience()
  }

  /** Calls the listener for each loss and each return of the connection. Returns a function that stops this. */
  listen(listener: (state: ConnectionState) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Runs a script on the keys that begin with the prefix. Rejects with a `StoreError`: `unavailable` if nothing was
   * done, `unknown` if it was sent and got no reply, `out-of-memory` if the server has no memory left.
   */
  run(script: ScriptName, prefix: string, args: readonly string[], options: CommandOptions = {}): Promise<RedisReply> {
    return this.#call((client) => client[script](prefix, args), script, options)
  }

  /** The same for one command, as a list of words. */
  send(command: readonly string[], options: CommandOptions = {}): Promise<RedisReply> {
    return this.#call((client) => client.sendCommand(command), command[0] ?? '', options)
  }

  /** Asks for the time of the server, and corrects the clock. */
  askTime(): Promise<void> {
    return this.#learnTime(this.send(['TIME'], { isRepeatable: true }))
  }

  /** Closes the connection. Commands without a reply become `unknown`. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#pause)
    const client = this.#client
    this.#client = undefined
    client?.destroy()
    this.#waiting.wake()
  }

  async #call(
    act: (client: RedisClient) => Promise<unknown>,
    what: string,
    { isRepeatable = false, deadline = DEADLINE }: CommandOptions,
  ): Promise<RedisReply> {
    const limit = deadline * this.patience
    const until = elapsed() + limit
    for (;;) {
      const client = this.#client ?? (await this.#waitUntil(until))
      if (client === undefined) throw this.#giveUp()
      const late = () => this.#lose(client, `The store has not answered within ${limit} ms`)
      const timer = setTimeout(late, Math.max(0, until - elapsed()))
      try {
        return (await act(client)) as RedisReply
      } catch (error) {
        if (isReply(error)) throw this.#explain(client, error)
        this.#lose(client, LOST)
        // A client that is not connected any more has sent nothing.
        const isUnsent = error instanceof Error && /The client is (offline|closed)/.test(error.message)
        if (!isUnsent && !isRepeatable) {
          const { reason } = this.#state as { reason?: string }
          throw reported(new StoreError('unknown', `${reason ?? LOST}; whether it has done "${what}" is unknown`))
        }
      } finally {
        clearTimeout(timer)
      }
    }
  }

  /** The client, as soon as there is one; `undefined` if that takes too long. */
  async #waitUntil(until: number): Promise<RedisClient | undefined> {
    // If the store is away for long, callers do not wait for it.
    const since = this.#lostAt + DEADLINE * this.patience
    const left = Math.min(until, since) - elapsed()
    if (!this.#isClosed && left > 0) await this.#waiting.wait(left)
    return this.#client
  }

  #giveUp(): StoreError {
    if (this.#isClosed) return new StoreError('closed', 'The store is closed')
    return reported(new StoreError('unavailable', this.#state.isReady ? LOST : this.#state.reason))
  }

  /** The meaning of an error of the server, after which nothing was done. Without a code, it is a bug. */
  #explain(client: RedisClient, error: Error): Error {
    const code = /^[A-Z]+/.exec(error.message)?.[0] ?? 'ERR'
    if (code === 'OOM') {
      const reason = 'The store has no memory left: it holds as much as its setting maxmemory permits; raise it'
      return new StoreError('out-of-memory', `${reason}, or delete accounts (${error.message})`)
    }
    if (code === 'ERR' || code === 'WRONGTYPE') return error
    const reason = `The store refuses commands (${error.message})`
    // Another connection may lead to a server that accepts changes.
    if (code === 'READONLY' || code === 'MASTERDOWN' || code === 'UNBLOCKED') this.#lose(client, REPLICA)
    return reported(new StoreError('unavailable', code === 'READONLY' ? REPLICA : reason))
  }

  /** Replaces an unusable connection. */
  #lose(client: RedisClient, reason: string): void {
    if (this.#client !== client) return
    this.#client = undefined
    this.#lostAt = elapsed()
    this.#tell({ isReady: false, reason })
    client.destroy()
    if (!this.#isClosed) void this.#connect(0)
  }

  #tell(state: ConnectionState): void {
    const { isReady } = this.#state
    this.#state = state
    if (isReady !== state.isReady) for (const listener of this.#listeners) listener(state)
  }

  /** Tries to connect until it succeeds. Resolves after the first attempt, to the problem of that attempt. */
  async #connect(attempt: number): Promise<string | undefined> {
    const client = this.#create()
    // Without a listener, an error would end the process. The failing commands report the problem.
    client.on('error', () => this.#lose(client, LOST))
    const limit = CONNECTING * this.patience
    const late = pause(limit, undefined, { ref: false }).then(() => {
      throw new Error(`it has not answered within ${limit} ms`)
    })
    try {
      await Promise.race([this.#greet(client), late])
    } catch (error) {
      client.destroy()
      const reason = explainFailure(error)
      if (this.#isClosed) return reason
      this.#tell({ isReady: false, reason })
      const next = PAUSES[Math.min(attempt, PAUSES.length - 1)]
      this.#pause = setTimeout(() => void this.#connect(attempt + 1), next)
      return reason
    }
    if (this.#isClosed) {
      client.destroy()
      return undefined
    }
    this.#client = client
    this.#tell({ isReady: true })
    this.#waiting.wake()
    return undefined
  }

  /** Connects, and asks for the time: a stopped server accepts connections, but does not reply. */
  async #greet(client: RedisClient): Promise<void> {
    await client.connect()
    await this.#learnTime(client.sendCommand(['TIME']))
    const role = await client.sendCommand(['INFO', 'replication'])
    if (/^role:slave\r?$/m.test(`${role}`)) throw new StoreError('unavailable', REPLICA)
  }

  async #learnTime(reply: Promise<unknown>): Promise<void> {
    const asked = elapsed()
    const [seconds, micros] = (await reply) as [string, string]
    const came = elapsed()
    // A late reply says little, and the next one comes soon.
    if (this.#offset !== 0 && came - asked > LATE) return
    this.#offset = Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000) - (came + asked) / 2
  }
}

const REPLICA = 'The store refuses changes, because its server is a read-only replica of another one'

/** Each change of the connection's state is logged, but not each request that fails because of it. */
function reported(error: StoreError): StoreError {
  return Object.assign(error, { reported: true })
}

/** Whether the server has sent this error. */
function isReply(error: unknown): error is Error & { isReply?: true } {
  const name = error instanceof Error ? error.constructor.name : ''
  return name === 'SimpleError' || name === 'BlobError' || name === 'ErrorReply'
}

/** Why no connection could be opened. */
function explainFailure(error: unknown): string {
  if (!(error instanceof Error)) return 'The store cannot be reached'
  if (error instanceof StoreError) return error.message
  if (isReply(error)) return `The store refuses the connection (${error.message})`
  const { code, errors } = error as Error & { code?: string; errors?: readonly Error[] }
  // A hostname with several addresses gives one error for each of them.
  const detail = error.message || (errors ?? []).map(({ message }) => message).join(', ') || code || error.name
  return `The store cannot be reached: ${detail}`
}
