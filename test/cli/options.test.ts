import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { UsageError } from '../../src/cli/errors.ts'
import { describeOptions, readOptions } from '../../src/cli/options.ts'
import { withServerOptions } from '../../src/cli/start.ts'
import { SILENT } from '../../src/http/log.ts'
import {
  commandLineDefaultOf,
  commandLineHelpOf,
  flagOf,
  flagsOf,
  type Option,
  type Options,
  oneOf,
  placeholderOf,
  readTexts,
  toggle,
  usageOf,
  variableFor,
  wholeNumber,
} from '../../src/start/option.ts'
import { COMMAND_LINE_OPTIONS, LIBRARY_OPTIONS, pickServerOptions } from '../../src/start/option-table.ts'
import { startUnderstudy } from '../../src/start/server.ts'

const TERMINAL = { openLog: async () => ({ log: SILENT, close: async () => {} }) }
const ROOT = join(import.meta.dirname, '../..')
const commands = await Promise.all(
  Object.entries(COMMANDS).map(async ([name, { summary, load }]) => ({ name, summary, ...(await load()) })),
)
const options = commands.flatMap(({ name, options: table }) =>
  Object.entries(table).map(([key, option]): [string, string, Option<unknown>] => [name, key, option]),
)
const pages = ['README.md', ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`)].filter((path) =>
  path.endsWith('.md'),
)
const page = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** Texts that give the option a value other than its default. */
function samplesOf(option: Option<unknown>): string[] {
  const choices = [...option.kind.type.matchAll(/'([^']+)'/g)].map(([, choice = '']) => choice)
  const samples = [
    '7',
    '8',
    'true',
    'false',
    '2026-01-15T09:00:00Z',
    '64MiB',
    'http://one.example',
    'redis://one.example',
    'one',
    'other',
    'API_URL={baseUrl}',
    'json=report.json',
    ...choices,
  ]
  return samples.filter((sample) => {
    const result = readTexts(option, [sample])
    return 'value' in result && result.value !== commandLineDefaultOf(option)
  })
}

describe('every option', () => {

  it.each(commands)('of $name is in its help once, with its words', ({ options: table }) => {
    const described = [...describeOptions(table).matchAll(/^ {2}(--.+?)(?: {2,}|\n {2,})(\S.*)$/gm)]
    const expected = Object.entries(table).map(([key, option]) => [usageOf(key, option), commandLineHelpOf(option)])
    expect(described.map(([, ...parts]) => parts)).toEqual(expected)
  })

  it.each(commands)(
    'of $name is read and refused alike as an argument and from the environment',
    ({ options: table }) => {
      const read = (args: string[], environment: NodeJS.ProcessEnv = {}) => readOptions(table, args, environment).values
      for (const [key, option] of Object.entries<Option<unknown>>(table)) {
        const [flag, variable] = [`--${flagOf(key, option)}`, variableFor(flagOf(key, option))]
        const samples = samplesOf(option)
        expect(samples, flag).not.toEqual([])
        for (const sample of samples) {
          const value = read([`${flag}=${sample}`])[key]
          expect(value).not.toEqual(read([])[key])
          expect(read([], { [variable]: sample })[key]).toEqual(value)
          expect(option.kind.fits(value)).toBe(true)
        }
        const wrong = placeholderOf(option) === undefined ? 'perhaps' : ''
        // A secret is not repeated.
        const named = option.kind.shows === undefined ? wrong : option.kind.shows(wrong)
        const shown = named === undefined ? '' : ` ${named || '""'}`
        const refusal = (source: string) => new UsageError(`${source}${shown}: ${option.kind.remedy}`)
        expect(() => read([`${flag}=${wrong}`])).toThrow(refusal(flag))
        expect(() => read([], { [variable]: wrong })).toThrow(refusal(variable))
      }
    },
  )

  it.each(pages)('that %s shows is one of the program', (path) => {
    const flags = new Map(
      commands.map(({ name, options: table }) => [
        name,
        Object.entries(table).flatMap(([key, option]) => flagsOf(key, option).map((flag) => `--${flag}`)),
      ]),
    )
    const all = [...flags.values(), '--version'].flat()
    const text = page(path)
    const wrong: string[] = []
    const check = (shown: string, known: readonly string[] = []) => {
      for (const [flag] of shown.matchAll(/(?<![\w-])--[a-z][a-z-]*/g)) if (!known.includes(flag)) wrong.push(flag)
    }
    for (const [, shown = ''] of text.matchAll(/`(--[a-z][^`\n]*)`/g)) check(shown, all)
    for (const [, shown = ''] of text.matchAll(/npm start -- ([^#`\n]*)/g)) check(shown, flags.get('serve'))
    for (const [, name = '', shown = ''] of text.matchAll(/dmarc-understudy ([a-z]+)([^#`\n]*)/g)) {
      if (flags.has(name)) check(shown, flags.get(name))
    }
    const variables = options.flatMap(([, key, option]) => flagsOf(key, option).map(variableFor))
    for (const [variable] of text.matchAll(/DMARC_UNDERSTUDY_[A-Z_]*[A-Z]/g)) {
      if (!variables.includes(variable)) wrong.push(variable)
    }
    expect(wrong).toEqual([])
  })
})

describe('a command with more options than those of a server', () => {
  const TABLE = {
    ...COMMAND_LINE_OPTIONS,
    port: { ...COMMAND_LINE_OPTIONS.port, commandLineDefault: 0 },
    jobs: { kind: wholeNumber(1, 64), help: 'How many at a time.', default: 1 },
    order: { kind: oneOf(['random', 'fixed']), help: 'Which comes first.' },
    bail: { kind: toggle, help: 'Stop at the first failure.', default: false },
  } as const satisfies Options

  it('reads both, with the types of both', () => {
    const args = ['--jobs', '3', '--jobs', '2', '--no-admin', '--overlay', 'a', '--overlay=b', 'command']
    const { values, given, sources, positionals } = readOptions(TABLE, args, { DMARC_UNDERSTUDY_BAIL: '1' })
    expectTypeOf(values.jobs).toEqualTypeOf<number>()
    expectTypeOf(values.order).toEqualTypeOf<'random' | 'fixed' | undefined>()
    expectTypeOf(values.logLevel).toEqualTypeOf<'info' | 'warn' | 'error' | 'silent'>()
    expectTypeOf(values.overlays).toEqualTypeOf<readonly string[]>()
    expect(values).toMatchObject({ jobs: 2, bail: true, admin: false, prefer: true, overlays: ['a', 'b'], port: 0 })
    expect(values.order).toBeUndefined()
    expect([...given].toSorted()).toEqual(['admin', 'bail', 'jobs', 'overlays'])
    expect(sources).toMatchObject({ jobs: '--jobs 2', bail: 'DMARC_UNDERSTUDY_BAIL 1', overlays: '--overlay b' })
    expect(sources).toMatchObject({ port: '--port 0', order: '--order', admin: '--no-admin true' })
    expect(positionals).toEqual(['command'])
  })

  it.each<[args: string, environment: NodeJS.ProcessEnv, sandboxKeys: boolean | undefined]>([
    ['', {}, undefined],
    ['--sandbox-keys', {}, true],
    ['--no-sandbox-keys', {}, false],
    ['--no-sandbox-keys=false', {}, undefined],
    ['--no-sandbox-keys --sandbox-keys', {}, true],
    ['--sandbox-keys --no-sandbox-keys', {}, false],
    ['', { DMARC_UNDERSTUDY_SANDBOX_KEYS: 'false' }, false],
    ['', { DMARC_UNDERSTUDY_NO_SANDBOX_KEYS: 'true' }, false],
    ['', { DMARC_UNDERSTUDY_NO_SANDBOX_KEYS: 'false' }, undefined],
    ['', { DMARC_UNDERSTUDY_NO_SANDBOX_KEYS: '' }, undefined],
    ['--sandbox-keys', { DMARC_UNDERSTUDY_NO_SANDBOX_KEYS: 'true' }, true],
  ])('reads a switch with two flags, %j %j, as %j', (args, environment, sandboxKeys) => {
    const { values } = readOptions(TABLE, args.split(' ').filter(Boolean), environment)
    expect(values.sandboxKeys).toBe(sandboxKeys)
  })

  it('starts a server with those that a server has', async () => {
    const reading = readOptions(TABLE, ['--jobs', '2', '--seed', '7', '--no-admin', '--fixture', 'empty'], {})
    expect(Object.keys(pickServerOptions(reading.values))).toEqual(
      Object.keys(LIBRARY_OPTIONS).filter((name) => name in COMMAND_LINE_OPTIONS),
    )
    const server = await withServerOptions(reading, TERMINAL, startUnderstudy)
    onTestFinished(() => server.stop())
    expect(server.adminUrl).toBeUndefined()
    expect(await server.account.read()).toMatchObject({ seed: 7, domains: 0 })
  })

  it('names what cannot be as it was given', async () => {
    const reading = readOptions(TABLE, [], { DMARC_UNDERSTUDY_PLAN: 'gold' })
    const message = 'DMARC_UNDERSTUDY_PLAN gold: must be one of below-stone, stone, above-stone'
    await expect(withServerOptions(reading, TERMINAL, startUnderstudy)).rejects.toThrow(new UsageError(message))
  })

  it('says of a long value as much as a line holds', () => {
    const message = /^--jobs 9{50,100}…: must be a whole number from 1 to 64$/
    expect(() => readOptions(TABLE, ['--jobs', '9'.repeat(1000)], {})).toThrow(message)
  })
})
