import { printable, showWritten } from '../ground/show.ts'
import type { CommandError } from '../trials/command.ts'
import { type Command, readVersion } from './command.ts'
import { describeOptions, refuseUnknownVariables, suggest, UsageError } from './options.ts'
import { type DiscreetTerminal, makeDiscreet, type Terminal } from './terminal.ts'

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

/** The entry of a command in the list of commands, with its loader. */
export interface CommandEntry {
  usage: string
  summary: string
  load(): Promise<Command>
}

/** The commands of the program. Each is loaded only when it runs, so it does not wait for imports of another. */
export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  serve: {
    usage: 'serve [options]',
    summary: 'Answer as the service would, until the program is told to stop.',
    load: async () => (await import('./serve.ts')).serve,
  },
  run: {
    usage: 'run [options] -- COMMAND',
    summary:
      'Run a command, such as the tests of a client, against a server of its own, and say whether the client kept the contract.',
    load: async () => (await import('./run.ts')).run,
  },
  vary: {
    usage: 'vary [options] -- COMMAND',
    summary:
      'Run a command against stand-ins that choose other values where the specification leaves a choice, and say on which choices it depends.',
    load: async () => (await import('./vary.ts')).vary,
  },
  explore: {
    usage: 'explore [options] -- COMMAND',
    summary: 'Run a command with one fault after the other, and say which faults it does not survive.',
    load: async () => (await import('./explore.ts')).explore,
  },
  verify: {
    usage: 'verify [options] --base-url URL --api-key KEY',
    summary:
      'Ask a service within its quotas whether it keeps the contract and what it chooses where the specification leaves a choice, and undo the changes.',
    load: async () => (await import('./verify.ts')).verify,
  },
  check: {
    usage: 'check [options] FILE.har...',
    summary:
      'Read recorded traffic of a service, and say whether the service and its clients kept the contract and its rules.',
    load: async () => (await import('./check.ts')).check,
  },
  proxy: {
    usage: 'proxy --target URL [options]',
    summary: 'Pass requests on to a service, and say where it and its clients violated the contract.',
    load: async () => (await import('./proxy.ts')).proxy,
  },
  calibrate: {
    usage: 'calibrate [options] [FILE.har...]',
    summary:
      'Turn the choices that a service was seen to make, in recordings or in evidence, into an overlay for serve --overlay.',
    load: async () => (await import('./calibrate.ts')).calibrate,
  },
  fixture: {
    usage: 'fixture [options]',
    summary: 'Invent an account and write it as a fixture file for serve --fixture.',
    load: async () => (await import('./fixture.ts')).fixture,
  },
  assumptions: {
    usage: 'assumptions [options] [ID] | assumptions overlay ID [N]',
    summary:
      'List what the specification leaves open and what is chosen, say more of ID, or print the overlay that chooses alternative N (default: 1) of ID.',
    load: async () => (await import('./assumptions.ts')).assumptions,
  },
  mcp: {
    usage: 'mcp [options] | mcp --attach ADMIN_URL',
    summary:
      'Serve the Model Context Protocol on standard input and output, so that a coding assistant can use a stand-in.',
    load: async () => (await import('./mcp.ts')).mcp,
  },
}
