import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { budget } from '../support/budget.ts'
import { eventually, sleeper, sleeping } from '../support/processes.ts'
import { it } from '../support/program.ts'
import { runInProcess, startInProcess } from '../support/program-in-process.ts'
import { PROGRAM, runShell, spawnProgram } from '../support/program-process.ts'
import { HAS_TERMINALS, startInTerminal } from '../support/pseudo-terminal.ts'
import { ENVIRONMENT, LAWFUL, runClient, VIOLATING } from './run-client.ts'

/** More than the journal remembers, where it is told to remember a hundred. */
const MANY = budget({ quick: 300, full: 10_000 })

/** The beginning of a line of a shell that runs a command. */
function run(options = ''): string {
  return `'${process.execPath}' --no-opt '${PROGRAM}' run ${options} --`
}

/** Runs a line of a shell in the program, in this process, and reads what the line prints. */
async function readLine(line: string, folder: string, options: string[] = [], environment = {}): Promise<string> {
  const file = join(folder, 'printed')
  const command = ['sh', '-c', `exec >'${file}'; eval "$CLIENT"; ${line}`]
  await runInProcess(['run', ...options, '--', ...command], { environment: { ...ENVIRONMENT, ...environment } })
  const printed = readFileSync(file, 'utf8')
  rmSync(file)
  return printed
}

describe.concurrent('run', () => {
  it('prints in place of requests that violate it commands that another run accepts, and no key', async () => {
    const violations = [
      VIOLATING,
      `ask PATCH '/domaingroups?id=' '{"name":"New"}'`,
      'ask GET /domaingroup',
      `ask PUT /domains '{"domains":["new.example"]}'`,
    ]
    const { stderr } = await runClient(violations.join('; '))
    const commands = stderr.match(/curl .*/g) ?? []
    expect(commands).toHaveLength(violations.length)
    expect(commands.join()).not.toMatch(/key_|127\.0\.0\.1/)
    const again = await runClient(commands.map((command) => `${command} --fail`).join(' && '))
    expect(again.code, commands.join('\n') + again.stderr).toBe(0)
  })

  it(`is not fooled by a client that resets, clears and deletes all, and sends ${MANY} more requests`, async () => {
    const { code, stderr } = await runClient(
      `
      control POST /accounts '{"id":"mine","fixture":"empty","api_key":"k_mine"}'
      ask GET /dmarc '' k_mine; ask GET /dmarc '' k_mine
      ask POST /domains '{"domain":"ci.example"}' k_mine
      control POST /accounts/mine/reset
      control DELETE /accounts/mine/requests
      control DELETE /verdict
      control DELETE /accounts/mine
      ask GET '/domains#[1-${MANY}]' '' sandbox_other --parallel 2>/dev/null`,
      ['--journal', '100', '--no-quotas', '--fail-on', 'violation'],
    )
    expect(code, stderr).toBe(1)
    expect(stderr).toContain('The field `domain` is not supported.')
    expect(stderr).toMatch(/--data-raw '\{"domains":\["ci\.example"\]\}'/)
    expect(stderr).toMatch(/GET \/api\/v1\/dmarc → 200 {2}request [0-9a-f-]{36}\n {2}GET \/dmarc was read again once/)
  })

  it('judges also what a client has sent last, without waiting for an answer', async () => {
    const leaving = `host=\${UNDERSTUDY_BASE_URL#http://}; host=\${host%%/*}; exec 3<>"/dev/tcp/\${host/://}"
      printf '%s\\r\\n' 'POST /api/v1/domains HTTP/1.1' "host: $host" "authorization: Bearer $UNDERSTUDY_API_KEY" \\
        'content-type: application/json' 'content-length: 14' '' >&3; printf '{"domain":"a"}' >&3`
    const { code, stderr } = await runInProcess(['run', '--', 'bash', '-c', leaving])
    expect({ code, said: /It sent 1 request; 1 of them/.test(stderr) }, stderr).toEqual({ code: 1, said: true })
  })

  it('counts for the coverage also what an account has shown that is gone', async ({ folder }) => {
    const report = ['--report', `json=${folder}/run.json`]
    await runClient("ask GET /domains '' sandbox_one; control DELETE /accounts/sandbox_one", report)
    const { coverage } = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'))
    expect(coverage.summary.operations.seen).toBe(1)
  })

  it('gives the command its own input, output and error, also where there is no temporary folder, and logs', async ({
    folder,
  }) => {
    const line = `eval "$CLIENT"; tr a-b x-y; ask GET /domains >/dev/null; echo error >&2; head -c 50000000 /dev/zero`
    writeFileSync(join(folder, 'line.sh'), line)
    const options = '--log-level info --log-format json'
    const { stdout, stderr } = await runShell(`printf 'a\\nb' | ${run(options)} sh line.sh | (head -c 3; wc -c)`, {
      folder,
      environment: { ...ENVIRONMENT, TMPDIR: '/dev/null' },
    })
    expect(stdout.split('\n').map((each) => each.trim())).toEqual(['x', 'y50000000', ''])
    expect(stderr).toMatch(/^error$/m)
    expect(stderr).toMatch(/^\{.*"path":"\/api\/v1\/domains".*\}$/m)
    expect(stderr).toMatch(/^PASSED {2}/m)
  })

  it('works where nobody can read its summary, and nothing can be read', async () => {
    const ways = ['2>/dev/full', '<&- 2>&-', '2>&1 >/dev/null | head -c 0']
    for (const closed of ways.slice(0, budget({ quick: 2, full: ways.length }))) {
      const { stdout } = await runShell(`( ${run()} sh -c 'cat; exit 3' ${closed}; echo "$?" >&3 ) 3>&1 >/dev/null`)
      expect({ closed, stdout }).toEqual({ closed, stdout: closed.includes('|') ? '0\n' : '3\n' })
    }
  })

  it('keeps accounts in a folder, with no lock left, and says what does not apply to them', async ({ folder }) => {
    await runClient(LAWFUL, ['--data', folder, '--fixture', 'empty'])
    const [printed, { stderr }] = [
      await readLine('ask GET /domains', folder, ['--data', folder]),
      await runClient('', ['--data', folder, '--fixture', 'agency', '--fail-on', 'violation']),
    ]
    expect(printed).toBe('{"success":true,"data":{"domains":["ci.example"]}}')
    expect(stderr).toContain('dmarc-understudy: --fixture agency: applies to new accounts only; the account in ')
    expect(readdirSync(folder)).toEqual(['account-default.json'])
  })

  it('tells the command where the service is, in its own words if it wants, and in a ready file', async ({
    folder,
  }) => {
    const file = join(folder, 'ready.json')
    const names = ['--set-env', 'API={baseUrl}|{apiKey}|{adminUrl}|{port}|{{}}', '--set-env=EMPTY=']
    const variables = ['BASE_URL', 'API_KEY', 'ADMIN_URL'].map((name) => `$UNDERSTUDY_${name}`).join('|')
    const line = `echo "${variables}|$API|$UNDERSTUDY_TRIAL|$EMPTY"; cat '${file}'`
    const printed = await readLine(line, folder, [...names, '--ready-file', file])
    const [, told = '', ready = ''] = /^(.*)\n([\s\S]*)$/.exec(printed) ?? []
    const [base = '', key, admin, ...others] = told.split('|')
    expect(base).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/api\/v1$/)
    expect(others).toEqual([base, key, admin, new URL(base).port, '{{}}', 'run', ''])
    expect(JSON.parse(ready)).toMatchObject({ base_url: base, api_key: key, pid: expect.any(Number) })
    expect(readdirSync(folder)).toEqual([])
  })

  it('passes the options of serve on, and tells of no control plane that is not there, as of a run around it', async ({
    folder,
  }) => {
    const options = ['--fixture', 'empty', '--api-key', 'k_mine', '--now', '2026-01-15T09:00:00Z', '--frozen']
    const line = 'ask GET /domains "" k_mine --include; printenv UNDERSTUDY_ADMIN_URL || echo none'
    const outer = { UNDERSTUDY_ADMIN_URL: 'http://127.0.0.1:1/__admin' }
    const printed = await readLine(line, folder, [...options, '--no-admin'], outer)
    expect(printed).toMatch(/^date: Thu, 15 Jan 2026 09:00:00 GMT\r$/im)
    expect(printed).toMatch(/\r\n\r\n\{"success":true,"data":\{"domains":\[\]\}\}none\n$/)
  })

  it('ends what the command has left behind, says so, and for what it waits', async ({ folder }) => {
    const [sleep, enough] = [sleeper(), join(folder, 'enough')]
    // It ends by itself; the tests of commands show that what never does is killed.
    const waiting = `trap '' TERM; touch '${folder}/ready'; while [ ! -e '${enough}' ]; do sleep 0.05; done; : ${sleep}`
    const line = `setsid sh -c "${waiting}" & while [ ! -e '${folder}/ready' ]; do sleep 0.02; done`
    const running = startInProcess(['run', '--', 'sh', '-c', line])
    await expect
      .poll(() => running.stderr())
      .toMatch(/^dmarc-understudy: processes that the command left behind do not end at once: (sleep, )?sh(, sleep)?\n/)
    writeFileSync(enough, '')
    expect((await running.ended).stderr).toMatch(
      /^dmarc-understudy: the command left (a process|2 processes) behind, which (was|were) ended: /m,
    )
    expect(sleeping(sleep)).toEqual([])
  })

  it('ends a command that runs longer than --timeout', async () => {
    const sleep = sleeper()
    const { code, stderr } = await runInProcess(['run', '--timeout', '1s', '--', 'sh', '-c', `${sleep} & wait`])
    expect(code).toBe(124)
    expect(stderr).toContain('dmarc-understudy: the command ran longer than 1s and was ended (--timeout)\n')
    expect(sleeping(sleep)).toEqual([])
  })

  it('still says how the command failed when a report cannot be written any more', async ({ folder }) => {
    const gone = join(folder, 'reports')
    mkdirSync(gone)
    const report = ['--report', `json=${gone}/run.json`]
    const failed = await runInProcess(['run', ...report, '--', 'sh', '-c', `rm -r ${gone}; exit 5`])
    expect(failed).toMatchObject({ code: 5, stderr: expect.stringContaining(`--report json=${gone}/run.json: `) })
    mkdirSync(gone)
    expect(await runClient(`${LAWFUL}; rmdir '${gone}'`, report)).toMatchObject({ code: 3 })
  })
})

describe.concurrent('a signal to run', () => {
  it.for([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)(
    '%s reaches the command and its children, and nothing is left',
    async ([signal, expected], { folder }) => {
      const [sleep, ready] = [sleeper(), join(folder, 'ready.json')]
      const options = ['--data', join(folder, 'data'), '--ready-file', ready]
      const running = spawnProgram(['run', ...options, '--', 'sh', '-c', `setsid ${sleep} & exec ${sleep}`])
      await eventually('both sleep', () => sleeping(sleep).length === 3)
      running.stop(signal)
      const { code, stderr } = await running.ended
      expect(code, stderr).toBe(expected)
      expect(stderr).toContain(`FAILED  The command was ended by ${signal}.`)
      expect(sleeping(sleep)).toEqual([])
      expect(readdirSync(folder)).toEqual(['data'])
      expect(readdirSync(join(folder, 'data'))).toEqual(['account-default.json'])
    },
  )

  it('given again ends what ignores it', async ({ folder }) => {
    const [sleep, ignored] = [sleeper(), join(folder, 'ignored')]
    const line = `trap "touch '${ignored}'" INT TERM; while :; do ${sleep} & wait; done`
    const running = spawnProgram(['run', '--', 'sh', '-c', line])
    await eventually('it sleeps', () => sleeping(sleep).length > 2)
    running.stop('SIGINT')
    // Two signals that come at once would be one.
    await eventually('it ignores the signal', () => existsSync(ignored))
    running.stop('SIGINT')
    expect(await running.ended).toMatchObject({ code: 130 })
    expect(sleeping(sleep)).toEqual([])
  })

  it.for<[when: string, path: string]>([
    ['it begins', ''],
    ['it has the folder', 'data/.lock'],
    ['it has written where it listens', 'ready.json'],
  ])('when %s leaves no process, no lock and no file', async ([when, path], { folder }) => {
    const sleep = sleeper()
    const files = ['--data', `${folder}/data`, '--ready-file', `${folder}/ready.json`]
    const report = ['--report', `json=${folder}/run.json`]
    const running = spawnProgram(['run', ...files, ...report, '--', 'sh', '-c', `${sleep} & ${sleep}`])
    await eventually(when, () => existsSync(join(folder, path)))
    running.stop('SIGINT')
    const { code, stderr } = await running.ended
    // Before the program has loaded, the signal ends it as it ends any other.
    expect([130, null], stderr).toContain(code)
    expect(stderr).not.toContain('    at ')
    expect(sleeping(sleep)).toEqual([])
    expect(['data', 'run.json']).toEqual(expect.arrayContaining(readdirSync(folder)))
    expect(existsSync(join(folder, 'data', '.lock'))).toBe(false)
  })

  it('comes also from the end of the parent, with --exit-with-parent', async ({ folder }) => {
    const sleep = sleeper()
    writeFileSync(join(folder, 'start.sh'), `${run('--exit-with-parent')} ${sleep} 2>/dev/null & wait`)
    const parent = spawn('bash', [join(folder, 'start.sh')], { stdio: 'ignore' })
    await eventually('it sleeps', () => sleeping(sleep).length > 1)
    parent.kill('SIGKILL')
    await eventually('all have ended', () => sleeping(sleep).length === 0)
  })
})

const CTRL_C = '\u0003'

describe.skipIf(!HAS_TERMINALS).concurrent('run in a terminal', () => {
  it('leaves it to the command, which may end by Ctrl-C as it likes, and has colours itself', async ({ folder }) => {
    writeFileSync(
      join(folder, 'client.sh'),
      'trap "count=x$count" INT; test -t 0 && test -t 1 && test -t 2 && echo ready; read line; echo "got $count $line"; exit 7',
    )
    const running = startInTerminal(`NO_COLOR= FORCE_COLOR= ${run()} bash '${folder}/client.sh'`)
    await running.prints(/ready/)
    running.type(CTRL_C)
    // As a debugger, it goes on.
    running.type('line\n')
    const { code, stdout } = await running.ended
    expect({ code, once: /got x line\b/.test(stdout) }, stdout).toEqual({ code: 7, once: true })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a colour
    expect(stdout).toMatch(/\u001b\[31mFAILED\u001b\[39m/)
  })

  it('ends a command that does not end by Ctrl-C, when it is pressed again', async () => {
    const sleep = sleeper()
    const running = startInTerminal(
      `${run()} sh -c "trap 'echo ignored' INT; echo ready; while :; do ${sleep} & wait; done"`,
    )
    await running.prints(/ready/)
    let hasEnded = false
    void running.ended.then(() => {
      hasEnded = true
    })
    // The program shows nothing of the first one, and two at once would be one.
    await eventually('it has ended', () => {
      if (!hasEnded) running.type(CTRL_C)
      return hasEnded
    })
    expect(await running.ended).toMatchObject({ code: 130 })
    expect(sleeping(sleep)).toEqual([])
  })

  it('ends with everything when the terminal is closed', async () => {
    const sleep = sleeper()
    const running = startInTerminal(`${run()} sh -c "echo ready; setsid ${sleep} & ${sleep}"`)
    await running.prints(/ready/)
    await eventually('both sleep', () => sleeping(sleep).length > 2)
    running.stop('SIGKILL')
    await eventually('all have ended', () => sleeping(sleep).length === 0)
  })
})
