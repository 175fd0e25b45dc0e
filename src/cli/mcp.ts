import type { Tool } from '../mcp/tools.ts'
import type { Options } from '../server/option.ts'
import { COMMAND_LINE_OPTIONS } from '../server/option-table.ts'
import { startUnderstudy, type Understudy } from '../server/understudy.ts'
import { defineCommand, type Reading, readVersion } from './command.ts'
import { StartError, UsageError } from './options.ts'
import { openReadyFile } from './ready-file.ts'
import { baseUrl } from './review.ts'
import { describeStart, withServerOptions } from './start.ts'

// The tools are those of the control plane, so there is no stand-in without one.
const { admin: _, ...OF_SERVER } = COMMAND_LINE_OPTIONS

const OPTIONS = {
  attach: {
    kind: baseUrl,
    placeholder: 'ADMIN_URL',
    help: 'Use the running server whose control plane is at this address, such as http://127.0.0.1:4010/__admin.',
    defaultText: 'a stand-in of its own is started',
  },
  ...OF_SERVER,
  port: { ...OF_SERVER.port, help: 'Port of the stand-in; 0 takes any free port.', default: 0 },
  adminToken: {
    ...OF_SERVER.adminToken,
    help: `${OF_SERVER.adminToken.help} With --attach, the token of that server.`,
  },
  // A client of the protocol may show each line on standard error as an error.
  logLevel: { ...OF_SERVER.logLevel, default: 'warn' },
} as const satisfies Options

/** The options that mean something beside `--attach`. */
const OF_ATTACHED: ReadonlySet<string> = new Set(['attach', 'adminToken', 'logLevel', 'logFormat', 'exitWith'])

type McpReading = Reading<typeof OPTIONS>

export const mcp = defineCommand('mcp', OPTIONS, async (reading, terminal) => {
  const { values } = reading
  if (values.attach !== undefined) refuseOptionsOfServer(reading)
  const readyFile = openReadyFile(reading)
  const stopped = [terminal.untilStopped(), ...terminal.untilEnded(values.exitWith)]
  return withServerOptions(reading, terminal, async (options) => {
    const service = values.attach === undefined ? await startUnderstudy(options) : undefined
    try {
      if (service !== undefined) {
        for (const line of describeStart(service, reading)) terminal.printError(line)
        readyFile.write(service)
      }
      const [tools, { openSession }] = await Promise.all([findTools(reading, service), import('../mcp/session.ts')])
      const session = await openSession({ tools, version: readVersion(), ...terminal.streams, log: options.log })
      await Promise.race([session.ended, ...stopped])
      await session.close()
      readyFile.remove()
      return 0
    } finally {
      await service?.stop()
    }
  })
})

/** @throws UsageError */
function refuseOptionsOfServer({ given, sources }: McpReading): void {
  const own = [...given].find((name) => !OF_ATTACHED.has(name))
  if (own === undefined) return
  throw new UsageError(`${sources[own]}: is for a stand-in of its own; leave it out, or leave out --attach`)
}

/** @throws StartError if there is no control plane at the address of `--attach` */
async function findTools({ values, sources }: McpReading, service: Understudy | undefined): Promise<Tool[]> {
  const [{ connect }, { toolsOf }, { ownToolsOf }] = await Promise.all([
    import('../mcp/control-plane.ts'),
    import('../mcp/tools.ts'),
    import('../mcp/own-tools.ts'),
  ])
  const { attach = '', adminToken, overlays } = values
  const plane = await connect(service?.adminUrl ?? attach, adminToken).catch(({ name, message, stack }: Error) => {
    throw name === 'ControlError' ? new StartError(`${sources.attach}: ${message}`) : new Error(stack)
  })
  const terms =
    service === undefined ? { apiKey: undefined, overlays: undefined } : { apiKey: service.apiKey, overlays }
  return [...ownToolsOf(plane, terms), ...toolsOf(plane)]
}
