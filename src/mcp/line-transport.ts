import type { Readable, Writable } from 'node:stream'
import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/server'
import { isObject, type Json } from '../ground/json.ts'
import { shorten } from '../ground/show.ts'
import { clearTimeout, setTimeout } from '../ground/timers.ts'
import { splitLines } from './lines.ts'

/** How the lines of a session are read. */
export interface LineTransportOptions {
  /** Bytes of the longest message. A longer one is skipped, and never held as a whole. */
  longest: number
  /** Milliseconds for the answers to what was asked before the end of the input. */
  patience: number
  /** Whether the library knows the message. */
  isMessage(value: unknown): value is JSONRPCMessage
  /** Called with a sentence about each line that is refused. */
  tell(sentence: string): void
}

/** The codes of JSON-RPC for a line that is no JSON, and for JSON that is no message. */
const CODES = { syntax: -32700, message: -32600 }

/** The field of `_meta` in which each request since the revision 2026-07-28 names its revision. */
const REVISION = 'io.modelcontextprotocol/protocolVersion'

/**
 * Messages as lines of text. Where the transport of the library is silent, it answers a bad line with a sentence, and it
 * answers what was asked before the end of its input.
 */
export class LineTransport implements Transport {
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  onmessage?: ((message: JSONRPCMessage) => void) | undefined
  /** Resolves when nothing is read any more. */
  readonly ended: Promise<void>
  readonly #input: Readable
  readonly #output: Writable
  readonly #options: LineTransportOptions
  /** The requests that are not answered yet. */
  readonly #open = new Set<RequestId>()
  #hasBegun = false
  #hasEnded = false
  #isClosed = false
  #patience: NodeJS.Timeout | undefined
  #resolve = () => {}

  constructor(input: Readable, output: Writable, options: LineTransportOptions) {
    this.#input = input
    this.#output = output
    this.#options = options
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  async start(): Promise<void> {
    this.#output.on('error', this.#close)
    const { longest } = this.#options
    const tooLong = {
      kind: 'message',
      reason: `The message is longer than ${longest} bytes`,
      remedy: 'Send a shorter one; a large fixture can be a file for --fixture.',
    } as const
    const take = splitLines(longest, (line) => {
      if (line === undefined) this.#refuse(tooLong)
      else if (line.trim() !== '') this.#receive(line)
    })
    this.#input.on('data', take)
    this.#input.once('end', () => {
      // The last line may lack its end.
      take(Buffer.from('\n'))
      this.#end()
    })
    this.#input.once('close', this.#end)
    this.#input.once('error', this.#end)
    if (this.#input.readableEnded || this.#input.destroyed) this.#end()
  }

  /** Resolves when the line is written. */
  send(message: JSONRPCMessage): Promise<void> {
    if ('id' in message && message.id !== undefined && !('method' in message)) this.#open.delete(message.id)
    if (this.#isClosed) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#output.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()))
      this.#closeIfDone()
    })
  }

  async close(): Promise<void> {
    this.#close()
  }

  #receive(line: string): void {
    const reading = readLine(line)
    const wrong = 'refusal' in reading ? reading.refusal : this.#findUntimely(reading.value)
    if (wrong !== undefined) this.#refuse(wrong, reading.id)
    else if ('value' in reading && this.#options.isMessage(reading.value)) this.#pass(reading.value)
    else this.#refuse({ kind: 'message', reason: 'The line is no message of JSON-RPC 2.0', remedy: SHAPE }, reading.id)
  }

  /** Refuses what comes before the session has begun. */
  #findUntimely({ method, params }: Json): LineRefusal | undefined {
    this.#hasBegun ||= typeof method !== 'string' || begins(method, params)
    if (this.#hasBegun || method === 'ping') return undefined
    return {
      kind: 'message',
      reason: `The session has not begun, so ${shorten(`${method}`)} comes too early`,
      remedy: BEGIN,
    }
  }

  #pass(message: JSONRPCMessage): void {
    if ('method' in message) {
      if ('id' in message) this.#open.add(message.id)
      const cancelled = message.method === 'notifications/cancelled' ? message.params?.['requestId'] : undefined
      if (isId(cancelled)) this.#open.delete(cancelled)
    }
    this.onmessage?.(message)
    this.#closeIfDone()
  }

  /** Answers a line that is not passed on. An answer without an id is one to a message whose id is not known. */
  #refuse({ kind, reason, remedy }: LineRefusal, id?: RequestId): void {
    const message = `${reason}. ${remedy}`
    this.#options.tell(message)
    if (this.#isClosed) return
    const answer = { jsonrpc: '2.0', ...(id !== undefined && { id }), error: { code: CODES[kind], message } }
    this.#output.write(`${JSON.stringify(answer)}\n`)
  }

  readonly #end = (): void => {
    if (this.#hasEnded || this.#isClosed) return
    this.#hasEnded = true
    this.#patience = setTimeout(this.#close, this.#options.patience)
    this.#closeIfDone()
  }

  #closeIfDone(): void {
    if (this.#hasEnded && this.#open.size === 0) this.#close()
  }

  readonly #close = (): void => {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#patience)
    // An input that is open keeps the process alive.
    this.#input.removeAllListeners('data')
    this.#input.destroy()
    this.onclose?.()
    this.#resolve()
  }
}

/** Why a line is refused, and what would be right. The reason is a sentence without its end. */
interface LineRefusal {
  kind: keyof typeof CODES
  reason: string
  remedy: string
}

const SHAPE = 'Send an object such as {"jsonrpc":"2.0","id":1,"method":"tools/list"}.'
const BEGIN = 'Send initialize first, or name the revision of the protocol in _meta of each request.'

type LineReading = ({ value: Json } | { refusal: LineRefusal }) & { id?: RequestId }

function readLine(line: string): LineReading {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    const reason = `The line is no JSON: ${(error as Error).message.replaceAll(/\s+/g, ' ')}`
    return { refusal: { kind: 'syntax', reason, remedy: 'Send each message as JSON in one line.' } }
  }
  if (Array.isArray(value)) {
    const remedy = 'The protocol has none; send each message in a line of its own.'
    return { refusal: { kind: 'message', reason: 'The line is a batch of messages', remedy } }
  }
  if (!isObject(value)) return { refusal: { kind: 'message', reason: 'The line is no object', remedy: SHAPE } }
  const reason = findWrong(value)
  const known = isId(value['id']) ? { id: value['id'] } : {}
  return reason === undefined ? { value, ...known } : { refusal: { kind: 'message', reason, remedy: SHAPE }, ...known }
}

/** What is wrong with the shape of a message. */
function findWrong({ jsonrpc, id, method, params, result, error }: Json): string | undefined {
  if (jsonrpc !== '2.0') return 'The message has no "jsonrpc":"2.0"'
  if (id !== undefined && !isId(id)) return 'The id of the message is neither a text nor a whole number below 2^53'
  if (method === undefined && result === undefined && error === undefined) return 'The message has no method'
  return params === undefined || isObject(params) ? undefined : 'The params of the message are no object'
}

function isId(id: unknown): id is RequestId {
  return typeof id === 'string' || Number.isSafeInteger(id)
}

/** Whether a message may be the first one. */
function begins(method: string, params: unknown): boolean {
  const meta = isObject(params) ? params['_meta'] : undefined
  return method === 'initialize' || (isObject(meta) && REVISION in meta)
}
