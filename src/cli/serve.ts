import { networkInterfaces } from 'node:os'
import { isLoopback } from '../ground/hosts.ts'
import { quoteWord } from '../ground/shell-word.ts'
import type { Values } from '../server/option.ts'
import { COMMAND_LINE_OPTIONS, opensSandboxes } from '../server/option-table.ts'
import { type RunningServer, startServer } from '../server/server.ts'
import type { Command } from './command.ts'
import { readOptions, refuseOperands } from './options.ts'
import { ReadyFile } from './ready-file.ts'
import { describeStart, withServerOptions } from './start.ts'

/** The message if the program is ended while it saves. */
const UNSAVED =
  'dmarc-understudy: ended before everything was saved: what requests have counted since (quotas, fault hits) is lost; every change that was answered is kept'

export const serve: Command = {
  options: COMMAND_LINE_OPTIONS,

  async run(args, terminal) {
    const reading = readOptions(COMMAND_LINE_OPTIONS, args, terminal.environment)
    const { values, sources } = reading
    refuseOperands('serve', reading.positionals)
    const readyFile = values.readyFile === undefined ? undefined : new ReadyFile(values.readyFile, sources.readyFile)
    const orphaned = terminal.untilEnded(values.exitWith)
    return withServerOptions(reading, terminal, async (options) => {
      const service = await startServer(options)
      // Must be set before other programs read that the server is ready: they may stop it at once.
      const stopped = Promise.race([terminal.untilStopped(), ...orphaned])
      for (const line of describeStart(service, reading)) terminal.printError(line)
      try {
        readyFile?.write(service)
      } catch (error) {
        // A running server would keep the program from ending with the error.
        await service.stop()
        throw error
      }
      terminal.printWithKey(greeting(service, values))
      await stopped
      if (values.data !== undefined) terminal.endAtNextSignal(UNSAVED)
      readyFile?.remove()
      await service.stop()
      return 0
    })
  },
}

function greeting(
  { baseUrl, adminUrl, apiKey, exposed }: RunningServer,
  values: Values<typeof COMMAND_LINE_OPTIONS>,
): string {
  const { host, adminToken } = values
  const sandboxKeys = opensSandboxes(values)
  const isOpen = !isLoopback(host)
  const known = isOpen ? 'was shown at the first start' : 'the account was made with'
  const key = apiKey ?? `the one that ${known}; only its hash is kept`
  const token = adminToken === undefined ? '' : '   (it asks for the token of --admin-token)'
  const elsewhere = addressesOf(host).map((address) => baseUrl.replace(/\/\/[^/]+(?=:\d+\/)/, `//${address}`))
  return [
    'dmarc-understudy is ready.',
    '',
    `  Base URL   ${baseUrl}`,
    `  API key    ${key}`,
    ...elsewhere.map((url) => `  Elsewhere  ${url}`),
    ...(isOpen ? describeExposure(sandboxKeys, exposed) : []),
    ...(sandboxKeys ? ['  Sandbox    sandbox_mine, or any other name: a key that opens an account of its own'] : []),
    ...(adminUrl === undefined ? [] : [`  Dashboard  ${adminUrl}/${token}`]),
    '',
    '  Try it:',
    `  curl -H ${quoteWord(`Authorization: Bearer ${apiKey ?? 'YOUR_KEY'}`)} ${baseUrl}/domains`,
    ...(sandboxKeys ? [`  curl -H 'Authorization: Bearer sandbox_mine' ${baseUrl}/domains`] : []),
    '',
  ].join('\n')
}

/** The consequences of an address that other machines can reach. */
function describeExposure(sandboxKeys: boolean, exposed: readonly string[]): string[] {
  const accounts = exposed.length === 1 ? 'the account' : `${exposed.length} accounts, such as`
  return [
    '  Open       Other machines can reach this address, so keys are random and do not derive from the seed.',
    sandboxKeys
      ? '  Open       Every client that can reach it can open accounts, with keys that begin with sandbox_ (--sandbox-keys).'
      : '  Open       No key that begins with sandbox_ opens an account; --sandbox-keys lets it.',
    ...(exposed.length === 0
      ? []
      : [
          `  Open       Any program can compute a key of ${accounts} ${exposed[0]}, because it derives from the seed. Replace it.`,
        ]),
  ]
}

/** The addresses at which other machines reach a server that listens on all interfaces. */
function addressesOf(host: string): string[] {
  if (host !== '0.0.0.0' && host !== '::') return []
  const families = host === '::' ? ['IPv4', 'IPv6'] : ['IPv4']
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, family, address }) => !internal && families.includes(family) && !address.startsWith('fe80:'))
    .map(({ family, address }) => (family === 'IPv6' ? `[${address}]` : address))
}
