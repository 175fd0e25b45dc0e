import type { Options } from '../server/option.ts'
import type { DiscreetTerminal } from './discreet-terminal.ts'

/** One command of the program. */
export interface Command {
  options: Options
  /** Resolves to the exit code: 0 success, 1 violations or failed checks, 2 wrong usage, 3 could not start. */
  run(args: readonly string[], terminal: DiscreetTerminal): Promise<number>
}
