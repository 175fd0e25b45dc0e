import { PassThrough, type Readable, type Writable } from 'node:stream'
import { expect, onTestFinished } from 'vitest'
import { type Log, SILENT } from '../../src/ground/log.ts'
import { connectTools } from '../../src/mcp/connection.ts'
import { openSession } from '../../src/mcp/session.ts'
import type { AssistantTool } from '../../src/mcp/tool.ts'

/** What a tool answered, as a test looks at it. */
export interface Called {
  text: string
  isError: boolean
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into data whose shape the control plane has validated
  data: any
}

export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 'first',
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}

/** An assistant: it writes messages as lines, and reads the answers as lines. */
export class Assistant {
  readonly #input: Writable
  readonly #lines: AsyncGenerator<string>
  #asked = 0

  constructor(input: Writable, output: Readable) {
    this.#input = input
    this.#lines = readLines(output)
  }

  /** Writes a line: a text as it is, and anything else as JSON. */
  say(message: unknown): void {
    this.#input.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`)
  }

  /** The next message that is written to it. */
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a message
  async next(): Promise<any> {
    return JSON.parse((await this.#lines.next()).value ?? 'null')
  }

  /** Ends its input, and reads the ids of all that is still answered. */
  async end(last = ''): Promise<unknown[]> {
    this.#input.end(last)
    const ids: unknown[] = []
    for await (const line of this.#lines) ids.push(JSON.parse(line).id)
    return ids
  }

  /** Begins the session, and resolves to what the server says of itself. */
  async begin() {
    this.say(INITIALIZE)
    const { result } = await this.next()
    this.say({ jsonrpc: '2.0', method: 'notifications/initialized' })
    return result
  }

  /** The result of a request. @throws Error when the answer is an error of the protocol */
  async ask(method: string, params: object = {}) {
    const id = ++this.#asked
    this.say({ jsonrpc: '2.0', id, method, params })
    const answer = await this.next()
    expect(answer).toMatchObject({ jsonrpc: '2.0', id })
    if (answer.error !== undefined) throw new Error(answer.error.message)
    return answer.result
  }

  async call(name: string, args: object = {}): Promise<Called> {
    const { content, structuredContent, isError = false } = await this.ask('tools/call', { name, arguments: args })
    return { text: content[0].text, data: structuredContent, isError }
  }
}

/** The lines of a stream, without their ends. */
async function* readLines(stream: Readable): AsyncGenerator<string> {
  let text = ''
  for await (const chunk of stream) {
    const lines = (text + chunk).split('\n')
    text = lines.pop() ?? ''
    yield* lines
  }
  if (text !== '') yield text
}

/** Registers what ends something that a test has begun. */
export type Finish = (end: () => Promise<void>) => void

/** An assistant in a session with these tools, which it has still to begin. */
export async function openSessionWith(
  tools: readonly AssistantTool[] = [],
  log: Log = SILENT,
  finish: Finish = onTestFinished,
): Promise<Assistant> {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const session = await openSession({ tools, version: '1.2.3', input, output, log })
  void session.ended.then(() => output.end())
  finish(() => session.close())
  return new Assistant(input, output)
}

/** An assistant that uses the stand-in at an address. */
export async function attach(adminUrl: string, token?: string, finish?: Finish): Promise<Assistant> {
  const tools = await connectTools({ adminUrl, token, apiKey: undefined, overlays: undefined })
  const assistant = await openSessionWith(tools, SILENT, finish)
  await assistant.begin()
  return assistant
}
