import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import type { AlternativeReport, Dependencies } from '../../src/evidence/dependencies.ts'
import { expectRefusal, it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { expectReport } from '../support/report-schema.ts'
import { SEND, shellClient } from '../support/shell-client.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { DEPENDS_ON_ORDER, nameIn } from '../trials/vary/varied-client.ts'

const STEADY = '"baseline": {"steady": true}'

describe('vary refuses', () => {
  it.each([
    ['exit 3', 'vary: The command fails with exit code 3 although nothing is varied…'],
    ['echo nobody home; exit 1', /its last line is: nobody home$/],
    ['kill -KILL $$', 'vary: The command was ended by SIGKILL…'],
    ['', 'vary: The command passes, but has sent no request to the service: does it use UNDERSTUDY_BASE_URL…'],
  ])('to begin with a command that does: %s', async (code, message) => {
    await expectRefusal(['vary', '--', ...shellClient(code)], 1, message)
  })

  it.each([
    ['{', /^: This is not valid JSON: .+\. Name a file that vary has written with --report json=FILE\.$/],
    ['null', /^: This is no report of vary: the value is null but must be of type object\. Name/],
    ['{"command": ["x"], "alternatives": []}', /^#\/baseline: This is no report of vary: the value is missing\. Name/],
    [`{"command": ["x"], ${STEADY}}`, /^#\/alternatives: This is no report of vary: the value is missing\. Name/],
    [
      `{"command": ["y"], ${STEADY}, "alternatives": []}`,
      /^: This is about another command \(y\)\. Leave --since out, and write a new file\.$/,
    ],
    [
      JSON.stringify({
        command: ['x'],
        baseline: { steady: true },
        alternatives: [{ id: 'gone', alternative: 1, verdict: 'depends', spec: 'Open.', chosen: {}, value: {} }],
      }),
      /^: This is about another contract, which has an assumption gone\./,
    ],
  ])('a file of an earlier run that has %s', async (text, message) => {
    const name = join(temporaryFolder(), 'since.json')
    writeFileSync(name, text)
    const { stderr, code } = await runInProcess(['vary', '--since', name, '--', 'x'])
    expect(code).toBe(2)
    expect(stderr.replace(`dmarc-understudy: ${name}`, '').trimEnd()).toMatch(message)
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
      'The command fails if the real service has "alphabetical" instead of "addition" as domain-order and so answers GET /api/v1/domains with another order at /data/domains: "mail.example.com", "shop.example.com" instead of "shop.example.com", "mail.example.com". GET /domains returns all monitored domains of the account; their order is not shown.',
    )
    expect(stderr).toContain(
      'dmarc-understudy assumptions overlay domain-order 1 > domain-order-1.yaml && ' +
        `dmarc-understudy run --fixture empty --overlay domain-order-1.yaml -- ${command.join(' ')}`,
    )
    expect(stderr).toMatch(/\nFAILED {2}The command depends on 2 of \d+ ways/)
    const dependencies = JSON.parse(readFileSync(file, 'utf8'))
    expectReport('dependencies', dependencies)
    expect(dependencies).toMatchObject({ command, baseline: { exit_code: 0, requests: 2, steady: true } })

    // What it says is true.
    for (const [id, expected] of [
      ['domain-order', 1],
      ['response-charset', 0],
    ] as const) {
      const overlay = join(folder, `${id}.yaml`)
      writeFileSync(overlay, (await runInProcess(['assumptions', 'overlay', id, '1'])).stdout)
      const run = await runInProcess(['run', '--fixture', 'empty', '--overlay', overlay, '--', ...command])
      expect(run.code, id).toBe(expected)
      const { verdict } = dependencies.alternatives.find((each: AlternativeReport) => nameIn(each) === `${id}/1`)
      expect(verdict).toBe(expected === 1 ? 'depends' : 'tolerates')
    }

    // Nothing has changed, and what it depends on is accepted now.
    const since = ['--since', file, '--accept', 'domain-order']
    const again = await runInProcess([...args, ...since, '--', ...command])
    expect(again.code).toBe(0)
    expect(again.stderr).toContain('2 of these are accepted')
    expect(JSON.parse(readFileSync(file, 'utf8')).runs).toBe(2)
  })

  it('reports what it has decided at a signal, and leaves no process and no file', async ({ folder, start }) => {
    const pids = join(folder, 'pids')
    writeFileSync(pids, '')
    const command = shellClient(
      `send GET /domains; case $UNDERSTUDY_TRIAL in domain-order/2) echo $$ >> '${pids}'; exec sleep 60 ;; esac`,
    )
    const reports = ['json', 'junit', 'sarif', 'markdown'].flatMap((format) => ['--report', `${format}=${format}`])
    const running = start(['vary', '--jobs', '1', ...reports, '--', ...command], { folder })
    await expect.poll(() => readFileSync(pids, 'utf8'), { timeout: 20_000 }).toMatch(/^\d+\n$/)
    running.stop('SIGTERM')
    const { code, stderr } = await running.ended
    expect(code).toBe(143)
    expect(stderr).toMatch(/^FAILED .* it tolerates [1-9]|^FAILED .* It tolerates [1-9]/m)
    expect(() => process.kill(Number(readFileSync(pids, 'utf8')), 0)).toThrow('ESRCH')
    expect(readdirSync(folder).toSorted()).toEqual(['json', 'junit', 'markdown', 'pids', 'sarif'])
    const dependencies = JSON.parse(readFileSync(join(folder, 'json'), 'utf8'))
    expectReport('dependencies', dependencies)
    const { alternatives } = dependencies as Dependencies
    const stopped = alternatives.filter(({ reason }) => reason === 'vary was stopped by SIGTERM.')
    expect(stopped.map(nameIn)).toContain('domain-order/2')
    expect(alternatives.filter(({ verdict }) => verdict === 'tolerates').map(nameIn)).toContain('domain-order/1')
    for (const format of ['junit', 'sarif', 'markdown']) {
      expect(readFileSync(join(folder, format), 'utf8')).toContain('vary was stopped by SIGTERM.')
    }
  })

  it('has no report if a signal comes before the command has run as it is', async ({ folder, start }) => {
    const pids = join(folder, 'pids')
    writeFileSync(pids, '')
    const command = shellClient(`send GET /domains; echo $$ >> '${pids}'; exec sleep 60`)
    const running = start(['vary', '--report', 'json=report', '--', ...command], { folder })
    await expect.poll(() => readFileSync(pids, 'utf8')).toMatch(/^\d+\n$/)
    running.stop('SIGINT')
    const { code, stderr } = await running.ended
    expect({ code, said: stderr.split('\n').at(-2) }).toEqual({
      code: 130,
      said: 'dmarc-understudy: vary: stopped by SIGINT; there is no report',
    })
    expect(() => process.kill(Number(readFileSync(pids, 'utf8')), 0)).toThrow('ESRCH')
    expect(readdirSync(folder)).toEqual(['pids'])
  })
})
