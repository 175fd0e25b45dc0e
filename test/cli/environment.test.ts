import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { readOptions } from '../../src/cli/options.ts'
import { COMMAND_LINE_OPTIONS } from '../../src/server/option-table.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { expectRefusal, it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { ready } from '../support/running-program.ts'

describe('the environment', () => {
  // The tests of options hold each of them to be read alike from both; here one of each kind reaches the server.
  it('gives the value of an option that is not given', async ({ start, folder }) => {
    const limit = writeOverlay(folder, [{ target: "$['x-settings']['body-limit']", update: { value: 10 } }], 'limit')
    const plans = [{ target: "$['x-settings'].plans.value", update: { lowest: 'above-stone' } }]
    const environment = Object.fromEntries(
      Object.entries({
        port: '0',
        data: join(folder, 'accounts'),
        fixture: 'empty',
        'api-key': 'key_of_the_environment',
        faults: `${join(folder, 'own.json')}#gone,${join(folder, 'own.json')}#lost`,
        'no-admin': 'true',
        'no-quotas': '1',
        overlay: `${limit},${writeOverlay(folder, plans, 'plans')}`,
        plan: 'above-stone',
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
    const environment = { DMARC_UNDERSTUDY_PORT: 'x', DMARC_UNDERSTUDY_FIXTURE: 'nowhere' }
    const service = await serve(['--fixture', 'empty'], { environment })
    expect((await service.request('/domains')).body).toMatchObject({ data: { domains: [] } })
  })
})

/** What a cluster sets for a service of our name, or of one that begins with it. */
const LINKED = {
  SERVICE_HOST: '10.0.0.1',
  SERVICE_PORT: '4010',
  SERVICE_PORT_HTTP_ADMIN: '4011',
  PORT: 'tcp://10.0.0.1:4010',
  PORT_4010_TCP: 'tcp://10.0.0.1:4010',
  PORT_4010_TCP_ADDR: '10.0.0.1',
  PORT_4010_TCP_PORT: '4010',
  PORT_4010_TCP_PROTO: 'tcp',
}

describe('variables that are set for a service of our name', () => {
  it.each(['DMARC_UNDERSTUDY', 'DMARC_UNDERSTUDY_REDIS', 'DMARC_UNDERSTUDY_1'])(
    'as %s are no options',
    async (name) => {
      const environment = Object.fromEntries(Object.entries(LINKED).map(([end, value]) => [`${name}_${end}`, value]))
      const { code, stderr } = await runInProcess(['fixture', '--domains', '1'], { environment })
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(readOptions(COMMAND_LINE_OPTIONS, [], environment).values.port).toBe(4010)
    },
  )
})

describe('a variable of the environment that sets no option', () => {
  const NO_OPTION = 'is in the environment, but is no option; '
  it.each<[command: string, name: string, value: string, said: string]>([
    ['serve', 'PORT', 'abc', ' abc: must be a whole number…'],
    ['serve', 'COLOUR', '1', ` ${NO_OPTION}there are DMARC_UNDERSTUDY_PORT, …`],
    ['serve', 'PROT', '4010', ` ${NO_OPTION}did you mean DMARC_UNDERSTUDY_PORT?`],
    ['assumptions', 'OVERLAYS', '1', ` ${NO_OPTION}did you mean DMARC_UNDERSTUDY_OVERLAY?`],
  ])('stops %s: %s=%s', async (command, name, value, said) => {
    const environment = { [`DMARC_UNDERSTUDY_${name}`]: value }
    await expectRefusal([command], 2, `DMARC_UNDERSTUDY_${name}${said}`, { environment })
  })

  it('is none where another command has the option, or the help is asked for', async () => {
    const environment = { DMARC_UNDERSTUDY_PORT: '0', DMARC_UNDERSTUDY_DOMAINS: '2', PORT: '1' }
    expect((await runInProcess(['assumptions', '--json'], { environment })).code).toBe(0)
    const help = await runInProcess(['serve', '--help'], { environment: { DMARC_UNDERSTUDY_PROT: '1' } })
    expect(help.code).toBe(0)
  })
})
