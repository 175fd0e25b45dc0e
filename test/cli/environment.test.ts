import { describe, expect } from 'vitest'
import { readOptions } from '../../src/cli/options.ts'
import { COMMAND_LINE_OPTIONS } from '../../src/server/option-table.ts'
import { expectRefusal, it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'

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
    ['serve', 'COLOUR', '1', ` ${NO_OPTION}none has a name like that; --help lists them`],
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
