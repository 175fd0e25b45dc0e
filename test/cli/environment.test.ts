import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import type { assumptions } from '../support/alternatives.ts'
import { expectRefusal, it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { ready } from '../support/running-program.ts'
import { overlayWith, withBodyLimit } from './overlays.ts'

const SLOW = { tags: ['slow'] }

const withLowestPlan = (lowest: string) => overlayWith("$['x-settings'].plans.value", { lowest })

describe('the environment', () => {
  // The tests of options hold each of them to be read alike from both; here one of each kind reaches the server.
  it('gives the value of an option that is not given', SLOW, async ({ start, folder }) => {
    const environment = Object.fromEntries(
      Object.entries({
        port: '0',
        data: join(folder, 'accounts'),
        fixture: 'empty',
        'api-key': 'key_of_the_environment',
        faults: `${join(folder, 'own.json')}#gone,${join(folder, 'own.json')}#lost`,
        'no-admin': 'true',
        'no-quotas': '1',
        overlay: `${withBodyLimit(10)},${withLowestPlan('above-stone')}`,
        plan: 'above-stone',
        'log-level': 'silent',
      }).map(([option, value]) => [`DMARC_UNDERSTUDY_${option.toUpperCase().replace('-', '_')}`, value]),
    )
    const once = (operation: string, status: number) => ({
      rules: [{ match: { operation }, times: 1, respond: { status } }],
    })
    const sets = { gone: once('deleteDomains', 410), lost: once('addDomains', 504), never: once('listDmarc', 502) }
    writeFileSync(join(folder, 'own.json'), JSON.stringify(sets))
    const service = await ready(start(['serve'], { environment }))
    expect(service.apiKey).toBe('key_of_the_environment')
    const { account } = JSON.parse(readFileSync(join(folder, 'accounts', 'account-default.json'), 'utf8'))
    expect(account.faults.map(({ set }: { set: string }) => set)).toEqual(['gone', 'lost'])
    for (let sent = 0; sent < 11; sent++) expect((await service.request('/dmarc')).status).toBe(200)
    expect((await service.request('/domains')).body).toEqual({ success: true, data: { domains: [] } })
    const tooLong = { method: 'POST', body: JSON.stringify({ name: 'Marketing' }) }
    expect((await service.request('/domaingroups', tooLong)).status).toBe(413)
    expect((await fetch(`${service.origin}/__admin/health`)).status).toBe(404)
  })

  it('gives way to what is given as an option, be it wrong or not', SLOW, async ({ serve }) => {
    const service = await serve(['--fixture', 'empty', '--overlay', withBodyLimit(1000)], {
      environment: {
        DMARC_UNDERSTUDY_PORT: 'x',
        DMARC_UNDERSTUDY_FIXTURE: 'nowhere',
        DMARC_UNDERSTUDY_OVERLAY: 'nowhere.yaml',
      },
    })
    expect((await service.request('/domains')).body).toMatchObject({ data: { domains: [] } })
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
  ])('stops %s: %s', async (command, name, remedy) => {
    const message = `${name} is in the environment, but is no option; ${remedy}`
    await expectRefusal([command], 2, message, { environment: { [name]: '1' } })
  })

  it('is told all names where none is near', async () => {
    const message = /is no option; there are DMARC_UNDERSTUDY_PORT, .*DMARC_UNDERSTUDY_DESCRIBE/
    await expectRefusal(['serve'], 2, message, { environment: { DMARC_UNDERSTUDY_COLOUR: '1' } })
  })

  it('is none where another command has the option, or the help is asked for', async () => {
    const environment = { DMARC_UNDERSTUDY_PORT: '0', DMARC_UNDERSTUDY_DOMAINS: '2', PORT: '1' }
    expect((await runInProcess(['assumptions', '--json'], { environment })).code).toBe(0)
    const help = await runInProcess(['serve', '--help'], { environment: { DMARC_UNDERSTUDY_PROT: '1' } })
    expect(help.code).toBe(0)
  })
})
