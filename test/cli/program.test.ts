import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { describeOptions } from '../../src/cli/options.ts'
import { COMMANDS } from '../../src/cli/program.ts'
import { expectRefusal, it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'

const NAMES = Object.keys(COMMANDS)

describe('the program', () => {
  it.each([['--version'], ['-v']])('says its version with %s', async (flag) => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'))
    expect(await runInProcess([flag])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  const THERE_ARE = `there are ${NAMES.join(', ')}`
  it.each([
    ...['frobnicate', '--port', '-x', 'constructor', ''].map((name) => [name, THERE_ARE] as const),
    ...(
      [
        ['server', 'serve'],
        ['assumption', 'assumptions'],
        ['__proto__', 'proxy'],
      ] as const
    ).map(([name, meant]) => [name, `did you mean ${meant}?`] as const),
  ])('refuses %j, which is no command: %s', async (name, remedy) => {
    await expectRefusal([name], 2, `${name || '""'} is no command; ${remedy}`)
  })
})

describe('help', () => {
  it.each([[[]], [['--help']], [['-h']], [['help']]])('of the program, %j, names every command', async (args) => {
    const { code, stdout, stderr } = await runInProcess(args)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const command of NAMES) expect(stdout).toContain(`\n  ${command} `)
    expect(stdout).toContain('Usage: dmarc-understudy COMMAND')
  })

  it.each(Object.entries(COMMANDS))(
    'of %s says the same with -h and --help, wherever it stands',
    async (name, entry) => {
      const help = await runInProcess([name, '-h'])
      for (const args of [[], ['--port', 'x']]) expect(await runInProcess([name, ...args, '--help'])).toEqual(help)
      expect(help).toMatchObject({ code: 0, stderr: '' })
      expect(help.stdout).toContain(`Usage: dmarc-understudy ${name} `)
      expect(help.stdout).toContain(describeOptions((await entry.load()).options))
      expect(help.stdout).toContain('DMARC_UNDERSTUDY_<OPTION>')
    },
  )
})
