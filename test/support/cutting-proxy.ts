import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { Values, wordsOf, writeCommand } from './resp.ts'

/**
 * Whether something is to happen to a command; `words` are its name in upper case and its first two arguments, and
 * `connection` is the name that its connection has at Redis.
 */
export type Choice = (words: readonly string[], connection: string) => boolean

/** What stands between a replica and Redis, and what may go wrong there. */
export interface CuttingProxy {
  readonly url: string
  readonly port: number
  /** How many replies were lost so far. */
  readonly lost: number
  /** Which commands have gone through, by name. */
  readonly commands: ReadonlyMap<string, number>
  /** Is told each command that goes through, with the bytes that it and its reply have. */
  listen(listener: (words: readonly string[], bytes: number) => void): void
  /** Cuts all connections that there are. New ones are possible. */
  cut(): void
  /** Cuts all connections, and every new one, until `restore`. */
  refuse(): void
  /** Keeps all connections open, and lets nothing through until `restore`. */
  blackhole(): void
  /** Gives the replies to the commands that are chosen so many milliseconds later. */
  delay(milliseconds: number, choice?: Choice): void
  /** Keeps the connections open that send commands that are chosen, and lets nothing more through. */
  stall(choice: Choice): void
  /**
   * Delivers the commands that are chosen, waits until Redis has carried them out, and cuts the connection instead of
   * giving the reply.
   */
  loseReplies(choice: Choice): void
  /** Cuts the connection instead of delivering the commands that are chosen. */
  loseCommands(choice: Choice): void
  /** Gives Redis other functions than the client sends. */
  rewriteFunctions(rewrite: (text: string) => string): void
  /** Leads new connections to another server. */
  leadTo(port: number): void
  /** Ends all of the above. */
  restore(): void
  end(): Promise<void>
}

/** Starts a proxy to a Redis on this machine; it ends with the test. */
export async function startCuttingProxy(port: number): Promise<CuttingProxy> {
  const proxy = await openCuttingProxy(port)
  onTestFinished(proxy.end)
  return proxy
}

/** Choices that hold for the next commands that another choice takes, so many of them. */
export function next(count: number, choice: Choice = isCall): Choice {
  let left = count
  return (words, connection) => left > 0 && choice(words, connection) && left-- > 0
}

/** Changes of accounts and what counts requests are calls of functions. */
export function isCall([name = '']: readonly string[]): boolean {
  return name === 'FCALL'
}

const NONE: Choice = () => false
const ALL: Choice = () => true

/** The same, which the caller ends. */
async function openCuttingProxy(redis: number): Promise<CuttingProxy> {
  const links = new Set<Link>()
  let target = redis
  const state: State = {
    losesReply: NONE,
    losesCommand: NONE,
    stalls: NONE,
    isDelayed: ALL,
    delay: 0,
    isBlack: false,
    lost: 0,
    commands: new Map(),
    rewrite: undefined,
    tell: () => {},
  }
  let refuses = false

  const server = createServer((client) => {
    if (refuses) return void client.resetAndDestroy()
    const link = new Link(client, target, state)
    links.add(link)
    client.once('close', () => links.delete(link))
    if (state.isBlack) link.hold(true)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  function cut(): void {
    for (const link of links) link.cut()
  }
  function blacken(isBlack: boolean): void {
    state.isBlack = isBlack
    for (const link of links) link.hold(isBlack)
  }

  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    get lost() {
      return state.lost
    },
    commands: state.commands,
    listen: (listener) => {
      state.tell = listener
    },
    cut,
    refuse() {
      refuses = true
      cut()
    },
    blackhole: () => blacken(true),
    delay: (milliseconds, choice = ALL) => {
      Object.assign(state, { delay: milliseconds, isDelayed: choice })
    },
    stall: (choice) => {
      state.stalls = choice
    },
    loseReplies: (choice) => {
      state.losesReply = choice
    },
    loseCommands: (choice) => {
      state.losesCommand = choice
    },
    rewriteFunctions: (rewrite) => {
      state.rewrite = rewrite
    },
    leadTo: (other) => {
      target = other
    },
    restore() {
      refuses = false
      Object.assign(state, { losesReply: NONE, losesCommand: NONE, stalls: NONE, isDelayed: ALL, delay: 0 })
      blacken(false)
    },
    async end() {
      refuses = true
      cut()
      server.close()
      if (server.listening) await once(server, 'close')
    },
  }
}

interface State {
  losesReply: Choice
  losesCommand: Choice
  stalls: Choice
  isDelayed: Choice
  delay: number
  isBlack: boolean
  lost: number
  commands: Map<string, number>
  rewrite: ((text: string) => string) | undefined
  tell: (words: readonly string[], bytes: number) => void
}

/** A connection of a client and its connection to Redis. */
class Link {
  readonly #client: Socket
  readonly #redis: Socket
  readonly #state: State
  /** The commands that have no reply yet, and whether that is to be lost. */
  readonly #pending: { words: readonly string[]; bytes: number; isLost: boolean; delay: number }[] = []
  #name = ''

  constructor(client: Socket, port: number, state: State) {
    this.#client = client
    this.#redis = connect(port, '127.0.0.1')
    this.#state = state
    client.setNoDelay(true)
    this.#redis.setNoDelay(true)
    const commands = new Values()
    const replies = new Values()
    client.on('data', (piece: Buffer) => {
      for (const command of commands.take(piece)) this.#deliver(command)
    })
    this.#redis.on('data', (piece: Buffer) => {
      for (const reply of replies.take(piece)) this.#answer(reply)
    })
    for (const socket of [client, this.#redis]) {
      socket.on('error', () => {})
      socket.once('close', () => this.cut())
    }
  }

  cut(): void {
    if (!this.#client.destroyed) this.#client.resetAndDestroy()
    this.#redis.destroy()
  }

  hold(isHeld: boolean): void {
    for (const socket of [this.#client, this.#redis]) {
      if (isHeld) socket.pause()
      else socket.resume()
    }
  }

  #deliver(command: Buffer): void {
    if (this.#client.destroyed) return
    const { rewrite, losesReply, isDelayed } = this.#state
    const words = wordsOf(command)
    const [name = '', first = '', second = ''] = words
    if (name === 'CLIENT' && first.toUpperCase() === 'SETNAME') this.#name = second
    if (this.#state.stalls(words, this.#name)) this.hold(true)
    if (this.#state.losesCommand(words, this.#name)) {
      this.#state.lost++
      this.cut()
      return
    }
    this.#state.commands.set(name, (this.#state.commands.get(name) ?? 0) + 1)
    const delay = isDelayed(words, this.#name) ? this.#state.delay : 0
    this.#pending.push({ words, bytes: command.length, isLost: losesReply(words, this.#name), delay })
    this.#redis.write(name === 'FUNCTION' && rewrite !== undefined ? rewriteLibrary(command, rewrite) : command)
  }

  #answer(reply: Buffer): void {
    if (this.#client.destroyed) return
    const isPush = reply[0] === '>'.charCodeAt(0)
    const answered = isPush ? undefined : this.#pending.shift()
    if (answered !== undefined) this.#state.tell(answered.words, answered.bytes + reply.length)
    if (answered?.isLost === true) {
      this.#state.lost++
      this.cut()
      return
    }
    const delay = answered?.delay ?? 0
    if (delay === 0) this.#client.write(reply)
    else setTimeout(() => this.#client.destroyed || this.#client.write(reply), delay)
  }
}

/** The command `FUNCTION LOAD` with another text. */
function rewriteLibrary(command: Buffer, rewrite: (text: string) => string): Buffer {
  const words = wordsOf(command, Number.POSITIVE_INFINITY)
  return Buffer.from(writeCommand([...words.slice(0, -1), rewrite(words.at(-1) ?? '')]))
}
