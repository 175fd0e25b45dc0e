import type { Log } from '../ground/log.ts'
import { usageOf, type Values } from '../server/option.ts'
import { COMMAND_LINE_OPTIONS } from '../server/option-table.ts'
import { OptionError, pickServerOptions, refuseContradictions, type ServerOptions } from '../server/options.ts'
import type { RunningServer } from '../server/server.ts'
import { StartError, UsageError } from './options.ts'
import type { Terminal } from './terminal.ts'

type ServerValues = Values<typeof COMMAND_LINE_OPTIONS>

/** The options of a command that starts servers. The table of the command may have more or fewer than a server has. */
interface ServerReading {
  values: Partial<ServerValues> & Pick<ServerValues, 'logLevel' | 'logFormat'>
  sources: Readonly<Record<string, string>>
  given: ReadonlySet<string>
}

/**
 * Calls `work` with the options for a server, which include an open log. An error about one of them quotes it as the
 * user wrote it. @throws UsageError, StartError, and the errors of `work`
 */
export async function withServerOptions<Result>(
  { values, sources, given }: ServerReading,
  { openLog }: Pick<Terminal, 'openLog'>,
  work: (options: ServerOptions & { log: Log }) => Promise<Result>,
): Promise<Result> {
  const { log, close } = openLog(values.logLevel, values.logFormat)
  try {
    return await withNamedOptions(sources, () => {
      const options = pickServerOptions(values)
      refuseContradictions(options, given)
      return work({ ...options, log })
    })
  } finally {
    await close()
  }
}

/** Options that apply only to a new account. */
const NEW_ACCOUNT_OPTIONS = ['fixture', 'seed', 'now', 'frozen', 'plan'] as const

/** Messages about options that did not apply to a server that has started. */
export function describeStart({ kept }: RunningServer, { values, given, sources }: ServerReading): string[] {
  const unused = kept ? NEW_ACCOUNT_OPTIONS.filter((name) => given.has(name)) : []
  return unused.map(
    (name) =>
      `${sources[name]}: applies to new accounts only; the account in ${values.data ?? 'the store'} stays as it is`,
  )
}

/** Calls `start`. An error about an option of a server quotes the option as the user wrote it. */
export async function withNamedOptions<Started>(
  sources: Readonly<Record<string, string>>,
  start: () => Promise<Started>,
): Promise<Started> {
  try {
    return await start()
  } catch (error) {
    throw nameOption(error, sources) ?? error
  }
}

/** Every option that another one contradicts has a flag. */
const spellFlag = (name: string) => usageOf(name, COMMAND_LINE_OPTIONS[name as keyof typeof COMMAND_LINE_OPTIONS])

/** Converts an error to one about the option that the user must change, if there is such an option. */
function nameOption(error: unknown, sources: Readonly<Record<string, string>>): Error | undefined {
  if (error instanceof OptionError) {
    return new UsageError(`${sources[error.option] ?? error.option}: ${error.remedyAs(spellFlag)}`)
  }
  const { code, syscall, address } = error as NodeJS.ErrnoException & { address?: string }
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') return undefined
  if (code === 'EADDRINUSE')
    return new StartError(`${sources['port']}: is in use on ${address}; choose another, or 0 for any free port`)
  if (code === 'EACCES') return new StartError(`${sources['port']}: this user may not use it; choose one above 1023`)
  return new StartError(
    `${sources['host']}: this machine cannot listen on it (${code}); choose one of its own addresses, such as 127.0.0.1`,
  )
}
