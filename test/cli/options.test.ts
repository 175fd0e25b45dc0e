import { describe, expect, it, onTestFinished } from 'vitest'
import { describeOptions, readOptions, UsageError } from '../../src/cli/options.ts'
import { COMMANDS } from '../../src/cli/program.ts'
import { withServerOptions } from '../../src/cli/start.ts'
import { SILENT } from '../../src/ground/log.ts'
import {
  flagOf,
  helpOf,
  isSwitch,
  type Option,
  placeholderOf,
  readTexts,
  remedyFor,
  usageOf,
  variableFor,
} from '../../src/server/option.ts'
import { COMMAND_LINE_OPTIONS } from '../../src/server/option-table.ts'
import { startUnderstudy } from '../../src/server/understudy.ts'

const TERMINAL = { openLog: () => ({ log: SILENT, close: async () => {} }) }
const commands = await Promise.all(
  Object.entries(COMMANDS).map(async ([name, { load }]) => ({ name, options: (await load()).options })),
)

const SAMPLES = [
  ...['7', '8', '2026-01-15T09:00:00Z', '64MiB', 'http://one.example', 'redis://one.example'],
  ...['one', 'other', 'API_URL={baseUrl}', 'json=report.json'],
]
/** Texts that give the option a value other than its default. */
function samplesOf(option: Option<unknown>): string[] {
  if (isSwitch(option)) return ['true']
  const choices = placeholderOf(option)?.split(/[|,]/) ?? []
  return [...SAMPLES, ...choices].filter((sample) => {
    const result = readTexts(option, [sample])
    return 'value' in result && result.value !== option.default
  })
}

describe('every option', () => {
  it.each(commands)('of $name is in its help once', ({ options }) => {
    const described = [...describeOptions(options).matchAll(/^ {2}(--.+?)(?: {2,}|\n {2,})(\S.*)$/gm)]
    const expected = Object.entries(options).map(([key, option]) => [usageOf(key, option), helpOf(option)])
    expect(described.map(([, ...parts]) => parts)).toEqual(expected)
  })

  it.each(commands)('of $name is read and refused alike as an argument and from the environment', ({ options }) => {
    const read = (args: string[], environment: NodeJS.ProcessEnv = {}) => readOptions(options, args, environment).values
    for (const [key, option] of Object.entries<Option<unknown>>(options)) {
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
      const refusal = (source: string) => new UsageError(`${source}${shown}: ${remedyFor(option.kind, wrong)}`)
      expect(() => read([`${flag}=${wrong}`])).toThrow(refusal(flag))
      expect(() => read([], { [variable]: wrong })).toThrow(refusal(variable))
    }
  })
})

describe('the options of a command', () => {
  it('are read in any order; of several values the last one counts, or all where the option is repeatable', () => {
    const args = ['--seed', '3', '--seed', '2', '--no-admin', '--overlay', 'a', '--overlay=b', 'command']
    const { values, positionals } = readOptions(COMMAND_LINE_OPTIONS, args, {
      ...{ DMARC_UNDERSTUDY_FROZEN: '1', DMARC_UNDERSTUDY_FAULTS: 'c,d' },
    })
    expect(values).toMatchObject({
      seed: 2,
      frozen: true,
      admin: false,
      prefer: true,
      overlays: ['a', 'b'],
      faults: ['c', 'd'],
      port: 4010,
    })
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
    // What is wrong in the environment does not count either.
    ['--sandbox-keys', { DMARC_UNDERSTUDY_NO_SANDBOX_KEYS: 'true', DMARC_UNDERSTUDY_SANDBOX_KEYS: 'x' }, true],
  ])('have a switch with two flags, of which %j %j says %j', (args, environment, sandboxKeys) => {
    const { values } = readOptions(COMMAND_LINE_OPTIONS, args.split(' ').filter(Boolean), environment)
    expect(values.sandboxKeys).toBe(sandboxKeys)
  })

  it('reach the server, which names what cannot be as it was given', async () => {
    const start = (args: string[], environment: NodeJS.ProcessEnv) =>
      withServerOptions(readOptions(COMMAND_LINE_OPTIONS, args, environment), TERMINAL, startUnderstudy)
    const server = await start(['--port', '0', '--seed', '7', '--no-admin', '--fixture', 'empty'], {})
    onTestFinished(() => server.stop())
    expect(server.adminUrl).toBeUndefined()
    expect(await server.account.read()).toMatchObject({ seed: 7, domains: 0 })
    const message = 'DMARC_UNDERSTUDY_PLAN gold: must be one of below-stone, stone, above-stone'
    await expect(start([], { DMARC_UNDERSTUDY_PLAN: 'gold' })).rejects.toThrow(new UsageError(message))
  })

  it('are named in a refusal with as much of a long value as a line holds', () => {
    const message = /^--seed 9{50,100}…: must be /
    expect(() => readOptions(COMMAND_LINE_OPTIONS, ['--seed', '9'.repeat(1000)], {})).toThrow(message)
  })
})
