import { PassThrough } from 'node:stream'
import { Client } from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'
import type { Log } from '../../src/http/log.ts'
import { SILENT } from '../../src/http/log.ts'
import { connectTools, type ToolTarget } from '../../src/mcp/connection.ts'
import { openSession, type Session } from '../../src/mcp/session.ts'
import type { AssistantTool } from '../../src/mcp/tool.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import { startUnderstudy, type Understudy } from '../../src/start/server.ts'
import { readLines } from './lines.ts'

/** What a tool answered, as a test looks at it. */
export interface Called {
  text: string
  isError: boolean
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into data whose shape the control plane has validated
  data: any
}

/** The two ends of a session in this process. */
export interface RawSession extends Session {
  /** Writes a text to the input of the session. */
  write(text: string | Buffer): void
  /** Ends its input. */
  end(): void
  /** The next message that the session writes. */
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a message
  next(): Promise<any>
  /** All messages that it writes until its end. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  rest(): Promise<any[]>
}

/** Registers what ends something that a test has begun. */
type Finish = (end: () => Promise<void>) => void

/** A session with these tools, whose lines a test writes and reads. */
export async function openRawSession(
  tools: readonly AssistantTool[] = [],
  log: Log = SILENT,
  finish: Finish = onTestFinished,
): Promise<RawSession> {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const session = await openSession({ tools, version: '1.2.3', input, output, log })
  void session.ended.then(() => output.end())
  finish(() => session.close())
  const lines = readLines(output)
  return {
    ...session,
    write: (text) => void input.write(text),
    end: () => void input.end(),
    next: async () => JSON.parse((await lines.next()).value ?? 'null'),
    async rest() {
      const messages: unknown[] = []
      for await (const line of lines) messages.push(JSON.parse(line))
      return messages
    },
  }
}

/** An assistant: the official client, in a session with tools. */
export class Assistant {
  readonly client = new Client({ name: 'test', version: '1' })

  static async with(tools: readonly AssistantTool[], log?: Log, finish?: Finish): Promise<Assistant> {
    const assistant = new Assistant()
    const { write, next, close, ended } = await openRawSession(tools, log, finish)
    let isOpen = true
    void ended.then(() => {
      isOpen = false
    })
    await assistant.client.connect({
      async start() {
        void (async () => {
          for (let message = await next(); isOpen && message !== null; message = await next()) this.onmessage?.(message)
        })()
      },
      send: async (message) => write(`${JSON.stringify(message)}\n`),
      close,
    })
    return assistant
  }

  async call(name: string, args: Record<string, unknown> = {}): Promise<Called> {
    const { content, structuredContent, isError } = await this.client.callTool({ name, arguments: args })
    const [first] = content
    return { text: first?.type === 'text' ? first.text : '', data: structuredContent, isError: isError === true }
  }
}

/** A stand-in and an assistant that uses it. */
export async function openAssistant(
  options: ServerOptions = {},
  finish: Finish = onTestFinished,
): Promise<{ service: Understudy; assistant: Assistant; tools: readonly AssistantTool[] }> {
  const service = await startUnderstudy({ seed: 42, now: '2026-01-15T09:00:00Z', frozen: true, ...options })
  finish(() => service.stop())
  const tools = await connectTools(targetOf(service, options))
  return { service, tools, assistant: await Assistant.with(tools, SILENT, finish) }
}

function targetOf(
  { adminUrl = '', apiKey }: Understudy,
  { adminToken: token, overlays = [] }: ServerOptions = {},
): ToolTarget {
  return { adminUrl, token, apiKey, overlays }
}
