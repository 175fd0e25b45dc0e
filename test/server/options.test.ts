import { describe, expect, it } from 'vitest'
import { OptionError, type ServerOptions, startUnderstudy, systemClock } from '../../src/index.ts'
import { flagsOf, type Option, readTexts } from '../../src/server/option.ts'
import { COMMAND_LINE_OPTIONS, LIBRARY_OPTIONS } from '../../src/server/option-table.ts'
import { completeOptions } from '../../src/server/options.ts'

describe('the table of options', () => {
  it('has no flag twice', () => {
    const flags = Object.entries<Option<unknown>>(COMMAND_LINE_OPTIONS).flatMap(([name, option]) =>
      flagsOf(name, option),
    )
    expect(flags).toEqual([...new Set(flags)])
  })
})

describe('an option that is not given', () => {
  it.each<[options: ServerOptions]>([
    [{}],
    [Object.fromEntries(Object.keys(LIBRARY_OPTIONS).map((name) => [name, undefined]))],
  ])('has its default: %j', (options) => {
    expect(completeOptions(options)).toEqual({
      port: 0,
      host: '127.0.0.1',
      listen: true,
      durability: 'rename',
      storePrefix: 'dmarc-understudy',
      fixture: 'demo',
      faults: [],
      maxAccounts: 10_000,
      journal: 1000,
      sandboxKeys: true,
      prefer: true,
      simulator: true,
      admin: true,
      cors: [],
      enforceQuotas: true,
      overlays: [],
      responseValidation: 'error',
      log: { info: expect.any(Function), warn: expect.any(Function), error: expect.any(Function) },
      clock: systemClock,
    })
  })
})

describe('a text means', () => {
  it.each<[name: keyof typeof COMMAND_LINE_OPTIONS, written: string[], result: object]>([
    ['port', ['0080'], { value: 80 }],
    ['durability', ['fsync'], { value: 'fsync' }],
    ['frozen', ['1'], { value: true }],
    ['frozen', [''], { value: false }],
    ['frozen', ['yes'], { wrong: 'yes' }],
    ['faults', ['slow', 'a.json#b'], { value: ['slow', 'a.json#b'] }],
    ['adminToken', ['two words'], { wrong: 'two words' }],
    ['now', ['2026-01-15T10:00:00+01:00'], { value: '2026-01-15T10:00:00+01:00' }],
    ['store', ['valkey://cache.example'], { value: 'valkey://cache.example' }],
    ['store', ['http://cache.example'], { wrong: 'http://cache.example' }],
    ['storePrefix', ['team{1}'], { wrong: 'team{1}' }],
    ['fixture', [''], { wrong: '' }],
  ])('for %s, written as %j: %j', (name, written, result) => {
    expect(readTexts<unknown>(COMMAND_LINE_OPTIONS[name], written)).toEqual(result)
  })
})

describe('sandboxes are opened', () => {
  it.each<[host: string, given: boolean | undefined, opened: boolean]>([
    ['127.0.0.1', undefined, true],
    ['127.0.0.1', false, false],
    ['0.0.0.0', undefined, false],
    ['0.0.0.0', true, true],
  ])('on %s, asked %j: %j', (host, sandboxKeys, opened) => {
    expect(completeOptions({ host, sandboxKeys }).sandboxKeys).toBe(opened)
  })
})

async function refusalOf(options: object): Promise<OptionError> {
  const error = await startUnderstudy(options).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(OptionError)
  return error as OptionError
}

const API_KEY = 'must be 1 to 200 visible ASCII characters without spaces.'

it.each<[ServerOptions, message: string]>([
  [{ apiKey: 'a\nb' }, `apiKey "a\\nb": ${API_KEY}`],
  [{ signal: {} as AbortSignal }, 'signal {}: must be the signal of an AbortController.'],
  [{ store: {} as string }, expect.stringMatching(/^store {}: must be a URL such as redis:/)],
])('a start with %j is refused', async (options, message) => {
  expect((await refusalOf(options)).message).toEqual(message)
})

describe('an object of the user', () => {
  const log = ['info', 'warn', 'error']
  const methods = Object.fromEntries(log.map((name) => [name, () => {}]))

  it.each(log)('as log is refused without the method %s', async (method) => {
    expect(completeOptions({ log: methods as never })).toBeDefined()
    const error = await refusalOf({ log: { ...methods, [method]: undefined } })
    expect(error.remedy).toBe(`must be an object with the methods ${log.join(', ')}`)
  })

  it.each<[what: string, clock: unknown]>([
    ['a function that returns a Date', () => new Date(0)],
    ['a function that returns no time', () => Number.NaN],
  ])('as clock is refused when it is %s', async (_, clock) => {
    const message = /^clock .+: must be a function that returns milliseconds as a number\.$/
    await expect(startUnderstudy({ clock } as ServerOptions)).rejects.toThrow(message)
  })
})
