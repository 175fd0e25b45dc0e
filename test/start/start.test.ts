import { describe, expect, it, onTestFinished } from 'vitest'
import { OptionError, type ServerOptions, startUnderstudy } from '../../src/index.ts'
import { API_KEY, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

async function start(options: ServerOptions) {
  const service = await startUnderstudy({ fixture: 'empty', ...options })
  onTestFinished(() => service.stop())
  return service
}

describe('a start', () => {
  it.each<[ServerOptions, string]>([
    [{ seed: 1.5 }, 'seed 1.5: must be a whole number from 0 to 9007199254740991.'],
    [{ seed: -1 }, 'seed -1: must be a whole number from 0 to 9007199254740991.'],
    [{ seed: Number.NaN }, 'seed NaN: must be a whole number from 0 to 9007199254740991.'],
    [{ apiKey: '' }, 'apiKey "": must be 1 to 200 visible ASCII characters without spaces.'],
    [{ apiKey: 'a b' }, 'apiKey "a b": must be 1 to 200 visible ASCII characters without spaces.'],
    [{ apiKey: 'a\nb' }, 'apiKey "a\\nb": must be 1 to 200 visible ASCII characters without spaces.'],
    [{ plan: 'gold' }, 'plan "gold": must be one of below-stone, stone, above-stone.'],
    [{ now: 'today' }, 'now "today": must be an instant such as 2026-01-15T09:00:00Z.'],
  ])('with %j is refused', async (options, message) => {
    const error = await start(options).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(OptionError)
    expect((error as OptionError).message).toBe(message)
  })

  it('gives a key of the same limits to a kept account as to a new one', async () => {
    const data = temporaryFolder()
    await (await startUnderstudy({ fixture: 'empty', data })).stop()
    const service = await start({ data, apiKey: 'a-key-of-my-own' })
    const response = await fetch(`${service.baseUrl}/domains`, { headers: { authorization: 'Bearer a-key-of-my-own' } })
    expect(response.headers.get('x-ratelimit-limit')).toBe('30')
  })

  it('makes keys of a fixture that have no secret useless to everybody', async () => {
    const service = await startService({ fixture: 'demo' })
    for (const guess of [`${API_KEY} 0`, `${API_KEY}0`, `${API_KEY}%0A0`]) {
      const { status } = await service.send('GET', '/domains', undefined, { authorization: `Bearer ${guess}` })
      expect(status).toBe(401)
    }
  })
})
