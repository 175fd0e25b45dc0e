import { printable, showWritten } from '../ground/show.ts'
import type { CommandError } from '../trials/command.ts'
import { readVersion } from './command.ts'
import { COMMANDS } from './commands.ts'
import { type DiscreetTerminal, makeDiscreet } from './discreet-terminal.ts'
import { UsageError } from './errors.ts'
import { describeOptions, refuseUnknownVariables, suggest } from './options.ts'
import type { Terminal } from './terminal.ts'

/**
 * Exit codes by the name of the error, so that no class must be loaded. These errors are mistakes of the user. Any
 * other error is a bug and is printed with its stack.
 */
const EXIT_CODES: Readonly<Record<string, number>> = {
  UsageError: 2,
  ContractError: 2,
  EvidenceError: 2,
  FixtureError: 2,
  FaultSetError: 2,
  StoreError: 3,
  StartError: 3,
}

/** Runs the command that the arguments name. An error becomes one line on standard error. Resolves to the exit code. */
export async function runProgram(args: readonly string[], open: Terminal): Promise<number> {
  const terminal = makeDiscreet(open, args)
  try {
    refuseMissingFolder()
    return await runCommand(args, terminal)
  } catch (error) {
    const { message, exitCode } = explain(error)
    terminal.printError(`dmarc-understudy: ${message}`)
    return exitCode
  }
}

/** Libraries read the working folder while they load. Without this check, a missing folder would print a stack. */
function refuseMissingFolder(): void {
  try {
    process.cwd()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(`the working folder is not there any more (${code}); change into another one`)
  }
}

async function runCommand([name, ...args]: readonly string[], terminal: DiscreetTerminal): Promise<number> {
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    terminal.print(overview())
    return 0
  }
  if (name === '--version' || name === '-v') {
    terminal.print(readVersion())
    return 0
  }
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (entry === undefined) {
    throw new UsageError(`${showWritten(name)} is no command; ${suggest(name, Object.keys(COMMANDS))}`)
  }
  const { usage, summary, load } = entry
  const command = await load()
  const end = args.indexOf('--')
  if ((end < 0 ? args : args.slice(0, end)).some((arg) => arg === '--help' || arg === '-h')) {
    terminal.print(`${summary}\n\nUsage: dmarc-understudy ${usage}\n\n${describeOptions(command.options)}`)
    return 0
  }
  const others = () => Promise.all(Object.values(COMMANDS).map(async (each) => (await each.load()).options))
  await refuseUnknownVariables(terminal.environment, command.options, others)
  return command.run(args, terminal)
}

function overview(): string {
  const rows = Object.values(COMMANDS).map(({ usage, summary }) => `  ${usage}\n      ${summary}`)
  return `A stateful stand-in for a service that monitors domains and reports their DMARC status.

Usage: dmarc-understudy COMMAND [options]

${rows.join('\n')}

dmarc-understudy COMMAND --help lists the options of a command.
dmarc-understudy --version tells the version.`
}

function explain(error: unknown): { message: string; exitCode: number } {
  const { name, message, stack } = error as Error
  // A shell uses different exit codes for the reasons why a command cannot start.
  const exitCode = name === 'CommandError' ? (error as CommandError).exitCode : EXIT_CODES[name]
  // A value of the user may contain line breaks, but the message must be one line.
  if (exitCode !== undefined) return { message: printable(message.replaceAll(/\s*\n\s*/g, ' ')), exitCode }
  return { message: stack ?? String(error), exitCode: 3 }
}
