import type { Readable, Writable } from 'node:stream'
import type { CallToolResult, McpServer } from '@modelcontextprotocol/server'
import type { Json } from '../ground/json.ts'
import type { Log } from '../ground/log.ts'
import { listPackageFiles, readPackageFile } from '../ground/package-files.ts'
import { ToolError } from './answer.ts'
import { refuseWrongNames, type Tool } from './tools.ts'

export interface SessionOptions {
  tools: readonly Tool[]
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

/** The page for an assistant. What comes before its first section is also told at the beginning of a session. */
const GUIDE = 'docs/assistants-guide.md'

/** Serves the protocol until the input ends. Nothing else may be written to `output`. */
export async function openSession({ tools, version, input, output, log }: SessionOptions): Promise<Session> {
  const [{ McpServer, fromJsonSchema }, { serveStdio, StdioServerTransport }] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('@modelcontextprotocol/server/stdio'),
  ])
  const [beginning = ''] = readText(GUIDE).split('\n## ')
  const instructions = beginning.replace(/^# .+\n/, '').trim()
  // The control plane checks the arguments, and says of a wrong one what would be right.
  const trusting = { getValidator: () => (data: unknown) => ({ valid: true, data, errorMessage: undefined }) as never }
  function createServer(): McpServer {
    const server = new McpServer({ name: 'dmarc-understudy', version }, { instructions })
    for (const tool of tools) {
      const { name, call: _, ...rest } = tool
      const described = { ...rest, inputSchema: fromJsonSchema<Json>(rest.inputSchema as never, trusting) }
      server.registerTool(name, described, (args) => callTool(tool, args, log))
    }
    offerResources(server)
    return server
  }
  const transport = new StdioServerTransport(input, output)
  const handle = serveStdio(createServer, { transport, onerror: ({ message }) => log.warn({}, message) })
  const ended = new Promise<void>((resolve) => {
    for (const name of ['end', 'close', 'error']) input.once(name, resolve)
    for (const name of ['close', 'error']) output.once(name, resolve)
  })
  return { ended, close: () => handle.close() }
}

/** A refusal is an answer that an assistant reads, and not an error of the protocol. */
async function callTool(tool: Tool, args: Json, log: Log): Promise<CallToolResult> {
  try {
    refuseWrongNames(tool, args)
    return { content: [{ type: 'text', text: await tool.call(args) }] }
  } catch (error) {
    const isExpected = error instanceof ToolError
    if (!isExpected) log.error({ err: error }, `The tool ${tool.name} failed.`)
    const text = isExpected
      ? error.message
      : `The tool ${tool.name} failed, which is a mistake of dmarc-understudy; its log on standard error has the reason.`
    return { content: [{ type: 'text', text }], isError: true }
  }
}

/** The files of the package that are useful to an assistant, the guide first. */
function offerResources(server: McpServer): void {
  const pages = listPackageFiles('docs')
    .filter((name) => name.endsWith('.md') && `docs/${name}` !== GUIDE)
    .toSorted()
    .map((name) => `docs/${name}`)
  for (const path of [GUIDE, ...pages, 'openapi.yaml', 'src/admin/openapi.yaml', 'fixtures/fixture.schema.json']) {
    const uri = `dmarc-understudy:///${path}`
    const mimeType = TYPES[path.slice(path.lastIndexOf('.'))] ?? 'text/plain'
    const [, title = path] = /^# (.+)$/m.exec(path.endsWith('.md') ? readText(path) : '') ?? []
    server.registerResource(path, uri, { title, mimeType }, () => ({
      contents: [{ uri, mimeType, text: readText(path) }],
    }))
  }
}

const TYPES: Readonly<Record<string, string>> = {
  '.md': 'text/markdown',
  '.yaml': 'application/yaml',
  '.json': 'application/schema+json',
}

function readText(path: string): string {
  return readPackageFile(path).toString()
}
