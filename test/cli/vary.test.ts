import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import type { Dependencies } from '../../src/trials/vary/vary.ts'
import { expectRefusal, it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { expectReport } from '../support/report-schema.ts'
import { SEND, shellClient } from '../support/shell-client.ts'
import { DEPENDS_ON_ID, nameIn } from '../trials/vary/varied-client.ts'

describe('vary', () => {
  it.each([
    [
      'echo nobody home; exit 3',
      'vary: The command fails although nothing is varied: it ended with 3, and said: nobody home',
    ],
    ['', 'vary: The command passes, but has sent no request to the service: does it use UNDERSTUDY_BASE_URL…'],
  ])('refuses to begin with a command that does: %s', async (code, message) => {
    await expectRefusal(['vary', '--', ...shellClient(code)], 1, message)
  })

  it('tells what a client depends on, and writes the dependencies', async ({ folder }) => {
    const file = join(folder, 'dependencies.json')
    const program = join(folder, 'client.sh')
    writeFileSync(program, SEND + DEPENDS_ON_ID)
    const command = ['sh', program]
    const args = ['vary', '--fixture', 'empty', '--jobs=2', '--report', `json=${file}`]
    const { code, stdout, stderr } = await runInProcess([...args, '--', ...command])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/The command fails if the real service sends x-request-id: x+ instead of x+-.* to GET /)
    expect(stderr).toContain(
      'npx dmarc-understudy assumptions overlay request-id-format 1 > request-id-format-1.yaml && ' +
        `npx dmarc-understudy run --fixture empty --overlay request-id-format-1.yaml -- ${command.join(' ')}`,
    )
    expect(stderr).toMatch(
      /\nFAILED {2}The command depends on 1 of the \d+ alternatives.* --accept request-id-format\/1, or --accept request-id-format /,
    )
    const dependencies = JSON.parse(readFileSync(file, 'utf8'))
    expectReport('dependencies', dependencies)
    expect(dependencies).toMatchObject({ command, baseline: { exit_code: 0, requests: 1, steady: true } })

    // What it says is true.
    const [, printed = ''] = /npx dmarc-understudy (assumptions overlay .+) > /.exec(stderr) ?? []
    writeFileSync(join(folder, 'request-id-format-1.yaml'), (await runInProcess(printed.split(' '))).stdout)
    const overlay = ['--overlay', 'request-id-format-1.yaml']
    expect(await runInProcess(['run', ...overlay, '--', ...command], { folder })).toMatchObject({ code: 1 })
  })

  it('passes with what is accepted', async () => {
    const accepted = ['--max-time', '1h', '--accept', 'request-id-format', '--']
    const { code, stderr } = await runInProcess(['vary', ...accepted, ...shellClient(DEPENDS_ON_ID)])
    expect(code, stderr).toBe(0)
    expect(stderr).toContain('1 of these is accepted')
    expect(stderr).not.toContain('--accept')
  })

  it('reports what it has decided at a signal, and leaves no process and no file', async ({ folder, start }) => {
    const pids = join(folder, 'pids')
    writeFileSync(pids, '')
    const command = shellClient(
      `send GET /domains; case $UNDERSTUDY_TRIAL in domain-order/2) echo $$ >> '${pids}'; exec sleep 60 ;; esac`,
    )
    const reports = ['--report', 'json=json', '--report', 'junit=junit']
    const running = start(['vary', '--jobs', '1', ...reports, '--', ...command], { folder })
    await expect.poll(() => readFileSync(pids, 'utf8')).toMatch(/^\d+\n$/)
    running.stop('SIGTERM')
    const { code, stderr } = await running.ended
    expect(code).toBe(143)
    expect(stderr).toMatch(/^FAILED .* [iI]t tolerates [1-9]/m)
    expect(() => process.kill(Number(readFileSync(pids, 'utf8')), 0)).toThrow('ESRCH')
    expect(readdirSync(folder).toSorted()).toEqual(['json', 'junit', 'pids'])
    const dependencies: Dependencies = JSON.parse(readFileSync(join(folder, 'json'), 'utf8'))
    expectReport('dependencies', dependencies)
    const stopped = dependencies.alternatives.filter(({ reason }) => reason === 'vary was stopped by SIGTERM.')
    expect(stopped.map(nameIn)).toContain('domain-order/2')
    const tolerated = dependencies.alternatives.filter(({ verdict }) => verdict === 'tolerates')
    expect(tolerated.map(nameIn)).toContain('domain-order/1')
    expect(readFileSync(join(folder, 'junit'), 'utf8')).toContain('vary was stopped by SIGTERM.')
  })

  it('has no report if a signal comes before the command has run as it is', async ({ folder, start }) => {
    const begun = join(folder, 'begun')
    writeFileSync(begun, '')
    const running = start(['vary', '--report', 'json=report', '--', 'sh', '-c', `echo 1 >> ${begun}; exec sleep 60`], {
      folder,
    })
    await expect.poll(() => readFileSync(begun, 'utf8')).not.toBe('')
    running.stop('SIGINT')
    const { code, stderr } = await running.ended
    const said = 'dmarc-understudy: vary: stopped by SIGINT; there is no report'
    expect({ code, said: stderr.split('\n').at(-2) }).toEqual({ code: 130, said })
    expect(readdirSync(folder)).toEqual(['begun'])
  })
})
