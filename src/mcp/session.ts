import type { Readable, Writable } from 'node:stream'
import type { CallToolResult, McpServerFactory, Server } from '@modelcontextprotocol/server'
import { letters, nearestName } from '../ground/edit-distance.ts'
import type { Json } from '../ground/json.ts'
import type { Log } from '../ground/log.ts'
import { shorten } from '../ground/show.ts'
import { ControlError } from '../library/control-error.ts'
import { refuseWrongNames } from './arguments.ts'
import { LineTransport } from './line-transport.ts'
import { listResources, readInstructions, readResource } from './resources.ts'
import type { AssistantTool } from './tool.ts'

export interface SessionOptions {
  tools: readonly AssistantTool[]
  version: string
  input: Readable
  output: Writable
  log: Log
}

/** A session with an assistant. */
export interface Session {
  /** Resolves when the input has ended, or nobody reads the output, or the session was closed. */
  readonly ended: Promise<void>
  close(): Promise<void>
}

/**
 * Bytes of the longest message. The largest body of the control plane has 8 MiB, and an assistant never writes as much.
 */
export const LONGEST_MESSAGE = 10 * 2 ** 20
/** Milliseconds for the last answers after the end of the input. */
const PATIENCE = 5_000

/** Serves the protocol until the input ends. Nothing else may be written to `output`. */
export async function openSession({ tools, version, input, output, log }: SessionOptions): Promise<Session> {
  const [library, { serveStdio }] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('@modelcontextprotocol/server/stdio'),
  ])
  const { isJSONRPCNotification, isJSONRPCRequest, isJSONRPCResponse } = library
  const instructions = readInstructions()
  const createServer: McpServerFactory = () => {
    const server = new library.Server(
      { name: 'dmarc-understudy', title: 'dmarc-understudy', version },
      { capabilities: { tools: {}, resources: {} }, instructions },
    )
    offerTools(server, tools, library, log)
    offerResources(server, library)
    return server
  }
  const transport = new LineTransport(input, output, {
    longest: LONGEST_MESSAGE,
    patience: PATIENCE,
    isMessage: (value) => isJSONRPCRequest(value) || isJSONRPCNotification(value) || isJSONRPCResponse(value),
    tell: (sentence) => log.warn({}, sentence),
  })
  const handle = serveStdio(createServer, { transport, onerror: (error) => log.warn({}, error.message) })
  return { ended: transport.ended, close: () => handle.close() }
}

type ProtocolLibrary = typeof import('@modelcontextprotocol/server')

function offerTools(server: Server, tools: readonly AssistantTool[], library: ProtocolLibrary, log: Log): void {
  const described = tools.map(({ call: _, ...tool }) => tool)
  server.setRequestHandler('tools/list', () => ({ tools: described as never }))
  server.setRequestHandler('tools/call', ({ params: { name, arguments: args = {} } }) => {
    const tool = tools.find((each) => each.name === name)
    if (tool === undefined)
      throw new library.ProtocolError(library.ProtocolErrorCode.InvalidParams, unknownTool(name, tools))
    return callTool(tool, args, log)
  })
}

/** A refusal is an answer that an assistant reads, and not an error of the protocol. */
async function callTool(tool: AssistantTool, args: Json, log: Log): Promise<CallToolResult> {
  try {
    refuseWrongNames(tool, args)
    const { data, text } = await tool.call(args)
    return { content: [{ type: 'text', text }], structuredContent: data }
  } catch (error) {
    if (error instanceof ControlError)
      return { content: [{ type: 'text', text: describeRefusal(error) }], isError: true }
    log.error({ err: error }, `The tool ${tool.name} failed.`)
    const text = `The tool ${tool.name} failed, which is a mistake of dmarc-understudy; its log on standard error has the reason.`
    return { content: [{ type: 'text', text }], isError: true }
  }
}

/** The first problem and further ones, each with its place. */
function describeRefusal({ message, problems }: ControlError): string {
  const further = problems.filter((problem) => problem.message !== message)
  const lines = further.map(
    (problem) =>
      `- ${problem.field === null || problem.message.includes(problem.field) ? '' : `${problem.field}: `}${problem.message}`,
  )
  const [first] = problems
  const place = first?.field && !message.includes(first.field) ? `${first.field}: ` : ''
  return shorten([place + message, ...lines].join('\n'), LONGEST_REFUSAL)
}

const LONGEST_REFUSAL = 4_000

function unknownTool(name: string, tools: readonly AssistantTool[]): string {
  const names = tools.map((tool) => tool.name)
  const nearest = nearestName(name, names) ?? names.find((each) => letters(each) === letters(name))
  const remedy = nearest === undefined ? 'tools/list lists the tools.' : `Did you mean ${nearest}?`
  return `There is no tool ${shorten(name)}. ${remedy}`
}

function offerResources(server: Server, { ResourceNotFoundError }: ProtocolLibrary): void {
  server.setRequestHandler('resources/list', () => ({ resources: listResources() }))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }))
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const found = readResource(uri)
    if (found !== undefined) {
      return { contents: [{ uri, mimeType: found.resource.mimeType, text: found.text }] }
    }
    const uris = listResources().map((each) => each.uri)
    const nearest = nearestName(uri, uris)
    const remedy = nearest === undefined ? 'resources/list lists the resources.' : `Did you mean ${nearest}?`
    throw new ResourceNotFoundError(uri, `There is no resource ${shorten(uri)}. ${remedy}`)
  })
}
