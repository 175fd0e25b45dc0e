import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { expectReport } from '../support/report-schema.ts'
import { SEND, shellClient } from '../support/shell-client.ts'
import { DEPENDS_ON_ORDER } from '../trials/vary/varied-client.ts'

const READS = shellClient('send GET /domains')

/** Expects one line on standard error, but for those that show how far it is, and the exit code. */
async function expectRefusal(args: readonly string[], code: number, message: string | RegExp): Promise<void> {
  const result = await runInProcess(args)
  const said = result.stderr.replaceAll(/^dmarc-understudy vary: .*\n/gm, '')
  expect(said).toMatch(/^dmarc-understudy: [^\n]+\n$/)
  const words = said.slice('dmarc-understudy: '.length, -1)
  if (typeof message === 'string') expect(words).toBe(message)
  else expect(words).toMatch(message)
  expect(result).toMatchObject({ code, stdout: '' })
}

describe('vary refuses', () => {
  const rows: [args: string[], code: number, message: string | RegExp][] = [
    [[], 2, 'vary: needs a command after --, such as dmarc-understudy vary -- npm test'],
    [['--'], 2, 'vary: needs a command after --, such as dmarc-understudy vary -- npm test'],
    [['npm', '--', 'test'], 2, /^vary: npm is no option; the command comes after --/],
    [['--jobs', '0', '--', 'x'], 2, '--jobs 0: must be a whole number from 1 to 1000'],
    [['--repeats', '1', '--', 'x'], 2, '--repeats 1: must be a whole number from 2 to 100'],
    [['--jobs', '2', '--port', '4010', '--', 'x'], 2, /^--port 4010: only one trial at a time can have the port/],
    [['--data', 'accounts', '--', 'x'], 2, /^--data: cannot be used with vary; each trial has an account of its own/],
    [['--ready-file=x', '--', 'x'], 2, /^--ready-file: cannot be used with vary; .* UNDERSTUDY_BASE_URL$/],
    [['--max-time', 'long', '--', 'x'], 2, /^--max-time long: must be a duration such as/],
    [['--timeout', '0', '--', 'x'], 2, /^--timeout 0: must be a duration such as/],
    [['--set-env', 'URL={url}', '--', 'x'], 2, /^--set-env URL=\{url\}: must be NAME=TEMPLATE/],
    [
      ['--accept', 'domain-ordr', '--', 'x'],
      2,
      /^--accept domain-ordr: must be the id .*; did you mean domain-order\?$/,
    ],
    [['--accept', 'domain-order/3', '--', 'x'], 2, '--accept domain-order/3: domain-order has the alternatives 1 to 2'],
    [['--accept', 'domain-order/1/1', '--', 'x'], 2, /^--accept domain-order\/1\/1: domain-order has the alternatives/],
    [['--since', 'none.json', '--', 'x'], 2, /^--since none.json: cannot be read \(ENOENT\); name a file that/],
    [['--overlay', 'none.yaml', '--', 'x'], 2, /^none.yaml: The overlay cannot be read \(ENOENT\)/],
    [['--plan', 'gold', '--', ...READS], 2, /^--plan gold: must be one of/],
    [['--report', 'jso=x', '--', 'x'], 2, /^--report jso=x: did you mean json=x\?$/],
    [['--', 'no-such-command-here'], 127, 'no-such-command-here: there is no such command'],
    [['--', ...shellClient('exit 4')], 1, /^vary: The command fails with exit code 4 although nothing is varied/],
    [['--', ...shellClient('')], 1, /^vary: The command passes, but has sent no request to the service/],
  ]
  it.each(rows.map((row) => [row[0].join(' ').slice(-40), ...row] as const))('%s', (_, args, code, message) =>
    expectRefusal(['vary', ...args], code, message),
  )

  it.each([
    ['{', 'is not valid JSON; name a file that --report json=FILE has written'],
    ['[]', 'is not valid JSON; name a file that --report json=FILE has written'],
    ['{"command": ["x"]}', 'is no report of vary: the value at /alternatives is missing'],
    [
      '{"command": ["y"], "alternatives": []}',
      /^is about another command \(y\); leave --since out, and write a new file$/,
    ],
    [
      JSON.stringify({
        command: ['x'],
        alternatives: [{ id: 'gone', alternative: 1, verdict: 'depends', spec: 'Open.', chosen: {}, value: {} }],
      }),
      /^is about another contract, which has an assumption gone/,
    ],
  ])('a file of an earlier run that has %s', async (text, message) => {
    const name = `since-${process.pid}.json`
    writeFileSync(join(tmpdir(), name), text)
    const { stderr, code } = await runInProcess(['vary', '--since', name, '--', 'x'])
    expect(code).toBe(2)
    const said = stderr.replace(`dmarc-understudy: --since ${name}: `, '').trimEnd()
    if (typeof message === 'string') expect(said).toBe(message)
    else expect(said).toMatch(message)
  })

  it('an overlay with which the command fails', async ({ folder }) => {
    const overlay = join(folder, 'overlay.yaml')
    const { stdout } = await runInProcess(['assumptions', 'overlay', 'domain-order', '1'])
    writeFileSync(overlay, stdout)
    await expectRefusal(
      ['vary', '--overlay', overlay, '--', ...shellClient(DEPENDS_ON_ORDER)],
      1,
      /^vary: The command fails with exit code 1 although nothing is varied.*The domains were not added\.$/,
    )
  })
})

describe('vary', () => {
  it('tells what a client depends on, and writes the dependencies', async ({ folder }) => {
    const file = join(folder, 'dependencies.json')
    const program = join(folder, 'client.sh')
    writeFileSync(program, SEND + DEPENDS_ON_ORDER)
    const command = ['sh', program]
    const args = ['vary', '--fixture', 'empty', '--jobs=2', '--report', `json=${file}`]
    const { code, stdout, stderr } = await runInProcess([...args, '--', ...command])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(
      'The command fails if the real service has "alphabetical" instead of "addition" as domain-order and so answers GET /api/v1/domains with another body. GET /domains returns all monitored domains of the account; their order is not shown.',
    )
    expect(stderr).toContain(
      'dmarc-understudy assumptions overlay domain-order 1 > domain-order-1.yaml && ' +
        `dmarc-understudy run --fixture empty --overlay domain-order-1.yaml -- ${command.join(' ')}`,
    )
    expect(stderr).toMatch(/\nFAILED {2}The command depends on 2 of 167 ways/)
    const dependencies = JSON.parse(readFileSync(file, 'utf8'))
    expectReport('dependencies', dependencies)
    expect(dependencies).toMatchObject({ command, baseline: { exit_code: 0, requests: 2, steady: true } })

    // Nothing has changed, and what it depends on is accepted now.
    const since = ['--since', file, '--accept', 'domain-order']
    const again = await runInProcess([...args, ...since, '--', ...command])
    expect(again.code).toBe(0)
    expect(again.stderr).toContain('2 of these are accepted')
    expect(JSON.parse(readFileSync(file, 'utf8')).runs).toBe(2)
  }, 120_000)

  it('ends with its trials at a signal, and leaves no process and no file', async ({ folder, start }) => {
    const pids = join(folder, 'pids')
    writeFileSync(pids, '')
    const command = shellClient(`send GET /domains; echo $$ >> '${pids}'; exec sleep 60`)
    const running = start(['vary', '--', ...command], { folder })
    await expect.poll(() => readFileSync(pids, 'utf8')).toMatch(/^\d+\n$/)
    running.stop('SIGINT')
    const { code, stderr } = await running.ended
    expect({ code, said: stderr.split('\n').at(-2) }).toEqual({
      code: 130,
      said: 'dmarc-understudy: vary: stopped by SIGINT',
    })
    expect(() => process.kill(Number(readFileSync(pids, 'utf8')), 0)).toThrow('ESRCH')
    expect(readdirSync(folder)).toEqual(['pids'])
  }, 60_000)
})
