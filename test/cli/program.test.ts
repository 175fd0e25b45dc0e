import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { describeOptions } from '../../src/cli/options.ts'
import { expectRefusal, it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'

const NAMES = Object.keys(COMMANDS)

describe.concurrent('the program', () => {
  it.each([['--version'], ['-v']])('says its version with %s', async (flag) => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'))
    expect(await runInProcess([flag])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  it.each([
    ...['frobnicate', '--port', '-x', 'constructor', '__lookupGetter__', ''].map((name) => [name, undefined]),
    ...[
      ['SERVE', 'serve'],
      ['server', 'serve'],
      ['assumption', 'assumptions'],
      ['__proto__', 'proxy'],
    ],
  ])('refuses %j, which is no command, and asks whether it means %s', async (name, meant) => {
    const remedy = meant === undefined ? `there are ${NAMES.join(', ')}` : `did you mean ${meant}?`
    await expectRefusal([`${name}`], 2, `${name || '""'} is no command; ${remedy}`)
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
    async (command, { load }) => {
      const texts = await Promise.all(
        [[], ['x'], ['--port', 'x']].map((args) => runInProcess([command, ...args, '--help'])),
      )
      const short = await runInProcess([command, '-h'])
      for (const result of texts) expect(result).toEqual(short)
      expect(short).toMatchObject({ code: 0, stderr: '' })
      expect(short.stdout).toContain(`Usage: dmarc-understudy ${command} `)
      expect(short.stdout).toContain(describeOptions((await load()).options))
      expect(short.stdout).toContain('DMARC_UNDERSTUDY_<OPTION>')
    },
  )
})
