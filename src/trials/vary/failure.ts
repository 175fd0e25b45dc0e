import type { Redact } from '../../journal/redaction/redaction.ts'
import { findFailedTests } from '../failed-tests.ts'
import { lastLines } from '../output-tail.ts'
import type { CommandEnd } from '../running-command.ts'
import type { AlternativeReport } from './dependencies.ts'

/** The end of a failed command, for a report. */
export function describeEnd(end: CommandEnd, redact: Redact): Partial<AlternativeReport> {
  const { exitCode, signal, timedOut, output } = end
  const tests = findFailedTests(output).map(redact)
  const last = lastLines(output, redact)
  return {
    ...(exitCode !== undefined && { exit_code: exitCode }),
    ...(signal !== undefined && !timedOut && { signal }),
    ...(timedOut && { timed_out: true }),
    ...(tests.length > 0 && { tests }),
    ...(last !== '' && { output: last }),
  }
}

/** Explains in a sentence why a command that fails without alternatives cannot be judged. */
export function describeFailure(end: CommandEnd, redact: Redact): string {
  const { exitCode, signal, timedOut, seconds, output } = end
  const how = timedOut
    ? `took longer than ${Math.floor(seconds)} s`
    : exitCode === undefined
      ? `was ended by ${signal}`
      : `fails with exit code ${exitCode}`
  const last = lastLines(output, redact).split('\n').at(-1)?.trim() ?? ''
  const said = last === '' ? 'it wrote nothing' : `its last line is: ${last}`
  return `The command ${how} although nothing is varied, so there is nothing to compare with; ${said}`
}
