import type { Command } from './command.ts'

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
