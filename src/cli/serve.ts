import { networkInterfaces } from 'node:os'
import { isLoopback } from '../ground/hosts.ts'
import { quoteWord } from '../ground/show.ts'
import type { Values } from '../server/option.ts'
import { COMMAND_LINE_OPTIONS } from '../server/option-table.ts'
import { opensSandboxes } from '../server/options.ts'
import { type RunningServer, startServer } from '../server/server.ts'
import { defineCommand } from './command.ts'
import { openReadyFile } from './ready-file.ts'
import { describeStart, withServerOptions } from './start.ts'

export const serve = defineCommand('serve', COMMAND_LINE_OPTIONS, async (reading, terminal) => {
  const { values } = reading
  const readyFile = openReadyFile(reading)
  const orphaned = terminal.untilEnded(values.exitWith)
  return withServerOptions(reading, terminal, async (options) => {
    const service = await startServer(options)
    try {
      // Must be set before other programs read that the server is ready: they may stop it at once.
      const stopped = Promise.race([terminal.untilStopped(), ...orphaned])
      for (const line of describeStart(service, reading)) terminal.printError(line)
      readyFile.write(service)
      terminal.printWithKey(greeting(service, values))
      await stopped
      readyFile.remove()
    } finally {
      // A running server would keep the program from ending with an error.
      await service.stop()
    }
    return 0
  })
})

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
    ...(isOpen ? describeExposure(sandboxKeys, exposed).map((line) => `  Open       ${line}`) : []),
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
  const known = `Any program can compute a key of ${accounts} ${exposed[0]}, because it derives from the seed. Replace it.`
  return [
    'Other machines can reach this address, so keys are random and do not derive from the seed.',
    sandboxKeys
      ? 'Every client that can reach it can open accounts, with keys that begin with sandbox_ (--sandbox-keys).'
      : 'No key that begins with sandbox_ opens an account; --sandbox-keys lets it.',
    ...(exposed.length === 0 ? [] : [known]),
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
