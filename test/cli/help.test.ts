import { describe, expect } from 'vitest'
import { expectRefusal, it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { COMMANDS, OPTIONS_OF_SERVE } from './commands.ts'

describe('help', () => {
  it.each([[[]], [['--help']], [['-h']], [['help']]])('of the program, %j, names every command', async (args) => {
    const { code, stdout, stderr } = await runInProcess(args)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const command of COMMANDS) expect(stdout).toContain(`\n  ${command} `)
    expect(stdout).toContain('Usage: dmarc-understudy COMMAND')
  })

  it.each(COMMANDS)('of %s says the same with -h and --help, wherever it stands', async (command) => {
    const texts = await Promise.all(
      [[], ['x'], ['--port', 'x']].map((args) => runInProcess([command, ...args, '--help'])),
    )
    const short = await runInProcess([command, '-h'])
    for (const result of texts) expect(result).toEqual(short)
    expect(short).toMatchObject({ code: 0, stderr: '' })
    expect(short.stdout).toContain(`Usage: dmarc-understudy ${command} `)
    expect(short.stdout).toContain('DMARC_UNDERSTUDY_<OPTION>')
  })

  it.each<[command: string, options: string[]]>([
    ['serve', OPTIONS_OF_SERVE],
    ['fixture', ['domains', 'groups', 'seed', 'story', 'format', 'now', 'out', 'force', 'describe']],
    ['assumptions', ['evidence', 'dependencies', 'json', 'overlay', 'report']],
  ])('of %s lists each of its options with what it does', async (command, options) => {
    const { stdout } = await runInProcess([command, '--help'])
    const usages = [...stdout.matchAll(/^ {2}(--[a-z-]+(?:, --[a-z-]+)?)(?: \S+)?\s+\S.*\.$/gm)]
    const listed = usages.flatMap(([, flags = '']) => flags.split(', ').map((flag) => flag.slice(2)))
    expect(listed).toEqual(options)
  })

  it('is not asked for behind --', async () => {
    await expectRefusal(['serve', '--', '--help'], 2, 'serve takes no argument, but was given --help')
  })
})
