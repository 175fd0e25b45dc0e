import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** Whether something is to happen to a command; `words` are its name in upper case and its first two arguments. */
export type Choice = (words: readonly string[]) => boolean

export type CuttingProxy = Awaited<ReturnType<typeof startCuttingProxy>>

/** Choices that hold for the next commands that another choice takes, so many of them. */
export function next(count: number, choice: Choice = isCall): Choice {
  let left = count
  return (words) => left > 0 && choice(words) && left-- > 0
}

/** Changes of accounts and what counts requests are calls of functions or scripts. */
export function isCall([name = '']: readonly string[]): boolean {
  return name === 'FCALL' || name === 'EVAL' || name === 'EVALSHA'
}

/** The beginning of a command in RESP: how many words, and the first three of them. */
const COMMAND = /\*\d+\r\n\$\d+\r\n([^\r]+)\r\n(?:\$\d+\r\n([^\r]*)\r\n)?(?:\$\d+\r\n([^\r]*)\r\n)?/g

const none: Choice = () => false
const WHOLE = {
  losesReply: none,
  losesCommand: none,
  refuses: false,
  isBlack: false,
}

/** Starts what stands between a server and Redis, and what may go wrong there; it ends with the test. */
export async function startCuttingProxy(redis: number) {
  const links = new Set<Link>()
  const state: State = { ...WHOLE, lost: 0 }
  const server = createServer((client) => {
    if (state.refuses) return void client.resetAndDestroy()
    const link = new Link(client, redis, state)
    links.add(link)
    client.once('close', () => links.delete(link))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const cut = () => links.forEach((link) => void link.cut())
  const change = (changes: Partial<State>) => {
    Object.assign(state, changes)
    for (const link of links) link.hold(state.isBlack)
  }
  onTestFinished(async () => {
    state.refuses = true
    cut()
    server.close()
    await once(server, 'close')
  })
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    /** How many replies were lost so far. */
    get lost() {
      return state.lost
    },
    /** Cuts all connections that there are. New ones are possible. */
    cut,
    /** Cuts all connections, and every new one. */
    refuse() {
      state.refuses = true
      cut()
    },
    /** Keeps all connections open, and lets nothing through. */
    blackhole: () => change({ isBlack: true }),
    /** Lets Redis carry out the commands that are chosen, and cuts the connection instead of giving the reply. */
    loseReplies: (losesReply: Choice) => change({ losesReply }),
    /** Cuts the connection instead of delivering the commands that are chosen. */
    loseCommands: (losesCommand: Choice) => change({ losesCommand }),
    /** Ends all of the above. */
    restore: () => change(WHOLE),
  }
}

interface State {
  losesReply: Choice
  losesCommand: Choice
  refuses: boolean
  isBlack: boolean
  lost: number
}

/** A connection of a client and its connection to Redis. */
class Link {
  readonly #client: Socket
  readonly #redis: Socket
  readonly #state: State
  #isMute = false

  constructor(client: Socket, port: number, state: State) {
    this.#client = client
    this.#redis = connect(port, '127.0.0.1')
    this.#state = state
    client.on('data', (bytes: Buffer) => this.#deliver(bytes))
    this.#redis.on('data', (bytes: Buffer) => this.#answer(bytes))
    for (const socket of [client, this.#redis]) {
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.once('close', () => this.cut())
    }
    this.hold(state.isBlack)
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

  #deliver(bytes: Buffer): void {
    const state = this.#state
    for (const [, name = '', ...rest] of bytes.toString('latin1').matchAll(COMMAND)) {
      const words = [name.toUpperCase(), ...rest.filter((word) => word !== undefined)]
      if (state.losesCommand(words)) {
        state.lost++
        this.cut()
        return
      }
      if (state.losesReply(words)) {
        state.lost++
        this.#isMute = true
      }
    }
    // Redis closes the connection when it has carried out what came before the end.
    if (this.#isMute) this.#redis.end(bytes)
    else this.#redis.write(bytes)
  }

  #answer(bytes: Buffer): void {
    if (this.#isMute || this.#client.destroyed) return
    this.#client.write(bytes)
  }
}
