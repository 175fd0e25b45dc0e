import type { CommandEntry } from '../../src/cli/commands.ts'
import { commandLineHelpOf, flagOf, libraryHelpOf, type Options, usageOf } from '../../src/start/option.ts'
import { COMMAND_LINE_OPTIONS, LIBRARY_OPTIONS } from '../../src/start/option-table.ts'
import { TEST_OPTIONS } from '../../src/start/test-options.ts'

const HEAD = `# Options

<!-- Written by test/cli/options.test.ts from the tables of options of the program; change it there. -->

Each option is also a variable of the environment: \`--max-memory 64MiB\` is \`DMARC_UNDERSTUDY_MAX_MEMORY=64MiB\`, and an
argument wins. If an option is given several times, the last value counts, unless the option is repeatable. In the environment,
commas separate the values of a repeatable option, and a switch is \`true\` or \`1\`, \`false\` or \`0\`.
An unknown variable \`DMARC_UNDERSTUDY_…\` is refused, except those that Kubernetes and links of containers set for a service of
this name: \`…_SERVICE_HOST\`, \`…_PORT=tcp://10.0.0.1:4010\` and the like.
`
const LIBRARY = `
## startUnderstudy

The fields of the object that \`startUnderstudy\` takes. Each is optional. A field without an explanation does what the option of
[serve](#serve) with this name does.

`

const TESTS = `
## createTest and shareUnderstudy

Additional fields of \`createTest\` of \`dmarc-understudy/vitest\` and \`shareUnderstudy\` of \`dmarc-understudy/node-test\`.

`

/** The page that lists the options of each command and those of the library. What several have stands where it comes first. */
export function writePage(
  commands: readonly (Pick<CommandEntry, 'summary'> & { name: string; options: Options })[],
): string {
  const firsts = new Map<string, string>()
  const sections = commands.map(({ name, summary, options }) => {
    const own: string[][] = []
    const others = new Map<string, string[]>()
    for (const [key, option] of Object.entries(options)) {
      const row = [code(usageOf(key, option)), commandLineHelpOf(option)]
      const first = firsts.get(row.join())
      if (first === undefined) {
        firsts.set(row.join(), name)
        own.push(row)
      } else others.set(first, [...(others.get(first) ?? []), code(`--${flagOf(key, option)}`)])
    }
    const shared = [...others].map(([first, flags]) => `As with [${first}](#${first}): ${flags.join(', ')}.\n\n`)
    return `\n## ${name}\n\n${summary}\n\n${shared.join('')}${table(['argument', 'what it does'], own)}`
  })
  const head = ['field', 'type', 'what it does']
  return `${HEAD}${sections.join('')}${LIBRARY}${table(head, fieldsOf(LIBRARY_OPTIONS))}${TESTS}${table(head, fieldsOf(TEST_OPTIONS))}`
}

/** The fields; what an option of the command line explains in the same words is not explained again. */
function fieldsOf(options: Options): string[][] {
  return Object.entries(options).map(([name, option]) => {
    const help = libraryHelpOf(option)
    const isKnown = name in COMMAND_LINE_OPTIONS && help === commandLineHelpOf(option)
    return [code(name), code(option.kind.type), isKnown ? '' : help]
  })
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
  return [line(head), `|${'---|'.repeat(head.length)}\n`, ...rows.map(line)].join('')
}

/** A cell of code; a table would take a bare `|` for its end. */
function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|')}\``
}
