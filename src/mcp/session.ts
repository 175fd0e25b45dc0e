import { PassThrough, type Readable, type Writable } from 'node:stream'
import type { CallToolResult, McpServer } from '@modelcontextprotocol/server' with { 'resolution-mode': 'import' }
import { listPackageFiles, readPackageFile } from '../ground/files.ts'
import type { Json } from '../ground/json.ts'
import type { Log } from '../ground/log.ts'
import { shorten } from '../ground/show.ts'
import { nextTurn } from '../ground/timers.ts'
import { ControlError } from '../library/control-error.ts'
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
  /** Resolves when the input has ended and all its requests are answered, or when nobody reads the output. */
  readonly ended: Promise<void>
  close(): Promise<void>
}

/** In turns of the event loop, how long what has arrived may take to be read, and an answer to be written. */
const TURNS = 10

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
  const open = new Set<Promise<CallToolResult>>()
  function createServer(): McpServer {
    const server = new McpServer({ name: 'dmarc-understudy', version }, { instructions })
    for (const tool of tools) {
      const { name, call: _, ...rest } = tool
      const described = { ...rest, inputSchema: fromJsonSchema<Json>(rest.inputSchema as never, trusting) }
      server.registerTool(name, described, (args) => {
        const answer = callTool(tool, args, log)
        open.add(answer)
        return answer.finally(() => open.delete(answer))
      })
    }
    offerResources(server)
    return server
  }
  // The transport of the library drops what is open when its input ends, so that of this one never does.
  const lines = new PassThrough()
  input.pipe(lines, { end: false })
  const transport = new StdioServerTransport(lines, output)
  const handle = serveStdio(createServer, { transport, onerror: ({ message }) => log.warn({}, message) })
  const ended = new Promise<void>((resolve) => {
    input.once('end', async () => {
      // What has arrived is read, and its answers are written, in some turns of the event loop.
      for (let turn = 0; turn < TURNS; turn++) {
        await nextTurn()
        if (open.size > 0) turn = 0
        await Promise.all(open)
      }
      resolve()
    })
    for (const stream of [input, output]) {
      stream.once('error', () => resolve())
      stream.once('close', () => (stream === input && input.readableEnded) || resolve())
    }
  })
  return {
    ended,
    async close() {
      // A stream that is read would keep the program alive.
      input.unpipe(lines).pause()
      await handle.close()
    },
  }
}

/** A refusal is an answer that an assistant reads, and not an error of the protocol. */
async function callTool(tool: Tool, args: Json, log: Log): Promise<CallToolResult> {
  try {
    refuseWrongNames(tool, args)
    return { content: [{ type: 'text', text: await tool.call(args) }] }
  } catch (error) {
    const isExpected = error instanceof ControlError
    if (!isExpected) log.error({ err: error }, `The tool ${tool.name} failed.`)
    const text = isExpected
      ? describeRefusal(error)
      : `The tool ${tool.name} failed, which is a mistake of dmarc-understudy; its log on standard error has the reason.`
    return { content: [{ type: 'text', text }], isError: true }
  }
}

/** The first problem and further ones, each with its place. */
function describeRefusal({ message, problems }: ControlError): string {
  const others = problems.filter((each) => each.message !== message)
  return shorten([message, ...others.map((each) => `- ${each.field ?? ''}: ${each.message}`)].join('\n'), 4_000)
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
