import { Readable } from 'node:stream'
import type { Awaitable } from '../../ground/awaitable.ts'
import { nextTurn } from '../../ground/timers.ts'
import { mismatch } from './failure.ts'

/** The body of a request, and the field that says how long it is. It is whole, or still on its way. */
export type FetchedBody =
  | { whole: Buffer; rest?: undefined; framing: readonly string[] }
  | { whole?: undefined; rest: RestOfBody; framing: readonly string[] }

type StreamReader = ReadableStreamDefaultReader<Uint8Array>
type StreamRead = Awaited<ReturnType<StreamReader['read']>>

const NOTHING = Buffer.alloc(0)
/** Methods of which a request without a body says so. */
const EXPECTING = new Set(['PATCH', 'POST', 'PUT'])

/**
 * Begins to read a body. A text or bytes are there at once, in one piece. Then the request needs no stream, and the
 * service can answer it as if it had come in one packet. Like `fetch`, it sends nothing before the first piece is there.
 * Rejects with what breaks the body off before that, and if the client leaves.
 */
export async function openBody({ method, body, headers }: Request, leaving: AbortSignal): Promise<FetchedBody> {
  if (body === null) return { whole: NOTHING, framing: EXPECTING.has(method) ? ['content-length', '0'] : [] }
  const announced = readLength(headers.get('content-length'))
  const reader: StreamReader = body.getReader()
  const giveUp = () => void reader.cancel(leaving.reason).catch(() => {})
  leaving.addEventListener('abort', giveUp, { once: true })
  const first = await reader.read()
  leaving.throwIfAborted()
  leaving.removeEventListener('abort', giveUp)
  const second = first.done ? first : reader.read()
  const last = await Promise.race([Promise.resolve(second).catch(() => undefined), nextTurn(undefined)])
  if (last?.done !== true) {
    const framing = announced === undefined ? ['transfer-encoding', 'chunked'] : ['content-length', `${announced}`]
    return { rest: new RestOfBody(reader, [first, second], announced), framing }
  }
  const whole = first.done ? NOTHING : bytesIn(first.value)
  if (announced !== undefined && whole.length !== announced) throw mismatch()
  return { whole, framing: ['content-length', `${whole.length}`] }
}

/** The field may come from a client of an application, so it may be anything. */
function readLength(field: string | null): number | undefined {
  return field !== null && /^\d{1,15}$/.test(field) ? Number(field) : undefined
}

function bytesIn(piece: unknown): Buffer {
  if (!(piece instanceof Uint8Array)) throw new TypeError('Received non-Uint8Array chunk')
  return Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
}

/** The part of a body that is still on its way. It is read only as fast as the service takes it. */
export class RestOfBody extends Readable {
  readonly #reader: StreamReader
  /** Pieces that were asked for before. */
  readonly #begun: Awaitable<StreamRead>[]
  readonly #announced: number | undefined
  #length = 0

  constructor(reader: StreamReader, begun: Awaitable<StreamRead>[], announced: number | undefined) {
    super()
    this.#reader = reader
    this.#begun = begun
    this.#announced = announced
    // A body that breaks off is noticed also while nobody reads it.
    this.read(0)
  }

  get complete(): boolean {
    return this.readableEnded
  }

  override _read(): void {
    // A source that always has a piece must leave time for the rest of the program.
    const piece = this.#begun.shift() ?? nextTurn().then(() => this.#reader.read())
    Promise.resolve(piece)
      .then((read) => this.#take(read))
      // Without an error, nobody would notice that the body broke off.
      .catch((error) => this.destroy(error ?? new Error('The body of the request broke off.')))
  }

  override _destroy(error: Error | null, finish: (error: Error | null) => void): void {
    // A source that cannot be cancelled has no client that could be told.
    this.#reader.cancel(error).catch(() => {})
    finish(error)
  }

  #take({ done, value }: StreamRead): void {
    const bytes = done ? undefined : bytesIn(value)
    this.#length += bytes?.length ?? 0
    const announced = this.#announced ?? this.#length
    if (this.#length > announced || (done && this.#length < announced)) throw mismatch()
    this.push(bytes ?? null)
  }
}
