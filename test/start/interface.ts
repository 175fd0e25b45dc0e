import { foldToWidth } from '../../src/reports/columns.ts'
import { libraryHelpOf, type Options } from '../../src/start/option.ts'
import { LIBRARY_OPTIONS } from '../../src/start/option-table.ts'
import { TEST_OPTIONS } from '../../src/start/test-options.ts'

const HEAD = `// Written by test/start/options.test.ts from option-table.ts and test-options.ts; change it there.
import type { Plan } from '../contract/names.ts'
import type { Fixture } from '../domain/fixture.ts'
import type { Clock } from '../ground/clock.ts'
import type { Log } from '../http/log.ts'
import type { Store } from '../store/store.ts'

/** The options of a server. Each of them may be left out. */
export interface ServerOptions {
`
const OF_TESTS = `}

/** The options of \`createTest\` and of \`shareUnderstudy\`: those of the stand-in, and those of the tests. */
export interface TestOptions extends ServerOptions {
`
const WIDTH = 120

/** The source of the interfaces that users of the library see, with the help of each option as its comment. */
export function writeInterface(): string {
  return `${HEAD}${writeFields(LIBRARY_OPTIONS)}${OF_TESTS}${writeFields(TEST_OPTIONS)}}\n`
}

function writeFields(options: Options): string {
  return Object.entries(options)
    .map(([name, option]) => `${writeComment(libraryHelpOf(option))}  ${name}?: ${option.kind.type} | undefined\n`)
    .join('')
}

function writeComment(words: string): string {
  const line = `  /** ${words} */\n`
  if (line.length <= WIDTH + 1) return line
  return `  /**\n${foldToWidth(words, WIDTH - '   * '.length)
    .map((each) => `   * ${each}\n`)
    .join('')}   */\n`
}
