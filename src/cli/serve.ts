import { COMMAND_LINE_OPTIONS } from '../start/option-table.ts'
import type { Understudy } from '../start/server.ts'
import type { Command } from './command.ts'
import { openLog } from './log.ts'
import { readOptions, refuseOperands } from './options.ts'
import { startForCommand } from './start.ts'

/** Options that say what a new account is like. */
const NEW_ACCOUNT_OPTIONS = ['fixture', 'seed', 'now', 'frozen', 'plan'] as const

export const serve: Command = {
  options: COMMAND_LINE_OPTIONS,

  async run(args, environment) {
    const reading = readOptions(COMMAND_LINE_OPTIONS, args, environment)
    const { values, given, sources } = reading
    refuseOperands('serve', reading.positionals)
    const { log, close } = await openLog(values.logLevel)
    const service = await startForCommand(reading, log)
    // Before the greeting, because whoever reads it may stop the program at once.
    const stopped = untilSignal()
    for (const name of NEW_ACCOUNT_OPTIONS) {
      if (!service.kept || !given.has(name)) continue
      console.error(`${sources[name]}: applies to new accounts only; the account in ${values.data} stays as it is`)
    }
    for (const reason of service.skipped) console.error(`${sources.skipDamaged}: leaves out ${reason}`)
    console.log(greeting(service, values.sandboxKeys))
    await stopped
    await service.stop()
    await close()
    return 0
  },
}

function greeting({ baseUrl, adminUrl, apiKey }: Understudy, sandboxKeys: boolean): string {
  const key = apiKey ?? 'the one that the account was made with; only its hash is kept'
  return [
    'dmarc-understudy is ready.',
    '',
    `  Base URL   ${baseUrl}`,
    `  API key    ${key}`,
    ...(sandboxKeys ? ['  Sandbox    sandbox_mine, or any other name: a key that opens an account of its own'] : []),
    ...(adminUrl === undefined ? [] : [`  Dashboard  ${adminUrl}/`]),
    '',
    '  Try it:',
    `  curl -H ${shellQuote(`Authorization: Bearer ${apiKey ?? 'YOUR_KEY'}`)} ${baseUrl}/domains`,
    ...(sandboxKeys ? [`  curl -H 'Authorization: Bearer sandbox_mine' ${baseUrl}/domains`] : []),
    '',
  ].join('\n')
}

/** Resolves at the first SIGINT or SIGTERM; a second one ends the process at once, as it would without us. */
function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    const signals = ['SIGINT', 'SIGTERM'] as const
    function stop(): void {
      for (const signal of signals) process.off(signal, stop)
      resolve()
    }
    for (const signal of signals) process.on(signal, stop)
  })
}

function shellQuote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
