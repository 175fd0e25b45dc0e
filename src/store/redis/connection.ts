import type { RedisClientOptions, RedisClientType } from '@redis/client'
import { elapsed } from '../../ground/clock.ts'
import type { Script } from '../script.ts'
import { StoreError } from '../store-error.ts'
import { StoreFigures } from './figures.ts'
import { explainReply } from './reply-problem.ts'
import { StoreClock } from './store-clock.ts'

/** In milliseconds, how long a command may take with everything that it waits for. */
export const DEADLINE = 800
/** The same for a command of the control plane that copies or reads a whole account, which may be large. */
export const LARGE_DEADLINE = 5_000
/** In milliseconds, how late a timer is where the process was busy, and how long a reply is awaited then. */
const [BUSY, GRACE] = [25, 100]
/** How often that is done while the process stays busy. */
const MAX_GRACES = 5
/** In milliseconds, how long to wait before the next attempt to connect: longer each time. */
const PAUSES = [20, 50, 100, 200, 350, 500]
/** In milliseconds, how long an attempt to connect may take. */
export const CONNECTING = 1_000

/** Where the server listens, and as whom to log in. */
export interface StoreAddress {
  kind: 'tcp' | 'unix'
  /** Of a server that listens on TCP. */
  host?: string | undefined
  port?: number | undefined
  tls?: boolean | undefined
  /** Of a server that listens on a Unix socket. */
  path?: string | undefined
  username?: string | undefined
  password?: string | undefined
  database?: number | undefined
}

/** What the server answers: texts, whole numbers, nothing, or a list of them. */
export type Reply = string | number | null | readonly Reply[]

/** Whether the store can be reached; `reason` is a sentence without a full stop, for the person who runs the service. */
export type ConnectionState = { isReady: true } | { isReady: false; reason: string }

export interface CommandOptions {
  /**
   * Whether the command may be sent again when the connection was lost before its reply. By default only a script that
   * changes nothing is.
   */
  repeatable?: boolean
  /** Whether a command changes nothing. Then it is repeatable, and never `unknown`. */
  isReadOnly?: boolean
  /**
   * In milliseconds, how long the command may take; 800 by default. A command that blocks on the server needs longer, and
   * a connection of its own.
   */
  deadline?: number
  /** Whether the server may wait before it answers, so that the time until then is no latency. */
  blocks?: boolean
  /** Gives other arguments when the command is sent again, so that it can look for what was done already. */
  repeat?: (attempt: number) => readonly string[]
}

/** What the parts of the program use of the store's server. */
export interface StoreConnection {
  /**
   * Runs a script as one atomic step. Rejects with a `StoreError`: `unavailable` when nothing was done, `unknown` when it
   * was sent and got no reply, `full` when the server has no memory left.
   */
  run(script: Script, keys: readonly string[], args: readonly string[], options?: CommandOptions): Promise<Reply>
  /** The same for one command, as a list of words. */
  send(command: readonly string[], options?: CommandOptions): Promise<Reply>
  /** Another connection to the same server, for commands that block. It counts in the same figures. */
  duplicate(): StoreConnection
  readonly state: ConnectionState
  /** Is told at once, and each time when the connection is lost or there again. Returns a function that ends that. */
  listen(listener: (state: ConnectionState) => void): () => void
  /** The time of the server. */
  readonly clock: StoreClock
  readonly figures: StoreFigures
  /** Commands without a reply become `unknown`. */
  close(): void
}

export interface ConnectionOptions {
  /** Shown to whoever lists the connections of the server. */
  name?: string
  /** The time that the clock shows before the server has told its own, in milliseconds. */
  now: number
}

/**
 * Opens a connection, and answers once it is there. It opens itself again for as long as it is not closed.
 * @throws StoreError `unavailable` when the first attempt fails.
 */
export async function openConnection(address: StoreAddress, options: ConnectionOptions): Promise<StoreConnection> {
  // Whoever keeps accounts in memory or in a folder does not wait for this package.
  const { createClient } = await import('@redis/client')
  const create = (name: string) => createClient(clientOptions(address, name)) as unknown as RedisClientType
  const { name = 'dmarc-understudy', now } = options
  const connection = new Connection(create, name, new StoreFigures(), new StoreClock(now))
  const reason = await connection.firstAttempt
  if (reason === undefined) return connection
  connection.close()
  throw new StoreError('unavailable', reason)
}

function clientOptions(address: StoreAddress, name: string): RedisClientOptions {
  const { kind, host = '127.0.0.1', port = 6379, path = '', tls = false, username, password, database } = address
  // The package would wait for longer and longer. Here, each connection is used until it is lost.
  const common = { connectTimeout: CONNECTING, reconnectStrategy: false as const }
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
interface Call {
  name: string
  isSafe: boolean
  /** In milliseconds. */
  deadline: number
  until: number
  /** How often it was sent. */
  sent: number
}

class Connection implements StoreConnection {
  readonly clock: StoreClock
  readonly figures: StoreFigures
  /** What was wrong with the first attempt to connect, if something was. */
  readonly firstAttempt: Promise<string | undefined>
  readonly #create: (name: string) => RedisClientType
  readonly #name: string
  readonly #listeners = new Set<(state: ConnectionState) => void>()
  /** Commands under way that may take longer than others. */
  readonly #long = new Set<Call>()
  /** Those who wait for a connection. */
  readonly #waiting = new Set<() => void>()
  #client: RedisClientType | undefined
  #state: ConnectionState = { isReady: false, reason: 'The store is not connected yet' }
  /** When the connection was lost. */
  #lostAt = elapsed()
  #isClosed = false
  #wasConnected = false
  #pause: NodeJS.Timeout | undefined

  constructor(create: (name: string) => RedisClientType, name: string, figures: StoreFigures, clock: StoreClock) {
    this.#create = create
    this.#name = name
    this.figures = figures
    this.clock = clock
    this.firstAttempt = this.#connect(0)
  }

  get state(): ConnectionState {
    return this.#state
  }

  listen(listener: (state: ConnectionState) => void): () => void {
    this.#listeners.add(listener)
    listener(this.#state)
    return () => this.#listeners.delete(listener)
  }

  duplicate(): StoreConnection {
    return new Connection(this.#create, `${this.#name}-tail`, this.figures, this.clock)
  }

  async run(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
    options: CommandOptions = {},
  ): Promise<Reply> {
    const { repeat, deadline = DEADLINE } = options
    const write = (program: readonly string[], attempt: number) => [
      ...program,
      String(keys.length),
      ...keys,
      ...(attempt > 1 && repeat !== undefined ? repeat(attempt) : args),
    ]
    const until = elapsed() + deadline
    const call: Call = { name: script.name, isSafe: script.isReadOnly, deadline, until, sent: 0 }
    const given = { ...options, repeatable: options.repeatable ?? (script.isReadOnly || repeat !== undefined) }
    try {
      return await this.#call(call, (attempt) => write(['EVALSHA', script.digest], attempt), given)
    } catch (error) {
      // Another server, or one that was restarted, does not know the script yet.
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
      return this.#call(call, (attempt) => write(['EVAL', script.text], attempt), given)
    }
  }

  send(command: readonly string[], options: CommandOptions = {}): Promise<Reply> {
    const { deadline = DEADLINE, repeat, isReadOnly = false } = options
    const call: Call = { name: command[0] ?? '', isSafe: isReadOnly, deadline, until: elapsed() + deadline, sent: 0 }
    return this.#call(call, (attempt) => (attempt > 1 && repeat ? repeat(attempt) : command), options)
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#pause)
    const client = this.#client
    this.#client = undefined
    client?.destroy()
    this.#wake()
  }

  /** Sends a command until there is a reply. */
  async #call(
    call: Call,
    write: (attempt: number) => readonly string[],
    { isReadOnly = false, repeatable = isReadOnly, blocks = false }: CommandOptions,
  ): Promise<Reply> {
    for (;;) {
      const client = this.#client ?? (await this.#waitUntil(call))
      if (client === undefined) throw this.#giveUp(call)
      call.sent++
      if (call.sent > 1) this.figures.retries++
      const sentAt = elapsed()
      try {
        const reply = await this.#reply(client, write(call.sent), call)
        if (!blocks) this.figures.noteReply(elapsed() - sentAt)
        return reply
      } catch (error) {
        if (error instanceof Error && isReply(error)) {
          this.figures.noteReply(elapsed() - sentAt)
          if (error.message.startsWith('NOSCRIPT')) call.sent--
          throw this.#explain(client, error)
        }
        // A client that is no longer connected has sent nothing.
        if (error instanceof Error && /The client is (offline|closed)/.test(error.message)) call.sent--
        else if (!repeatable) throw this.#giveUp(call)
        this.#lose(client, 'The connection to the store was lost')
      }
    }
  }

  /** Rejects when there is no reply in time: then the connection is perhaps dead, and is replaced. */
  #reply(client: RedisClientType, words: readonly string[], call: Call): Promise<Reply> {
    const { until, deadline } = call
    if (deadline > DEADLINE) this.#long.add(call)
    const reply = client.sendCommand(words as string[]) as unknown as Promise<Reply>
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout
      let [due, graces] = [until, 0]
      const expire = () => {
        // Replies come in order, so this one waits for those of commands that may take longer.
        const last = Math.max(until, ...[...this.#long].map((each) => each.until))
        if (last > elapsed()) {
          due = last
          timer = setTimeout(expire, last - elapsed())
          return
        }
        // A process that was busy itself has perhaps not yet sent the command, or not read a reply that is there.
        if (elapsed() - due > BUSY && graces++ < MAX_GRACES) {
          due = elapsed() + GRACE
          timer = setTimeout(expire, GRACE)
        } else this.#lose(client, `The store has not answered within ${deadline} ms`)
      }
      timer = setTimeout(expire, Math.max(1, until - elapsed()))
      reply.then(resolve, reject).finally(() => {
        clearTimeout(timer)
        this.#long.delete(call)
      })
    })
  }

  /** The client, as soon as there is one; `undefined` when that takes too long. */
  #waitUntil({ until }: Call): Promise<RedisClientType | undefined> {
    // While the store is away for long, nobody waits for it.
    const patience = Math.min(until, this.#lostAt + DEADLINE) - elapsed()
    if (this.#isClosed || patience <= 0) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        this.#waiting.delete(end)
        resolve(this.#client)
      }
      const timer = setTimeout(end, patience)
      this.#waiting.add(end)
    })
  }

  #wake(): void {
    for (const each of [...this.#waiting]) each()
  }

  #giveUp({ name, isSafe, sent }: Call): StoreError {
    const reason = this.#state.isReady ? 'The store has not answered' : this.#state.reason
    if (this.#isClosed && sent === 0) return new StoreError('closed', 'The store is closed')
    const isUnknown = sent > 0 && !isSafe
    if (isUnknown) this.figures.unknowns++
    else this.figures.unavailable++
    const error = isUnknown
      ? new StoreError('unknown', `${reason}; whether it has done "${name}" is unknown`)
      : new StoreError('unavailable', reason)
    // Each change of the connection's state is logged, and not each request that feels it.
    error.reported = true
    return error
  }

  #explain(client: RedisClientType, error: Error): Error {
    const explained = explainReply(error.message)
    if (explained?.isOfConnection === true) this.#lose(client, explained.error.message)
    return explained?.error ?? error
  }

  /** Replaces a connection that cannot be used. */
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
    // One line for each change: the next reason of the same trouble is none.
    if (isReady !== state.isReady) for (const listener of this.#listeners) listener(state)
  }

  /** Tries to connect until that succeeds. Resolves after the first attempt to what was wrong with it. */
  async #connect(attempt: number): Promise<string | undefined> {
    const client = this.#create(this.#name)
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
    this.#wake()
    return undefined
  }

  /** Connects, and asks for the time: a server that is stopped accepts connections, and answers nothing. */
  async #greet(client: RedisClientType): Promise<void> {
    // Without a listener, an error would end the process. What is wrong is seen where the commands fail.
    client.on('error', () => this.#lose(client, 'The connection to the store was lost'))
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`it has not answered within ${CONNECTING} ms`)), CONNECTING)
    })
    const greeting = async () => {
      await client.connect()
      const asked = elapsed()
      const [seconds, micros] = await client.sendCommand<[string, string]>(['TIME'])
      this.clock.learn(Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000), asked)
    }
    try {
      await Promise.race([greeting(), late])
    } finally {
      clearTimeout(timer)
    }
    // The figures are those of several connections, each of which has a first time.
    if (this.#wasConnected) this.figures.reconnects++
    this.#wasConnected = true
  }
}

/** Whether the server has sent this error. */
function isReply(error: Error): boolean {
  const { name } = error.constructor
  return name === 'SimpleError' || name === 'BlobError'
}

/** Why no connection could be opened. */
function explainFailure(error: unknown): string {
  if (!(error instanceof Error)) return 'The store cannot be reached'
  if (isReply(error)) return explainReply(error.message)?.error.message ?? `The store answers "${error.message}"`
  const { code, errors } = error as Error & { code?: string; errors?: readonly Error[] }
  // A name with several addresses gives an error for each of them.
  const detail = error.message || (errors ?? []).map(({ message }) => message).join(', ') || code || error.name
  return `The store cannot be reached: ${detail}`
}
