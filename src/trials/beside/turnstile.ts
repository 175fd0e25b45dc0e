import { presentedSecretIn, secretIn } from '../../behaviour/gate.ts'
import type { ServiceContract } from '../../behaviour/operation.ts'
import { hasBody } from '../../contract/body.ts'
import { receiveBody } from '../../contract/reception.ts'
import type { Arrival } from '../../ground/arrival.ts'
import type { Awaitable } from '../../ground/awaitable.ts'
import type { Delivery } from '../../ground/delivery.ts'
import { hashKey } from '../../ground/secrets.ts'
import { clearTimeout, setTimeout } from '../../ground/timers.ts'
import type { Entry } from '../../journal/entry.ts'
import type { Service } from '../../service/answer.ts'
import { type CommandSide, SIDES, type Strand } from './schedule.ts'

const NOTHING = Buffer.alloc(0)
/** In bytes: more than a body may have, so that the service still refuses it. */
const LONGEST = 2 << 20

interface HeldRequest {
  side: CommandSide
  /** The thread of its command; absent until it is asked for. */
  thread: number | undefined
  /** Sorts requests that arrive at the same time, so that their threads are the same in every run. */
  readonly words: string
  /** The hash of its key. */
  presented: string | undefined
  /** Whether its body has arrived. */
  isWhole(): boolean
  /** Gives the request to the service, and resolves when the answer is ready to be sent. */
  pass(): Promise<void>
}

interface Passing extends Pick<HeldRequest, 'presented'> {
  entry?: Entry
}

/**
 * Holds the requests of two commands before the service, until somebody lets one through. A command is told by its key.
 * Requests with another key, or without one, pass at once.
 *
 * A command may send several requests at a time. Each takes the lowest number that no other one of the command has; this
 * is its thread. A thread of the command that sends one request after the other keeps its number, because it is the one
 * that has just become free.
 */
export class Turnstile {
  readonly #held: HeldRequest[] = []
  readonly #sides = new Map<string, CommandSide>()
  readonly #listeners = new Set<() => void>()
  #settings: ServiceContract['settings'] | undefined
  #isOpen = false
  #news = 0
  /** The request that is let through, and its exchange. Another one with the same key is held meanwhile. */
  #passing: Passing | undefined
  /** Called when a client gives up a request that is held. */
  readonly #gaveUp: (side: CommandSide) => void

  constructor(gaveUp: (side: CommandSide) => void) {
    this.#gaveUp = gaveUp
  }

  /** Holds requests from now on. */
  close({ settings }: ServiceContract, secrets: readonly [string, string]): void {
    this.#settings = settings
    for (const side of SIDES) this.#sides.set(secrets[side], side)
  }

  /** Lets everything through from now on. */
  open(): void {
    this.#isOpen = true
    for (const held of [...this.#held]) void held.pass()
  }

  /** For `InternalOptions`. */
  readonly guard = (answer: Service): Service => {
    return (arrival) => {
      const side = this.#isOpen ? undefined : this.#sideOf(arrival)
      return side === undefined ? answer(arrival) : this.#hold(side, arrival, answer)
    }
  }

  /** Changes with each request that arrives, and with each held one whose client leaves. */
  get news(): number {
    return this.#news
  }

  isAsking(side: CommandSide): boolean {
    return this.#held.some((held) => held.side === side)
  }

  /** The threads of the command whose requests are held, in rising order. It must have sent all that it can send. */
  threadsOf(side: CommandSide): number[] {
    const own = this.#held.filter((held) => held.side === side)
    const taken = new Set(own.map(({ thread }) => thread))
    const unnamed = own.filter(({ thread }) => thread === undefined)
    // The sorting is stable, so equal requests keep the order of their arrival.
    for (const held of unnamed.toSorted((one, other) => (one.words < other.words ? -1 : +(one.words > other.words)))) {
      let thread = 1
      while (taken.has(thread)) thread++
      taken.add(thread)
      held.thread = thread
    }
    return own.flatMap(({ thread }) => thread ?? []).toSorted((one, other) => one - other)
  }

  /** Lets the request of a thread through. Resolves when its answer is ready to be sent, or its client has left. */
  async pass(strand: Required<Strand>): Promise<Entry> {
    const held = this.#find(strand)
    const passing: Passing = { presented: held.presented }
    this.#passing = passing
    await held.pass()
    if (passing.entry === undefined) throw new Error('A request has left no entry in the journal.')
    return passing.entry
  }

  /** Tells whether the body of a held request has arrived, now and after it was let through. */
  watchBody(strand: Required<Strand>): () => boolean {
    return this.#find(strand).isWhole
  }

  #find({ side, thread }: Required<Strand>): HeldRequest {
    const held = this.#held.find((each) => each.side === side && each.thread === thread)
    if (held === undefined) throw new Error('The thread has no request.')
    return held
  }

  /** Takes an exchange from the journal. */
  note(entry: Entry): void {
    const passing = this.#passing
    if (passing !== undefined && passing.presented === entry.presented) passing.entry ??= entry
  }

  /** Resolves at the next news, at the latest after this time in milliseconds. */
  async untilNews(milliseconds: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const finish = () => {
        clearTimeout(timer)
        this.#listeners.delete(finish)
        resolve()
      }
      const timer = setTimeout(finish, milliseconds)
      this.#listeners.add(finish)
    })
  }

  /** Tells those who wait that something has happened to a command. */
  tell(): void {
    this.#news++
    for (const listener of [...this.#listeners]) listener()
  }

  #sideOf({ headers: { authorization } }: Arrival): CommandSide | undefined {
    const secret = this.#settings && secretIn(authorization, this.#settings)
    return secret === undefined ? undefined : this.#sides.get(secret)
  }

  #hold(side: CommandSide, arrival: Arrival, answer: Service): Promise<Delivery | undefined> {
    const secret = presentedSecretIn(arrival.headers.authorization)
    return new Promise((resolve) => {
      const passed = new AbortController()
      let body: Buffer | undefined
      const held: HeldRequest = {
        side,
        thread: undefined,
        presented: secret === undefined ? undefined : hashKey(secret),
        get words() {
          return `${arrival.method} ${arrival.url} ${body?.toString('latin1') ?? ''}`
        },
        isWhole: () => body !== undefined || arrival.isAbandoned,
        pass: async () => {
          this.#held.splice(this.#held.indexOf(held), 1)
          passed.abort()
          const delivery: Awaitable<Delivery | undefined> = answer(
            body === undefined ? arrival : givenBody(arrival, body),
          )
          resolve(delivery)
          await delivery
        },
      }
      this.#held.push(held)
      this.tell()
      void readBody(arrival).then((read) => {
        body = read
        this.tell()
      })
      void arrival.wait(undefined, passed.signal).then(() => {
        if (passed.signal.aborted) return
        this.#held.splice(this.#held.indexOf(held), 1)
        resolve(undefined)
        this.#gaveUp(side)
        this.tell()
      })
    })
  }
}

/** The body of a request. A longer one, and one that breaks off, is left to the service. */
async function readBody(arrival: Arrival): Promise<Buffer | undefined> {
  if (!hasBody(arrival)) return NOTHING
  return Promise.resolve(receiveBody(arrival, LONGEST)).catch(() => undefined)
}

/** The same request, with the body that was read from it. */
function givenBody(arrival: Arrival, body: Buffer): Arrival {
  const { method, url, httpVersion, headers, rawHeaders } = arrival
  return {
    ...{ method, url, httpVersion, headers, rawHeaders, body },
    get isAbandoned() {
      return arrival.isAbandoned
    },
    wait: (milliseconds, ...endings) => arrival.wait(milliseconds, ...endings),
  }
}
