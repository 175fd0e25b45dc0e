import type { CommandEntry } from '../../src/cli/commands.ts'
import {
  commandLineHelpOf,
  flagsOf,
  libraryHelpOf,
  type Options,
  usageOf,
  variableFor,
} from '../../src/start/option.ts'
import { LIBRARY_OPTIONS } from '../../src/start/option-table.ts'
import { TEST_OPTIONS } from '../../src/start/test-options.ts'

const HEAD = `# Options

<!-- Written by test/cli/options.test.ts from the tables of options of the program; change it there. -->

A command takes its options as arguments or from the environment; an argument wins. If an option is given several times,
the last value counts, unless the option is repeatable. In the environment, commas separate the values of a repeatable
option, and a switch is \`true\` or \`1\`, \`false\` or \`0\`.
`
const LIBRARY = `
## startUnderstudy

The fields of the object that \`startUnderstudy\` takes. Each is optional.

`

const TESTS = `
## createTest and shareUnderstudy

Additional fields of \`createTest\` of \`dmarc-understudy/vitest\` and \`shareUnderstudy\` of \`dmarc-understudy/node-test\`.

`

/** The page that lists the options of each command and those of the library. */
export function writePage(
  commands: readonly (Pick<CommandEntry, 'summary'> & { name: string; options: Options })[],
): string {
  const sections = commands.map(({ name, summary, options }) => {
    const rows = Object.entries(options).map(([key, option]) => [
      code(usageOf(key, option)),
      flagsOf(key, option)
        .map((flag) => code(variableFor(flag)))
        .join(', '),
      commandLineHelpOf(option),
    ])
    return `\n## ${name}\n\n${summary}\n\n${table(['argument', 'environment', 'what it does'], rows)}`
  })
  const head = ['field', 'type', 'what it does']
  return `${HEAD}${sections.join('')}${LIBRARY}${table(head, fieldsOf(LIBRARY_OPTIONS))}${TESTS}${table(head, fieldsOf(TEST_OPTIONS))}`
}

function fieldsOf(options: Options): string[][] {
  return Object.entries(options).map(([name, option]) => [code(name), code(option.kind.type), libraryHelpOf(option)])
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
  return [head, head.map(() => '---'), ...rows].map(line).join('')
}

/** A cell of code; a table would take a bare `|` for its end. */
function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|')}\``
}
