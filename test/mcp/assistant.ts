import { createInterface } from 'node:readline'
import { PassThrough, type Readable, type Writable } from 'node:stream'
import { expect, onTestFinished } from 'vitest'
import { SILENT } from '../../src/ground/log.ts'
import { connect } from '../../src/mcp/control-plane.ts'
import { ownToolsOf } from '../../src/mcp/own-tools.ts'
import { openSession } from '../../src/mcp/session.ts'
import { type Tool, toolsOf } from '../../src/mcp/tools.ts'

/** What a tool answered. */
export interface Called {
  text: string
  isError: boolean
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into data whose shape the control plane has validated
  data: any
}

/** An assistant: it writes messages as lines, and reads the answers as lines. */
export class Assistant {
  readonly #input: Writable
  readonly #lines: AsyncIterator<string>
  #asked = 0

  constructor(input: Writable, output: Readable) {
    this.#input = input
    this.#lines = createInterface({ input: output })[Symbol.asyncIterator]()
  }

  say(message: object): void {
    this.#input.write(`${JSON.stringify(message)}\n`)
  }

  end(): void {
    this.#input.end()
  }

  /** Begins the session, and resolves to what the server says of itself. */
  async begin() {
    const clientInfo = { name: 'test', version: '1' }
    const result = await this.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
    this.say({ jsonrpc: '2.0', method: 'notifications/initialized' })
    return result
  }

  /** The result of a request. @throws Error when the answer is an error of the protocol */
  async ask(method: string, params: object = {}) {
    const id = ++this.#asked
    this.say({ jsonrpc: '2.0', id, method, params })
    const answer = JSON.parse((await this.#lines.next()).value ?? 'null')
    expect(answer).toMatchObject({ jsonrpc: '2.0', id })
    if (answer.error !== undefined) throw new Error(answer.error.message)
    return answer.result
  }

  async call(name: string, args: object = {}): Promise<Called> {
    const { content, isError = false } = await this.ask('tools/call', { name, arguments: args })
    const [{ text }] = content
    return { text, isError, data: /^[{[]/.test(text) ? JSON.parse(text) : undefined }
  }
}

/** Registers what ends something that a test has begun. */
type Finish = (end: () => Promise<void>) => void

/** An assistant in a session with these tools. */
export async function openSessionWith(
  tools: readonly Tool[],
  log = SILENT,
  finish: Finish = onTestFinished,
): Promise<Assistant> {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const session = await openSession({ tools, version: '1.2.3', input, output, log })
  void session.ended.then(() => output.end())
  finish(() => session.close())
  const assistant = new Assistant(input, output)
  await assistant.begin()
  return assistant
}

/** An assistant that uses the stand-in at an address. */
export async function attach(adminUrl: string, token?: string, finish?: Finish): Promise<Assistant> {
  const plane = await connect(adminUrl, token)
  const own = ownToolsOf(plane, { apiKey: undefined, overlays: undefined })
  return openSessionWith([...own, ...toolsOf(plane)], SILENT, finish)
}
