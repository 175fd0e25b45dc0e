import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import type { assumptions } from '../support/alternatives.ts'
import { expectRefusal, it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { ready } from '../support/running-program.ts'
import { OPTIONS_OF_SERVE } from './commands.ts'
import { overlayWith, withBodyLimit } from './overlays.ts'

const withLowestPlan = (lowest: string) => overlayWith("$['x-settings'].plans.value", { lowest })

describe('the environment', () => {
  const variable = (option: string) => `DMARC_UNDERSTUDY_${option.toUpperCase().replaceAll('-', '_')}`

  it('gives the value of every option that is not given', async ({ start, folder }) => {
    const environment = {
      DMARC_UNDERSTUDY_PORT: '0',
      DMARC_UNDERSTUDY_HOST: '0.0.0.0',
      DMARC_UNDERSTUDY_DATA: join(folder, 'accounts'),
      DMARC_UNDERSTUDY_DURABILITY: 'fsync',
      DMARC_UNDERSTUDY_SKIP_DAMAGED: 'true',
      DMARC_UNDERSTUDY_FIXTURE: 'empty',
      DMARC_UNDERSTUDY_SEED: '7',
      DMARC_UNDERSTUDY_NOW: '2026-01-15T09:30:00Z',
      DMARC_UNDERSTUDY_FROZEN: 'true',
      DMARC_UNDERSTUDY_API_KEY: 'key_of_the_environment',
      DMARC_UNDERSTUDY_PLAN: 'above-stone',
      DMARC_UNDERSTUDY_FAULTS: `${join(folder, 'own.json')}#gone,${join(folder, 'own.json')}#lost`,
      DMARC_UNDERSTUDY_ADMIN_TOKEN: 'T',
      DMARC_UNDERSTUDY_MAX_ACCOUNTS: '1',
      DMARC_UNDERSTUDY_SANDBOX_IDLE: '30m',
      DMARC_UNDERSTUDY_MAX_MEMORY: '512MiB',
      DMARC_UNDERSTUDY_MAX_CONNECTIONS: '100',
      DMARC_UNDERSTUDY_JOURNAL: '0',
      DMARC_UNDERSTUDY_SANDBOX_KEYS: 'false',
      DMARC_UNDERSTUDY_NO_SANDBOX_KEYS: 'true',
      DMARC_UNDERSTUDY_NO_PREFER: 'true',
      DMARC_UNDERSTUDY_NO_SIMULATOR: 'true',
      DMARC_UNDERSTUDY_NO_ADMIN: 'true',
      DMARC_UNDERSTUDY_CORS: 'http://one.example,http://two.example',
      DMARC_UNDERSTUDY_NO_QUOTAS: '1',
      DMARC_UNDERSTUDY_OVERLAY: `${withBodyLimit(10)},${withLowestPlan('above-stone')}`,
      DMARC_UNDERSTUDY_RESPONSE_VALIDATION: 'warn',
      DMARC_UNDERSTUDY_LOG_LEVEL: 'silent',
      DMARC_UNDERSTUDY_LOG_FORMAT: 'json',
      DMARC_UNDERSTUDY_READY_FILE: join(folder, 'ready.json'),
      DMARC_UNDERSTUDY_EXIT_WITH_PARENT: 'true',
    }
    // Accounts are in a folder or in a shared store.
    const others = OPTIONS_OF_SERVE.map(variable).filter((name) => !name.startsWith('DMARC_UNDERSTUDY_STORE'))
    expect(Object.keys(environment)).toEqual(others)
    const once = (operation: string, status: number) => ({
      rules: [{ match: { operation }, times: 1, respond: { status } }],
    })
    const sets = { gone: once('deleteDomains', 410), lost: once('addDomains', 504), never: once('listDmarc', 502) }
    writeFileSync(join(folder, 'own.json'), JSON.stringify(sets))
    const broken = join(folder, 'accounts', 'account-broken.json')
    mkdirSync(join(folder, 'accounts'))
    writeFileSync(broken, '')
    const service = await ready(start(['serve'], { environment }))
    expect(service.apiKey).toBe('key_of_the_environment')
    const kept = JSON.parse(readFileSync(join(folder, 'accounts', 'account-default.json'), 'utf8'))
    expect(kept.account).toMatchObject({ seed: 7, clock: { frozenAt: Date.parse('2026-01-15T09:30:00Z') } })
    expect(kept.account.faults.map(({ set }: { set: string }) => set)).toEqual(['gone', 'lost'])
    for (let sent = 0; sent < 11; sent++) expect((await service.request('/dmarc')).status).toBe(200)
    const { headers, body } = await service.request('/domains')
    expect(headers.get('x-ratelimit-reset')).toBe(`${Date.parse('2026-01-15T10:00:00Z') / 1000}`)
    expect(body).toEqual({ success: true, data: { domains: [] } })
    const page = { headers: { origin: 'http://two.example' } }
    const read = await service.request('/domains', page)
    expect(read.headers.get('access-control-allow-origin')).toBe('http://two.example')
    const tooLong = { method: 'POST', body: JSON.stringify({ name: 'Marketing' }) }
    expect((await service.request('/domaingroups', tooLong)).status).toBe(413)
    expect((await fetch(`${service.origin}/__admin/health`)).status).toBe(404)
    service.stop()
    const stderr = `DMARC_UNDERSTUDY_SKIP_DAMAGED true: leaves out ${broken}: is empty\n`
    expect(await service.ended).toMatchObject({ code: 0, stderr })
  })

  it.for(['stone', 'below-stone'])(
    'of several overlays separated by commas takes each, as the plan %s shows',
    async (plan, { serve }) => {
      const overlays = [withBodyLimit(10), withLowestPlan('below-stone')]
      const service = await serve(['--plan', plan], { environment: { DMARC_UNDERSTUDY_OVERLAY: overlays.join(',') } })
      expect((await service.request('/domains')).status).toBe(200)
      expect((await service.request('/domaingroups', { method: 'POST', body: '{"name":"ab"}' })).status).toBe(413)
    },
  )

  it('gives way to what is given as an option, be it wrong or not', async ({ serve }) => {
    const service = await serve(['--fixture', 'empty', '--overlay', withBodyLimit(1000)], {
      environment: {
        DMARC_UNDERSTUDY_PORT: 'x',
        DMARC_UNDERSTUDY_FIXTURE: 'nowhere',
        DMARC_UNDERSTUDY_OVERLAY: 'nowhere.yaml',
      },
    })
    expect((await service.request('/domains')).body).toMatchObject({ data: { domains: [] } })
  })

  it.for(['0', 'false', ''])('leaves a switch off with %j', async (value, { serve }) => {
    const { origin } = await serve([], { environment: { DMARC_UNDERSTUDY_NO_ADMIN: value } })
    expect((await fetch(`${origin}/__admin/health`)).status).toBe(200)
  })

  it.for<[variable: string, value: string, status: number]>([
    ['SANDBOX_KEYS', 'true', 200],
    ['SANDBOX_KEYS', 'false', 401],
    ['NO_SANDBOX_KEYS', 'true', 401],
    ['NO_SANDBOX_KEYS', 'false', 200],
    ['NO_SANDBOX_KEYS', '', 200],
  ])('turns sandboxes on and off with %s=%s', async ([variable, value, status], { serve }) => {
    const { request } = await serve([], { environment: { [`DMARC_UNDERSTUDY_${variable}`]: value } })
    expect((await request('/domains', { headers: { authorization: 'Bearer sandbox_mine' } })).status).toBe(status)
  })

  it.each<[option: string, value: string, message: string]>([
    ['port', 'http', 'must be a whole number from 0 to 65535'],
    ['port', '', 'must be a whole number from 0 to 65535'],
    ['seed', '-1', 'must be a whole number from 0 to 9007199254740991'],
    ['now', 'tomorrow', 'must be an instant such as 2026-01-15T09:00:00Z'],
    ['log-level', 'debug', 'must be one of info, warn, error, silent'],
    ['response-validation', 'on', 'must be one of error, warn, off'],
    ['no-admin', 'maybe', 'must be true or false'],
    ['no-quotas', 'yes', 'must be true or false'],
    ['frozen', 'on', 'must be true or false'],
    ['fixture', '', 'must be the name of a ready-made fixture, the path of a file, or a fixture'],
    ['plan', 'gold', 'must be one of below-stone, stone, above-stone'],
    ['data', '', 'must be a text that is not empty'],
    ['durability', 'FSYNC', 'must be one of rename, fsync'],
    ['skip-damaged', 'some', 'must be true or false'],
    ['overlay', '', 'must be a list of texts that are not empty'],
    ['host', '0.0.0.0', 'others can reach this address, so give --admin-token TOKEN or --no-admin'],
    ['faults', '', 'must be a list of texts that are not empty'],
    ['max-accounts', '0', 'must be a whole number from 1 to 10000000'],
    ['journal', 'all', 'must be a whole number from 0 to 1000000'],
    ['sandbox-idle', 'long', 'must be a duration such as 90s, 30m, 1h or 2d'],
    ['sandbox-keys', 'no', 'must be true or false'],
    ['no-sandbox-keys', 'no', 'must be true or false'],
    ['no-prefer', 'no', 'must be true or false'],
    ['no-simulator', 'no', 'must be true or false'],
  ])('is named when its value for %s, %j, is wrong', async (option, value, message) => {
    await expectRefusal(['serve'], 2, `${variable(option)} ${value}: ${message}`, {
      environment: { [variable(option)]: value },
    })
  })

  it('is named without its value when that could be a secret', async () => {
    const refusal = `${variable('api-key')}: must be 1 to 200 visible ASCII characters without spaces`
    await expectRefusal(['serve'], 2, refusal, { environment: { [variable('api-key')]: 'two words' } })
  })

  it('gives overlays to the command assumptions as well', async () => {
    const environment = { DMARC_UNDERSTUDY_OVERLAY: withBodyLimit(10) }
    const { stdout } = await runInProcess(['assumptions', '--json'], { environment })
    const listed = JSON.parse(stdout) as typeof assumptions
    expect(listed.find(({ id }) => id === 'body-limit')?.choice).toEqual({ value: 10 })
  })
})

describe('a variable of the environment that sets no option', () => {
  it.each<[command: string, variable: string, remedy: string]>([
    ['serve', 'DMARC_UNDERSTUDY_PROT', 'did you mean DMARC_UNDERSTUDY_PORT?'],
    ['serve', 'DMARC_UNDERSTUDY_APIKEY', 'did you mean DMARC_UNDERSTUDY_API_KEY?'],
    ['assumptions', 'DMARC_UNDERSTUDY_OVERLAYS', 'did you mean DMARC_UNDERSTUDY_OVERLAY?'],
    ['fixture', 'DMARC_UNDERSTUDY_PORTS', 'did you mean DMARC_UNDERSTUDY_PORT?'],
  ])('stops %s: %s', async (command, variable, remedy) => {
    const { code, stdout, stderr } = await runInProcess([command], { environment: { [variable]: '1' } })
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: `dmarc-understudy: ${variable} is in the environment, but is no option; ${remedy}\n`,
    })
  })

  it('is told all names where none is near', async () => {
    const { code, stderr } = await runInProcess(['serve'], { environment: { DMARC_UNDERSTUDY_COLOUR: '1' } })
    expect(code).toBe(2)
    expect(stderr).toMatch(/is no option; there are DMARC_UNDERSTUDY_PORT, .*DMARC_UNDERSTUDY_DESCRIBE/)
  })

  it('is none where another command has the option, or the help is asked for', async () => {
    const environment = { DMARC_UNDERSTUDY_PORT: '0', DMARC_UNDERSTUDY_DOMAINS: '2', PORT: '1' }
    expect((await runInProcess(['assumptions', '--json'], { environment })).code).toBe(0)
    const help = await runInProcess(['serve', '--help'], { environment: { DMARC_UNDERSTUDY_PROT: '1' } })
    expect(help.code).toBe(0)
  })
})
