import type { RedisClientOptions, RedisClientType } from '@redis/client'
import { elapsed } from '../ground/clock.ts'
import { clearTimeout, setImmediate, setTimeout } from '../ground/timers.ts'
import { Waiters } from '../ground/waiters.ts'
import { StoreError } from '../store/store-error.ts'
import { readLibrary } from './library.ts'
import { explainReply } from './reply-problem.ts'
import { type Awaited, ReplyWatch } from './reply-watch.ts'
import { StoreClock } from './store-clock.ts'

/** In milliseconds, how long a command may take, all waiting included. */
export const DEADLINE = 800
/** The same for a command of the control plane that copies or reads a whole, possibly large, account. */
export const LARGE_DEADLINE = 5_000
/** In milliseconds, the pauses before the next attempts to connect. */
const PAUSES = [20, 50, 100, 200, 350, 500]
/** In milliseconds, how long an attempt to connect may take. */
const CONNECTING = 1_000
/** The same for the first attempt, after which a start fails. The machine is busy if many processes start at once. */
const FIRST_CONNECTING = 3_000

/** The address of the server, and the user for the login. */
export interface StoreAddress {
  kind: 'tcp' | 'unix'
  /** For a server that listens on TCP. */
  host?: string | undefined
  port?: number | undefined
  tls?: boolean | undefined
  /** For a server that listens on a Unix socket. */
  path?: string | undefined
  username?: string | undefined
  password?: string | undefined
  database?: number | undefined
}

/** What the server answers: texts, whole numbers, nothing, or a list of them. */
export type RedisReply = string | number | null | readonly RedisReply[]

/** Whether the store can be reached. `reason` is a sentence without a full stop, for the operator of the service. */
export type ConnectionState = { isReady: true } | { isReady: false; reason: string }

export interface CommandOptions {
  /** Whether it may be sent again if the connection was lost. Default: only a script that changes nothing. */
  repeatable?: boolean
  /** Whether the command changes nothing. Such a command is repeatable, and its outcome is never `unknown`. */
  isReadOnly?: boolean
  /** In milliseconds, how long the command may take. A command that blocks needs a connection of its own. */
  deadline?: number
  /** Gives the arguments for another attempt, so that the command can detect that it was done already. */
  repeat?: (attempt: number) => readonly string[]
  /** Whether the command is sent also if the guard refuses others, see `guard`. */
  isUnguarded?: boolean
}

export interface ConnectionOptions {
  /** Shown in the server's list of connections. */
  name?: string
  /** The time of the clock before the first reply of the server, in milliseconds. */
  now: number
  /** The factor for all time limits. Default: 1. Tests use more on a slow machine. */
  patience?: (() => number) | undefined
}

/** Opens a connection that renews itself. @throws StoreError `unavailable` if the first attempt fails */
export async function openConnection(address: StoreAddress, options: ConnectionOptions): Promise<StoreConnection> {
  // Users with accounts in memory or in a folder do not wait for this package.
  const { createClient } = await import('@redis/client')
  const { name = 'dmarc-understudy', now, patience = () => 1 } = options
  const create = (each: string) =>
    createClient(clientOptions(address, each, 2 * FIRST_CONNECTING * patience())) as unknown as RedisClientType
  const shared = { create, patience, clock: new StoreClock(now), refuse: () => undefined }
  const connection = new StoreConnection(name, shared)
  const reason = await connection.firstAttempt
  if (reason === undefined) return connection
  connection.close()
  throw new StoreError('unavailable', reason)
}

function clientOptions(address: StoreAddress, name: string, connectTimeout: number): RedisClientOptions {
  const { kind, host = '127.0.0.1', port = 6379, path = '', tls = false, username, password, database } = address
  // The package would wait longer before each attempt. Here, each connection is used until it is lost. An attempt ends
  // before the package ends it, so that the message for a silent server is always the same.
  const common = { connectTimeout, reconnectStrategy: false as const }
  return {
    RESP: 2,
    name,
    socket: kind === 'unix' ? { ...common, path } : { ...common, host, port, ...(tls ? { tls: true as const } : {}) },
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(database !== undefined && { database }),
    disableOfflineQueue: true,
    // Each command has a deadline of its own here.
    commandOptions: { timeout: 0 },
    disableClientInfo: true,
    maintNotifications: 'disabled',
  } as unknown as RedisClientOptions
}

/** A command that is under way. */
interface Call extends Awaited {
  name: string
  isSafe: boolean
  /** How often it was sent. */
  sent: number
}

/** What the connections to one server share. */
interface SharedParts {
  create(name: string): RedisClientType
  patience(): number
  clock: StoreClock
  refuse(): StoreError | undefined
}

/** A connection to the store's server. It is replaced when it is lost. */
export class StoreConnection {
  readonly #name: string
  readonly #shared: SharedParts
  /** The problem of the first attempt to connect, if there was one. */
  readonly firstAttempt: Promise<string | undefined>
  readonly #listeners = new Set<(state: ConnectionState) => void>()
  readonly #watch = new ReplyWatch((deadline) => {
    if (this.#client !== undefined) this.#lose(this.#client, `The store has not answered within ${deadline} ms`)
  })
  /** The callers that wait for a connection. */
  readonly #waiting = new Waiters()
  #client: RedisClientType | undefined
  #state: ConnectionState = { isReady: false, reason: 'The store is not connected yet' }
  /** When the connection was lost. */
  #lostAt = elapsed()
  #isClosed = false
  #wasConnected = false
  #pause: NodeJS.Timeout | undefined

  constructor(name: string, shared: SharedParts) {
    this.#name = name
    this.#shared = shared
    this.firstAttempt = this.#connect(0)
  }

  /** The time of the server. */
  get clock(): StoreClock {
    return this.#shared.clock
  }

  /** The factor for all times that a caller may wait; see `ConnectionOptions`. */
  get patience(): number {
    return this.#shared.patience()
  }

  get state(): ConnectionState {
    return this.#state
  }

  /** Calls the listener at once, and for each loss or return of the connection. Returns a function that stops this. */
  listen(listener: (state: ConnectionState) => void): () => void {
    this.#listeners.add(listener)
    listener(this.#state)
    return () => this.#listeners.delete(listener)
  }

  /** Another connection to the same server, for commands that block. */
  duplicate(): StoreConnection {
    return new StoreConnection(`${this.#name}-tail`, this.#shared)
  }

  /** From now on, commands reject with what `refuse` returns, if it returns an error. Duplicates do the same. */
  guard(refuse: () => StoreError | undefined): void {
    this.#shared.refuse = refuse
  }

  /**
   * Calls a function of the library on the keys that begin with `base`. Rejects with a
   * `StoreError`: `unavailable` if nothing was done, `unknown` if it was sent and got no reply, `full` if the server has no
   * memory left. A server that does not know the library, because it is new or its functions were removed, gets it.
   */
  async call(name: string, base: string, args: readonly string[], options: CommandOptions = {}): Promise<RedisReply> {
    const { repeat } = options
    const library = readLibrary()
    const { isReadOnly = library.functions.get(name)?.isReadOnly === true } = options
    const { repeatable = isReadOnly || repeat !== undefined } = options
    const call = this.#begin(name, isReadOnly, options)
    const called = library.nameOf(name)
    const write = (attempt: number) => [
      ...['FCALL', called, '1', base],
      ...(attempt > 1 && repeat !== undefined ? repeat(attempt) : args),
    ]
    return this.#call(call, write, { isReadOnly, repeatable })
  }

  /** The same for one command, as a list of words. */
  async send(command: readonly string[], options: CommandOptions = {}): Promise<RedisReply> {
    const { repeat, isReadOnly = false } = options
    const call = this.#begin(command[0] ?? '', isReadOnly, options)
    return this.#call(call, (attempt) => (attempt > 1 && repeat ? repeat(attempt) : command), options)
  }

  /** Closes the connection. Commands without a reply become `unknown`. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#pause)
    const client = this.#client
    this.#client = undefined
    client?.destroy()
    this.#watch.close()
    this.#waiting.wake()
  }

  #begin(name: string, isSafe: boolean, { deadline: usual = DEADLINE, isUnguarded = false }: CommandOptions): Call {
    const refusal = isUnguarded ? undefined : this.#shared.refuse()
    if (refusal !== undefined) throw refusal
    const deadline = usual * this.patience
    return { name, isSafe, deadline, isLong: usual > DEADLINE, until: elapsed() + deadline, sent: 0 }
  }

  /** Sends a command until there is a reply. */
  async #call(
    call: Call,
    write: (attempt: number) => readonly string[],
    { isReadOnly = false, repeatable = isReadOnly }: CommandOptions,
  ): Promise<RedisReply> {
    for (;;) {
      const client = this.#client ?? (await this.#waitUntil(call))
      if (client === undefined) throw this.#giveUp(call)
      call.sent++
      try {
        return await this.#reply(client, write(call.sent), call)
      } catch (error) {
        if (error instanceof Error && isReply(error)) {
          if (isUnknownFunction(error)) {
            call.sent--
            await this.#load(client, call)
            continue
          }
          throw this.#explain(client, error, call)
        }
        // A client that is not connected any more has sent nothing.
        if (error instanceof Error && /The client is (offline|closed)/.test(error.message)) call.sent--
        else if (!repeatable) throw this.#giveUp(call)
        this.#lose(client, 'The connection to the store was lost')
      }
    }
  }

  /** Rejects if there is no reply in time. Then the connection may be dead, and is replaced. */
  async #reply(client: RedisClientType, words: readonly string[], call: Call): Promise<RedisReply> {
    this.#watch.add(call)
    try {
      return (await client.sendCommand(words as string[])) as unknown as RedisReply
    } finally {
      this.#watch.remove(call)
    }
  }

  /** Gives the library to a server that does not have it. A lost connection shows at the next attempt of the caller. */
  async #load(client: RedisClientType, call: Call): Promise<void> {
    try {
      await this.#reply(client, ['FUNCTION', 'LOAD', 'REPLACE', readLibrary().text], call)
    } catch (error) {
      if (error instanceof Error && isReply(error)) {
        // The attempts before it may have been done.
        const explained = this.#explain(client, error, { ...call, sent: call.sent + 1 })
        // Without its functions, a server that has no memory for them can do nothing, not even reads.
        if (!(explained instanceof StoreError && explained.isOutOfMemory)) throw explained
        throw Object.assign(new StoreError('unavailable', explained.message), { reported: true })
      }
      this.#lose(client, 'The connection to the store was lost')
    }
  }

  /** The client, as soon as there is one; `undefined` if that takes too long. */
  async #waitUntil({ until }: Call): Promise<RedisClientType | undefined> {
    // If the store is away for long, callers do not wait for it.
    const since = this.#lostAt + DEADLINE * this.patience
    // Before the first connection, the store is not counted as lost. Then only the deadline of the caller counts.
    const left = (this.#wasConnected ? Math.min(until, since) : until) - elapsed()
    if (!this.#isClosed && left > 0) await this.#waiting.wait(left)
    return this.#client
  }

  #giveUp({ name, isSafe, sent }: Call): StoreError {
    const reason = this.#state.isReady ? 'The store has not answered' : this.#state.reason
    if (this.#isClosed && sent === 0) return new StoreError('closed', 'The store is closed')
    if (sent > 0 && !isSafe) return this.#unknown(name, reason)
    return Object.assign(new StoreError('unavailable', reason), { reported: true })
  }

  #explain(client: RedisClientType, error: Error, { name, isSafe, sent }: Call): Error {
    const explained = explainReply(error.message)
    if (explained?.isOfConnection === true) this.#lose(client, explained.error.message)
    if (explained === undefined || isSafe || sent <= 1) return explained?.error ?? error
    // The server refuses this attempt, but may have done an earlier one, whose reply was lost.
    return this.#unknown(name, explained.error.message)
  }

  #unknown(name: string, reason: string): StoreError {
    const error = new StoreError('unknown', `${reason}; whether it has done "${name}" is unknown`)
    // Each change of the connection's state is logged, but not each request that fails because of it.
    return Object.assign(error, { reported: true })
  }

  /** Replaces an unusable connection. */
  #lose(client: RedisClientType, reason: string): void {
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
    // One log line for each change: a second reason for the same outage is not a change.
    if (isReady !== state.isReady) for (const listener of this.#listeners) listener(state)
  }

  /** Tries to connect until it succeeds. Resolves after the first attempt, to the problem of that attempt. */
  async #connect(attempt: number): Promise<string | undefined> {
    const client = this.#shared.create(this.#name)
    try {
      await this.#greet(client)
    } catch (error) {
      client.destroy()
      if (this.#isClosed) return 'The store is closed'
      const reason = explainFailure(error)
      this.#tell({ isReady: false, reason })
      const pause = PAUSES[Math.min(attempt, PAUSES.length - 1)]
      this.#pause = setTimeout(() => void this.#connect(attempt + 1), pause)
      return reason
    }
    if (this.#isClosed) {
      client.destroy()
      return 'The store is closed'
    }
    this.#client = client
    this.#tell({ isReady: true })
    this.#waiting.wake()
    return undefined
  }

  /** Connects, and asks for the time: a stopped server accepts connections, but does not reply. */
  async #greet(client: RedisClientType): Promise<void> {
    // Without a listener, an error would end the process. The failing commands report the problem.
    client.on('error', () => this.#lose(client, 'The connection to the store was lost'))
    const limit = (this.#wasConnected ? CONNECTING : FIRST_CONNECTING) * this.patience
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      const giveUp = () => reject(new Error(`it has not answered within ${limit} ms`))
      timer = setTimeout(() => setImmediate(giveUp), limit)
    })
    const greeting = async () => {
      await client.connect()
      const asked = elapsed()
      // The start describes a replica in more detail. Later, the address may still lead to a server that was replaced by
      // another one, and has become a replica with old data.
      const role = this.#wasConnected ? client.sendCommand<string>(['INFO', 'replication']) : ''
      const [[seconds, micros], text] = await Promise.all([client.sendCommand<[string, string]>(['TIME']), role])
      if (/^role:slave\r?$/m.test(text)) throw explainReply('READONLY')?.error
      this.clock.see(Number(seconds) * 1_000_000 + Number(micros))
      this.clock.learn(Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000), asked)
    }
    try {
      await Promise.race([greeting(), late])
    } finally {
      clearTimeout(timer)
    }
    this.#wasConnected = true
  }
}

/** Whether the server has sent this error. */
function isReply(error: Error): boolean {
  const { name } = error.constructor
  return name === 'SimpleError' || name === 'BlobError'
}

/** Whether the server does not have the library. It has done nothing then. */
function isUnknownFunction(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('ERR Function not found')
}

/** Why no connection could be opened. */
function explainFailure(error: unknown): string {
  if (!(error instanceof Error)) return 'The store cannot be reached'
  if (error instanceof StoreError) return error.message
  if (isReply(error)) return explainReply(error.message)?.error.message ?? `The store answers "${error.message}"`
  const { code, errors } = error as Error & { code?: string; errors?: readonly Error[] }
  // A hostname with several addresses gives one error for each of them.
  const detail = error.message || (errors ?? []).map(({ message }) => message).join(', ') || code || error.name
  return `The store cannot be reached: ${detail}`
}
