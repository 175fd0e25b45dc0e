import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { OPERATIONS } from '../../behaviour/operations/operations.ts'
import type { Contract } from '../../contract/contract.ts'
import type { AccountState } from '../../domain/account.ts'
import type { Entry } from '../../journal/entry.ts'
import type { ServerOptions } from '../../start/options.ts'
import { startServer } from '../../start/server.ts'
import type { Answer } from './answer.ts'
import { type OtherWorld, RecordedStore } from './recorded-store.ts'
import type { RecordedRequest } from './recording.ts'
import { bytesOfRequest, type SentRequest } from './request-bytes.ts'

export interface ReplayOptions {
  /** The options of the server that has recorded the requests. */
  server: ServerOptions
  contract: Contract
  requests: readonly RecordedRequest[]
  /** See `RecordedStore`. */
  recounted: Set<RecordedRequest>
  /** Whether this is the contract of the recording. */
  isOwn: boolean
  /** The accounts that begin otherwise, by id. */
  beginnings?: ReadonlyMap<string, OtherWorld> | undefined
  /**
   * Is called with the answer to each request, in their order; `undefined` where it cannot be asked again. When it returns
   * false, no more is asked.
   */
  onAnswer(index: number, answer: Answer | undefined): boolean
}

/** How long a request may stay without an answer before it counts as one that cannot be asked again, in milliseconds. */
export const PATIENCE = 3_000
/**
 * In so many steps is waited. When the machine keeps the whole program waiting, that is one step, and the answer comes in
 * the next.
 */
const STEPS = 6
/** How many requests may wait on the connection for their answer. */
const AHEAD = 32

/**
 * Asks recorded requests again, each from the state and at the instant at which it was asked, under a contract. They go
 * over a connection to a whole server, so that nothing but the service itself decides what is answered.
 */
export async function replay(options: ReplayOptions): Promise<void> {
  const { server, contract, requests, recounted, isOwn, beginnings, onAnswer } = options
  const [account] = requests.flatMap(({ past, others }) => past?.account ?? others[0] ?? [])
  if (account === undefined) return
  const store = new RecordedStore(account, recounted, isOwn, beginnings)
  let now = 0
  let onEntry: (entry: Entry) => void = () => {}
  const service = await startServer(
    optionsFor(server, store, () => now),
    OPERATIONS,
    {
      contract,
      hurries: true,
      journal: { entries: 0, body: Number.POSITIVE_INFINITY },
      open: ({ journal }) => void journal.subscribe((entry) => onEntry(entry)),
    },
  )
  try {
    await new Conversation(service.baseUrl, requests, {
      show(request) {
        store.show(request)
        now = request === undefined ? now : instantOf(request)
      },
      listen: (listener) => {
        onEntry = listener
      },
      take: (index, entry) => onAnswer(index, entry && !store.isLost ? answerIn(entry, store.after) : undefined),
    }).hold()
  } finally {
    await service.stop()
  }
}

/** Everything that decides about responses is as it was; what is outside of them is left out. */
function optionsFor(server: ServerOptions, store: RecordedStore, clock: () => number): ServerOptions {
  const { seed, host, prefer, simulator, cors, enforceQuotas } = server
  const same = { seed, host, prefer, simulator, cors, enforceQuotas }
  const given = Object.fromEntries(Object.entries(same).filter(([, value]) => value !== undefined))
  // Tests prove that responses obey the contract under each alternative; to compile all schemas for it takes longest.
  return { ...given, store, clock, fixture: 'empty', admin: false, sandboxKeys: false, responseValidation: 'off' }
}

/** What the machine's clock showed. */
function instantOf({ entry: { at }, past }: RecordedRequest): number {
  const clock = past?.account.clock
  return clock !== undefined && 'offset' in clock ? at - clock.offset : at
}

function answerIn({ status, responseHeaders, responseBody }: Entry, after: AccountState | undefined): Answer {
  return { status, headers: responseHeaders, body: responseBody, after }
}

interface Partner {
  /** Is called before each request, and at the end. */
  show(request: RecordedRequest | undefined): void
  listen(listener: (entry: Entry) => void): void
  take(index: number, entry: Entry | undefined): boolean
}

/** Requests that are sent one after the other, on one connection as long as it stays open. */
class Conversation {
  readonly #port: number
  readonly #host: string
  readonly #requests: readonly RecordedRequest[]
  readonly #partner: Partner
  /** The request whose answer comes next. */
  #index = 0
  #written = 0
  #socket: Socket | undefined
  #timer: NodeJS.Timeout | undefined
  /** How many steps nothing has come. */
  #waited = 0
  #end: () => void = () => {}

  constructor(baseUrl: string, requests: readonly RecordedRequest[], partner: Partner) {
    const { port, hostname } = new URL(baseUrl)
    this.#port = Number(port)
    this.#host = hostname.replace(/^\[|\]$/g, '')
    this.#requests = requests
    this.#partner = partner
  }

  /** Resolves when everything is answered, or nobody wants to know more. */
  async hold(): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.#end = resolve
    })
    this.#partner.listen((entry) => this.#advance(entry))
    this.#partner.show(this.#requests[0])
    this.#timer = setInterval(() => this.#wait(), PATIENCE / STEPS)
    this.#write()
    await ended
    clearInterval(this.#timer)
    this.#partner.listen(() => {})
    const socket = this.#socket
    // The end of the connection is no reason for another one, also where requests are left.
    this.#socket = undefined
    this.#written = this.#requests.length
    if (socket === undefined || socket.destroyed) return
    socket.destroy()
    await once(socket, 'close')
  }

  #advance(entry: Entry | undefined): void {
    const goesOn = this.#partner.take(this.#index, entry)
    this.#waited = 0
    this.#index++
    if (!goesOn || this.#index >= this.#requests.length) {
      this.#partner.listen(() => {})
      this.#partner.show(undefined)
      this.#end()
      return
    }
    this.#partner.show(this.#requests[this.#index])
    if (entry === undefined || this.#sentAt(this.#index - 1)?.isLast) this.#reconnect()
    // Later, because the answer to this one is not sent yet.
    if (this.#written - this.#index < AHEAD / 2) setImmediate(() => this.#write())
  }

  #wait(): void {
    if (++this.#waited >= STEPS) this.#advance(undefined)
  }

  /** Leaves the connection to whatever becomes of it. */
  #reconnect(): void {
    const socket = this.#socket
    this.#socket = undefined
    this.#written = this.#index
    // The answer may still have to be sent; nobody reads it.
    if (socket !== undefined) setImmediate(() => socket.destroy())
  }

  /** Writes what may be written by now, all in one piece. */
  #write(): void {
    const pieces: Buffer[] = []
    while (this.#written < this.#requests.length && this.#written - this.#index < AHEAD) {
      const sent = this.#sentAt(this.#written)
      const isNext = this.#written === this.#index
      if (sent === undefined) {
        // It is passed over when it is its turn.
        if (isNext) this.#advance(undefined)
        break
      }
      if (!isNext && this.#sentAt(this.#written - 1)?.isLast) break
      this.#written++
      pieces.push(sent.bytes)
    }
    if (pieces.length === 0) return
    this.#socket ??= this.#open()
    this.#socket.write(Buffer.concat(pieces))
  }

  #open(): Socket {
    const socket = connect(this.#port, this.#host)
    socket.setNoDelay(true)
    socket.resume()
    socket.on('error', () => {})
    socket.once('close', () => {
      if (this.#socket !== socket) return
      // Whatever was sent behind the last answer is lost.
      this.#reconnect()
      this.#write()
    })
    return socket
  }

  #sentAt(index: number): SentRequest | undefined {
    const request = this.#requests[index]
    return request && sentRequestOf(request.entry)
  }
}

const sentRequests = new WeakMap<Entry, SentRequest | 'unknown'>()

function sentRequestOf(entry: Entry): SentRequest | undefined {
  let sent = sentRequests.get(entry)
  if (sent === undefined) {
    sent = bytesOfRequest(entry) ?? 'unknown'
    sentRequests.set(entry, sent)
  }
  return sent === 'unknown' ? undefined : sent
}
