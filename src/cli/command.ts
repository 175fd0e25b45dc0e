import type { Options } from './options.ts'

/** One command of the program. */
export interface Command {
  /** What follows the program's name. */
  usage: string
  summary: string
  options: Options
  /** Resolves to the exit code: 0 fine, 1 violations or failed checks, 2 wrong usage, 3 could not start or reach. */
  run(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number>
}
