#!/usr/bin/env node
import { readFile } from 'node:fs/promises'
import type { Command } from './cli/command.ts'
import { describeOptions, UsageError } from './cli/options.ts'

/** Loaded when asked for: what one of them needs is no reason for another to wait. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./cli/serve.ts')).serve,
  fixture: async () => (await import('./cli/fixture.ts')).fixture,
  assumptions: async () => (await import('./cli/assumptions.ts')).assumptions,
}
/** Errors of input that a person can mend; any other is a bug and keeps its stack. */
const EXIT_CODES: Readonly<Record<string, number>> = {
  UsageError: 2,
  ContractError: 2,
  FixtureError: 2,
  FaultSetError: 2,
  StoreError: 3,
  StartError: 3,
}

async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    console.log(await overview())
    return 0
  }
  if (name === '--version' || name === '-v') {
    const manifest = await readFile(new URL('../package.json', import.meta.url), 'utf8')
    console.log((JSON.parse(manifest) as { version: string }).version)
    return 0
  }
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (load === undefined) {
    throw new UsageError(`${name} is no command; there are ${Object.keys(COMMANDS).join(', ')}`)
  }
  const command = await load()
  const end = args.indexOf('--')
  if ((end < 0 ? args : args.slice(0, end)).some((arg) => arg === '--help' || arg === '-h')) {
    console.log(`${command.summary}\n\nUsage: dmarc-understudy ${command.usage}\n\n${describeOptions(command.options)}`)
    return 0
  }
  return command.run(args, process.env)
}

async function overview(): Promise<string> {
  const commands = await Promise.all(Object.values(COMMANDS).map((load) => load()))
  const rows = commands.map(({ usage, summary }) => `  ${usage}\n      ${summary}`)
  return `A stateful stand-in for a service that monitors domains and reports their DMARC status.

Usage: dmarc-understudy COMMAND [options]

${rows.join('\n')}

dmarc-understudy COMMAND --help lists the options of a command.`
}

function explain(error: unknown): { message: string; exitCode: number } {
  const { name, message, stack } = error as Error
  const exitCode = EXIT_CODES[name]
  // What a person gave may hold line breaks; the answer is one line all the same.
  if (exitCode !== undefined) return { message: message.replaceAll(/\s*\n\s*/g, ' '), exitCode }
  return { message: stack ?? String(error), exitCode: 3 }
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Whoever reads the output may have seen enough of it: `dmarc-understudy assumptions | head`.
  if (error.code === 'EPIPE') return
  console.error(`dmarc-understudy: standard output cannot be written (${error.code}); send it somewhere else`)
  process.exit(3)
})

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  const { message, exitCode } = explain(error)
  console.error(`dmarc-understudy: ${message}`)
  process.exitCode = exitCode
}
