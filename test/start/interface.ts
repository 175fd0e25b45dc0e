import { libraryHelpOf, type Option } from '../../src/start/option.ts'
import { LIBRARY_OPTIONS } from '../../src/start/option-table.ts'

const HEAD = `// Written by test/start/options.test.ts from the table in option-table.ts; change it there.
import type { Fixture } from '../domain/fixture.ts'
import type { Clock } from '../ground/clock.ts'
import type { Log } from '../http/log.ts'
import type { Store } from '../store/store.ts'

/** The options of a server. Each of them may be left out. */
export interface ServerOptions {
`
const WIDTH = 120

/** The source of the interface that users of the library see, with the help of each option as its comment. */
export function writeInterface(): string {
  const fields = Object.entries<Option<unknown>>(LIBRARY_OPTIONS).map(
    ([name, option]) => `${writeComment(libraryHelpOf(option))}  ${name}?: ${option.kind.type} | undefined\n`,
  )
  return `${HEAD}${fields.join('')}}\n`
}

function writeComment(words: string): string {
  const line = `  /** ${words} */\n`
  if (line.length <= WIDTH + 1) return line
  return `  /**\n${wrap(words, WIDTH - '   * '.length)
    .map((each) => `   * ${each}\n`)
    .join('')}   */\n`
}

function wrap(words: string, width: number): string[] {
  const lines: string[] = []
  for (const word of words.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
