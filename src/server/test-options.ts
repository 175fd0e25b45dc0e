import { type ProgramOption, remedyFor, toggle } from './option.ts'
import { OptionError } from './option-error.ts'
import { LIBRARY_OPTIONS, refuseUnknownOptions } from './option-table.ts'
import type { ServerOptions, TestOptions } from './options.ts'
import { refuseTrialOptions } from './test-service.ts'

/** The options of the tests of vitest and node:test, beside the stand-in's. */
const TEST_OPTIONS = {
  failOnViolation: { kind: toggle, default: false },
} as const satisfies {
  readonly [Name in Exclude<keyof TestOptions, keyof ServerOptions>]-?: ProgramOption<NonNullable<TestOptions[Name]>>
}

/**
 * Separates the options of the stand-in, whose accounts are empty by default, from those of the tests.
 * @throws OptionError for an option that does not exist, for a refused option of the tests, and under `run`, `vary` or
 * `explore` for one that their server cannot have
 */
export function divideTestOptions(options: TestOptions): { server: ServerOptions; failOnViolation: boolean } {
  refuseUnknownOptions(options, { ...LIBRARY_OPTIONS, ...TEST_OPTIONS })
  const { failOnViolation = TEST_OPTIONS.failOnViolation.default, ...server } = options
  const { kind } = TEST_OPTIONS.failOnViolation
  if (!kind.fits(failOnViolation)) {
    throw new OptionError('failOnViolation' as keyof ServerOptions, failOnViolation, remedyFor(kind, failOnViolation))
  }
  refuseTrialOptions(server)
  return { server: { ...server, fixture: server.fixture ?? 'empty' }, failOnViolation }
}
