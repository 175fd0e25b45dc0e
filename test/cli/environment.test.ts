import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { readOptions } from '../../src/cli/options.ts'
import { COMMAND_LINE_OPTIONS } from '../../src/start/option-table.ts'
import type { assumptions } from '../support/alternatives.ts'
import { expectRefusal, it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { ready } from '../support/running-program.ts'
import { overlayWith, withBodyLimit } from './overlays.ts'

const withLowestPlan = (lowest: string) => overlayWith("$['x-settings'].plans.value", { lowest })

describe('the environment', () => {
  // The tests of options hold each of them to be read alike from both; here one of each kind reaches the server.
  it('gives the value of an option that is not given', async ({ start, folder }) => {
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

  it('gives overlays to the command assumptions as well', async () => {
    const environment = { DMARC_UNDERSTUDY_OVERLAY: withBodyLimit(10) }
    const { stdout } = await runInProcess(['assumptions', '--json'], { environment })
    const listed = JSON.parse(stdout) as typeof assumptions
    expect(listed.find(({ id }) => id === 'body-limit')?.choice).toEqual({ value: 10 })
  })
})

/** What a cluster or a link of containers sets for a service of our name, or of one that begins with it. */
const LINKED: Record<string, Record<string, string>> = {
  'a cluster': {
    SERVICE_HOST: '10.0.0.1',
    SERVICE_PORT: '4010',
    SERVICE_PORT_HTTP: '4010',
    SERVICE_PORT_HTTP_ADMIN: '4011',
    PORT: 'tcp://10.0.0.1:4010',
    PORT_4010_TCP: 'tcp://10.0.0.1:4010',
    PORT_4010_TCP_ADDR: '10.0.0.1',
    PORT_4010_TCP_PORT: '4010',
    PORT_4010_TCP_PROTO: 'tcp',
  },
  'a cluster with IPv6': {
    SERVICE_HOST: 'fd00::a',
    PORT: 'udp://[fd00::a]:4010',
    PORT_4010_UDP: 'udp://[fd00::a]:4010',
    PORT_4010_UDP_ADDR: 'fd00::a',
    PORT_4010_UDP_PROTO: 'udp',
  },
  'a link of containers': {
    NAME: '/web/dmarc-understudy',
    ENV_PATH: '/bin',
    ENV_npm_config_PORT: 'x',
    PORT: 'tcp://172.17.0.5:4010',
    PORT_4010_TCP_START: 'tcp://172.17.0.5:4010',
    PORT_4010_TCP_END: 'tcp://172.17.0.5:4011',
    PORT_4010_TCP_PORT_START: '4010',
    PORT_4010_TCP_PORT_END: '4011',
  },
}

describe('variables that are set for a service of our name', () => {
  const beginnings = ['DMARC_UNDERSTUDY', 'DMARC_UNDERSTUDY_REDIS', 'DMARC_UNDERSTUDY_1']
  const cases = Object.entries(LINKED).flatMap(([by, variables]) =>
    beginnings.map((beginning) => ({ by, beginning, variables })),
  )
  it.each(cases)('by $by as $beginning are no options', async ({ beginning, variables }) => {
    const environment = Object.fromEntries(
      Object.entries(variables).map(([end, value]) => [`${beginning}_${end}`, value]),
    )
    for (const args of [
      ['assumptions', '--json'],
      ['fixture', '--domains', '1'],
      ['serve', '--help'],
    ]) {
      expect(await runInProcess(args, { environment })).toMatchObject({ code: 0, stderr: '' })
    }
    expect(readOptions(COMMAND_LINE_OPTIONS, [], environment)).toMatchObject({
      values: { port: 4010 },
      given: new Set(),
    })
  })

  it.each<[name: string, value: string, problem: string]>([
    ['PORT', 'abc', 'DMARC_UNDERSTUDY_PORT abc: must be a whole number'],
    ['PORT', 'tcp://somewhere', 'DMARC_UNDERSTUDY_PORT tcp://somewhere: must be a whole number'],
    ['PORT', 'http://10.0.0.1:4010', 'DMARC_UNDERSTUDY_PORT http://10.0.0.1:4010: must be a whole number'],
    ['SERVICE_HOST', 'localhost', 'DMARC_UNDERSTUDY_SERVICE_HOST is in the environment, but is no option'],
    ['SERVICE_PORT', 'tcp', 'DMARC_UNDERSTUDY_SERVICE_PORT is in the environment, but is no option'],
    ['NAME', 'understudy', 'DMARC_UNDERSTUDY_NAME is in the environment, but is no option'],
    ['PROT', 'tcp://10.0.0.1:4010', 'did you mean DMARC_UNDERSTUDY_PORT?'],
    ['SET_ENV_TOKEN', 'x', 'DMARC_UNDERSTUDY_SET_ENV_TOKEN is in the environment, but is no option'],
  ])('have exactly these forms: %s=%s stops a start', async (name, value, problem) => {
    const environment = { [`DMARC_UNDERSTUDY_${name}`]: value }
    const { code, stderr } = await runInProcess(['serve', '--log-level', 'silent'], { environment })
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(problem) })
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
