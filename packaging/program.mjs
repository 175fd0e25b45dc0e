// The command line of the executable. A part of it is CommonJS, which cannot wait at its top, as src/cli.ts does.
import { runProgram } from '../src/cli/program.ts'
import { openProcessTerminal } from '../src/cli/terminal.ts'

/** Runs a command to its end. Resolves to the exit code. */
export function run(args) {
  return runProgram(args, openProcessTerminal())
}
