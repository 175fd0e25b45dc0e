import { stripVTControlCharacters } from 'node:util'
import type { AlternativeReport } from '../../evidence/dependencies.ts'
import { redactorForAll } from '../../journal/redaction/redaction.ts'
import type { Secrets } from '../../journal/redaction/secrets.ts'
import { findFailedTests } from '../failed-tests.ts'
import type { CommandEnd } from '../running-command.ts'

/** The most lines and characters at the end of an output that are reported. */
export const LINES = 12
export const CHARACTERS = 2_000

/** The end of a failed command, for a report. */
export function describeEnd(end: CommandEnd, secrets: Secrets): Partial<AlternativeReport> {
  const { exitCode, signal, timedOut, output } = end
  const tests = findFailedTests(output).map(redactorForAll(secrets))
  const last = lastLines(output, secrets)
  return {
    ...(exitCode !== undefined && { exit_code: exitCode }),
    ...(signal !== undefined && !timedOut && { signal }),
    ...(timedOut && { timed_out: true }),
    ...(tests.length > 0 && { tests }),
    ...(last !== '' && { output: last }),
  }
}

/** Explains in a sentence why a command that fails without alternatives cannot be judged. */
export function describeFailure(end: CommandEnd, secrets: Secrets): string {
  const { exitCode, signal, timedOut, seconds, output } = end
  const how = timedOut
    ? `took longer than ${Math.floor(seconds)} s`
    : exitCode === undefined
      ? `was ended by ${signal}`
      : `fails with exit code ${exitCode}`
  const last = lastLines(output, secrets).split('\n').at(-1)?.trim() ?? ''
  const said = last === '' ? 'it wrote nothing' : `its last line is: ${last}`
  return `The command ${how} although nothing is varied, so there is nothing to compare with; ${said}`
}

/** The end of the output, without colours and secrets. */
export function lastLines(output: string, secrets: Secrets): string {
  const text = stripVTControlCharacters(output).trimEnd()
  const redacted = redactorForAll(secrets)(text.slice(-2 * CHARACTERS))
  return redacted.split('\n').slice(-LINES).join('\n').slice(-CHARACTERS)
}
