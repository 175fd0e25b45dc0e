import { constants, fstatSync } from 'node:fs'
import { isIPv4, Socket } from 'node:net'
import { FIXTURE_NAMES } from '../accounts/fixture.ts'
import { type Log, SILENT } from '../http/log.ts'
import { OptionError } from '../start/options.ts'
import { startUnderstudy, type Understudy } from '../start/server.ts'
import type { Command } from './command.ts'
import { StartError, UsageError } from './errors.ts'
import { choice, flag, instant, integer, list, readOptions, text } from './options.ts'

const LOG_LEVELS = ['info', 'warn', 'error', 'silent'] as const

const OPTIONS = {
  port: integer('PORT', 'Port to listen on; 0 takes any free one.', { highest: 65_535 }, 4010),
  host: text('HOST', 'Address to listen on. Default: 127.0.0.1.'),
  data: text('DIR', 'Folder that keeps the accounts, one JSON file each. Default: memory.'),
  durability: choice(
    'What a change in that folder survives: the death of the process, or also that of the machine.',
    ['rename', 'fsync'],
    'rename',
  ),
  skipDamaged: flag('Leave out a damaged account of that folder instead of not starting.'),
  fixture: text(`${FIXTURE_NAMES.join('|')}|FILE`, 'What a new account holds. Default: demo.'),
  seed: integer('SEED', "What all chance derives from. Default: the fixture's, else 42.", {
    highest: Number.MAX_SAFE_INTEGER,
  }),
  now: instant('INSTANT', 'When the clock of a new account starts, such as 2026-01-15T09:00:00Z. Default: now.'),
  frozen: flag('Let the clock of a new account stand still.'),
  apiKey: text('KEY', 'API key of the account. Default: one that derives from the seed.'),
  plan: text('PLAN', "Plan of a new account. Default: the fixture's, else stone."),
  faults: list(
    'SET|FILE[#SET]',
    'Fault rules that every new account has: flaky, quota-storm, lossy-writes, slow, or a file.',
  ),
  adminToken: text('TOKEN', 'Token of the control plane; needed on any host but a loopback address.'),
  maxAccounts: integer(
    'N',
    'How many accounts there may be; idle sandboxes make room.',
    { lowest: 1, highest: 10_000_000 },
    10_000,
  ),
  journal: integer('N', 'How many requests of each account are remembered.', { highest: 1_000_000 }, 1000),
  noSandboxKeys: flag('Let keys that begin with sandbox_ open no accounts.'),
  noPrefer: flag('Ignore the header Prefer.'),
  noSimulator: flag('Treat domains under understudy.test like any other.'),
  noAdmin: flag('Leave the control plane out.'),
  noQuotas: flag('Count requests, but refuse none.'),
  overlay: list('FILE', 'OpenAPI Overlay that changes an assumption; see the command assumptions.'),
  responseValidation: choice(
    'What happens to a response that violates the contract.',
    ['error', 'warn', 'off'],
    'error',
  ),
  logLevel: choice('What is logged, as JSON lines on standard error.', LOG_LEVELS, 'info'),
}

/** Options that say what a new account is like. */
const NEW_ACCOUNT_OPTIONS = ['fixture', 'seed', 'now', 'frozen', 'plan'] as const

export const serve: Command = {
  options: OPTIONS,

  async run(args, environment) {
    const { values, sources, positionals } = readOptions(OPTIONS, args, environment)
    if (positionals[0] !== undefined) throw new UsageError(`serve takes no argument, but was given ${positionals[0]}`)
    const { host = '127.0.0.1', logLevel } = values
    if (!isLoopback(host) && values.adminToken === undefined && !values.noAdmin) {
      throw new UsageError(`${sources.host}: others can reach this address, so give --admin-token TOKEN or --no-admin`)
    }
    const { log, close } = await openLog(logLevel)
    const { noAdmin, noQuotas, noSandboxKeys, noPrefer, noSimulator, overlay, logLevel: _, ...options } = values
    const service = await startUnderstudy({
      ...options,
      host,
      admin: !noAdmin,
      enforceQuotas: !noQuotas,
      sandboxKeys: !noSandboxKeys,
      prefer: !noPrefer,
      simulator: !noSimulator,
      overlays: overlay,
      log,
    }).catch((error) => {
      throw nameOption(error, sources) ?? error
    })
    // Before the greeting, because whoever reads it may stop the program at once.
    const stopped = untilSignal()
    const idle = service.kept ? NEW_ACCOUNT_OPTIONS.filter((name) => values[name] !== undefined) : []
    for (const name of idle) {
      console.error(`${sources[name]}: is for new accounts; the one in ${values.data} stays as it is`)
    }
    for (const reason of service.skipped) console.error(`${sources.skipDamaged}: leaves out ${reason}`)
    console.log(greeting(service, !noSandboxKeys))
    await stopped
    await service.stop()
    await close()
    return 0
  },
}

/** The error of a start in terms of the option that would mend it, if one would. */
function nameOption(error: unknown, sources: Readonly<Record<string, string>>): Error | undefined {
  if (error instanceof OptionError) return new UsageError(`${sources[error.option] ?? error.option}: ${error.remedy}`)
  const { code, syscall, address } = error as NodeJS.ErrnoException & { address?: string }
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') return undefined
  if (code === 'EADDRINUSE')
    return new StartError(`${sources['port']}: is in use on ${address}; choose another, or 0 for any free one`)
  if (code === 'EACCES') return new StartError(`${sources['port']}: is not for this user; choose one above 1023`)
  return new StartError(
    `${sources['host']}: this machine cannot listen on it (${code}); choose one of its own addresses, such as 127.0.0.1`,
  )
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

/** In milliseconds: how long a stop waits for somebody to read the rest of the log. */
const LOG_PATIENCE = 300
/** Characters of log that wait to be read; whoever starts a program and never reads its errors loses what is beyond. */
const LOG_BACKLOG = 1 << 20

async function openLog(level: (typeof LOG_LEVELS)[number]): Promise<{ log: Log; close: () => Promise<void> }> {
  if (level === 'silent') return { log: SILENT, close: async () => {} }
  const { pino } = await import('pino')
  const { mode } = fstatSync(2)
  const isPipe = (mode & constants.S_IFMT) === constants.S_IFIFO || (mode & constants.S_IFMT) === constants.S_IFSOCK
  // Written as a file, a pipe that nobody reads would hold up a thread, and with it the end of the process.
  const sink = isPipe
    ? new Socket({ fd: 2, readable: false, writable: true })
    : pino.destination({ dest: 2, sync: false })
  // A log that nobody can read any more, such as that of a closed terminal, is no reason to end the service.
  sink.on('error', () => {})
  function write(line: string): void {
    if (!(sink instanceof Socket) || sink.writableLength < LOG_BACKLOG) sink.write(line)
  }
  function close(): Promise<void> {
    return new Promise((resolve) => {
      const patience = setTimeout(() => {
        sink.destroy()
        resolve()
      }, LOG_PATIENCE)
      const finish = () => {
        clearTimeout(patience)
        resolve()
      }
      sink.once('finish', finish)
      sink.end()
    })
  }
  return { log: pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, { write }), close }
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

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}

function shellQuote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
