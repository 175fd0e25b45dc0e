import { Readable } from 'node:stream'
import { mismatch } from './failure.ts'

/** The body of a request, and the field that says how long it is. It is whole, or still on its way. */
export type SentBody =
  | { whole: Buffer; rest?: undefined; framing: readonly string[] }
  | { whole?: undefined; rest: RestOfBody; framing: readonly string[] }

type Reader = ReadableStreamDefaultReader<Uint8Array>
type Read = Awaited<ReturnType<Reader['read']>>

const NOTHING = { whole: Buffer.alloc(0), framing: [] }

/**
 * Begins to read a body. A text or bytes are there at once, in one piece. Then the request needs no stream, and the
 * service can answer it as if it had come in one packet.
 * Rejects with what breaks it off before its first piece.
 */
export async function openBody({ body, headers }: Request): Promise<SentBody> {
  if (body === null) return NOTHING
  const announced = readLength(headers.get('content-length'))
  const reader: Reader = body.getReader()
  const first = reader.read()
  const second = first.then(({ done }) => (done ? first : reader.read()))
  const begun = Promise.all([first, second.catch(() => undefined)])
  const [only, end] = (await Promise.race([begun, nextTurn()])) ?? []
  if (only === undefined || end?.done !== true) {
    const framing = announced === undefined ? ['transfer-encoding', 'chunked'] : ['content-length', `${announced}`]
    return { rest: new RestOfBody(reader, [first, second], announced), framing }
  }
  const whole = only.done ? NOTHING.whole : bytesIn(only.value)
  if (announced !== undefined && whole.length !== announced) throw mismatch()
  return { whole, framing: whole.length === 0 ? [] : ['content-length', `${whole.length}`] }
}

function nextTurn(): Promise<undefined> {
  return new Promise((resolve) => void setImmediate(resolve, undefined))
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
  readonly #reader: Reader
  /** Pieces that were asked for before. */
  readonly #begun: Promise<Read>[]
  readonly #announced: number | undefined
  #length = 0

  constructor(reader: Reader, begun: Promise<Read>[], announced: number | undefined) {
    super()
    this.#reader = reader
    this.#begun = begun
    this.#announced = announced
    for (const piece of begun) piece.catch(() => {})
  }

  get complete(): boolean {
    return this.readableEnded
  }

  override _read(): void {
    const piece = this.#begun.shift() ?? this.#reader.read()
    piece.then((read) => this.#take(read)).catch((error) => this.destroy(error))
  }

  override _destroy(error: Error | null, finish: (error: Error | null) => void): void {
    // A source that cannot be cancelled has no client that could be told.
    this.#reader.cancel(error).catch(() => {})
    finish(error)
  }

  #take({ done, value }: Read): void {
    const bytes = done ? undefined : bytesIn(value)
    this.#length += bytes?.length ?? 0
    const announced = this.#announced ?? this.#length
    if (this.#length > announced || (done && this.#length < announced)) throw mismatch()
    this.push(bytes ?? null)
  }
}
