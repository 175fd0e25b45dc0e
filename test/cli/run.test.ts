import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { budget } from '../support/budget.ts'
import { eventually, findProcesses, sleeper } from '../support/processes.ts'
import { expectRefusal, it } from '../support/program.ts'
import { runInProcess, startInProcess } from '../support/program-in-process.ts'
import { PROGRAM, runProcess, runShell, spawnProgram } from '../support/program-process.ts'
import { HAS_TERMINALS, runInTerminal, startInTerminal } from '../support/pseudo-terminal.ts'
import { expectReport } from '../support/report-schema.ts'
import type { Result, RunOptions } from '../support/running-program.ts'
import { WITH_CURL } from '../support/shell-client.ts'

/**
 * A client in a shell, which begins in a tenth of the time of one in JavaScript: `ask METHOD PATH [BODY [KEY [OPTION]]]` calls the
 * service, and `control METHOD PATH [BODY]` the control plane.
 */
const CLIENT = `${WITH_CURL}
send() {
  curl --disable --silent --noproxy '*' --request "$2" "$1" --header 'content-type: application/json' \\
    --header "authorization: Bearer \${4:-$UNDERSTUDY_API_KEY}" \${3:+--data-raw "$3"} $5
}
ask() { send "$UNDERSTUDY_BASE_URL$2" "$1" "$3" "$4" "$5"; }
control() { send "$UNDERSTUDY_ADMIN_URL$2" "$1" "$3"; }
`
/** In milliseconds, after which the program kills a command that was told to end and has not. */
const PATIENCE = 5_000
/** More than the journal remembers, where it is told to remember a hundred. */
const MANY = budget({ quick: 300, full: 10_000 })
const LAWFUL = `ask GET /domains; ask POST /domains '{"domains":["ci.example"]}'`
const VIOLATING = `ask POST /domains '{"domain":"new.example"}'`

/** Runs the program, in this process, with a client, of which nobody reads what it prints. */
function runClient(code: string, options: readonly string[] = [], more: RunOptions = {}): Promise<Result> {
  return runInProcess(['run', ...options, '--', ...client(`exec >/dev/null; ${code}`)], {
    ...more,
    environment: { CLIENT, ...more.environment },
  })
}

/** The same, with the program as a process, so that what the client prints can be read. */
function readClient(code: string, options: readonly string[] = []): Promise<Result> {
  return runProcess(['run', ...options, '--', ...client(code)], { environment: { CLIENT } })
}

/** The command stays as short as its code, because the program prints it. */
function client(code: string): string[] {
  return ['sh', '-c', `eval "$CLIENT"; ${code}`]
}

/** A command in JavaScript. */
function javaScript(code: string): string[] {
  return [process.execPath, '--no-opt', '--input-type=module', '--eval', code]
}

/** Runs a line of a shell in the program, in this process, and reads what the line prints. */
async function readLine(line: string, folder: string, options: string[] = [], more?: RunOptions): Promise<string> {
  const file = join(folder, 'printed')
  await runInProcess(['run', ...options, '--', 'sh', '-c', `exec >'${file}'; ${line}`], more)
  const printed = readFileSync(file, 'utf8')
  rmSync(file)
  return printed
}

describe.concurrent('run', () => {
  it('succeeds with a client that keeps the contract, and says what was covered', async () => {
    const client = javaScript(`
      const { UNDERSTUDY_BASE_URL, UNDERSTUDY_API_KEY } = process.env
      const headers = { authorization: 'Bearer ' + UNDERSTUDY_API_KEY, 'content-type': 'application/json' }
      await fetch(UNDERSTUDY_BASE_URL + '/domains', { headers })
      const body = JSON.stringify({ domains: ['ci.example'] })
      await fetch(UNDERSTUDY_BASE_URL + '/domains', { method: 'POST', headers, body })
      console.log('all is well')`)
    const { code, stdout, stderr } = await runProcess(['run', '--', ...client])
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: 'all is well\n' })
    expect(stderr).toMatch(/^Requests +2, 2 held to the contract$/m)
    expect(stderr).toMatch(/^Covered +[\d.]+ % of the responses \(2 of \d+\), 2 of 8 operations$/m)
    expect(stderr).toContain('PASSED  The command succeeded. It sent 2 requests; none of them violates the contract.')
  })

  it('fails with one that violates it, and says which request, why, and what would be right', async () => {
    const { code, stderr } = await runClient(`${LAWFUL}; ${VIOLATING}`)
    expect(code).toBe(1)
    expect(stderr).toMatch(/POST \/api\/v1\/domains → 400 unknown_field {2}openapi\.yaml:\d+ {2}request [0-9a-f-]{36}/)
    expect(stderr).toContain('The field `domain` is not supported.')
    expect(stderr).toMatch(/curl .*"\$UNDERSTUDY_BASE_URL"\/domains --data-raw '\{"domains":\["new\.example"\]\}'/)
    expect(stderr).toContain('FAILED  The command succeeded. It sent 3 requests; 1 of them violates the contract.')
  })

  it.for([
    ['a body', VIOLATING],
    ['a query', `ask PATCH '/domaingroups?id=' '{"name":"New"}'`],
    ['a path', 'ask GET /domaingroup'],
    ['a method', `ask PUT /domains '{"domains":["new.example"]}'`],
  ])(
    'prints in place of %s that violates it a command that another run accepts, and no key',
    async ([, request = '']) => {
      const { stderr } = await runClient(request)
      const [command = ''] = stderr.match(/curl .*/) ?? []
      expect(command).not.toMatch(/key_|127\.0\.0\.1/)
      const again = await runClient(`${command} --fail`)
      expect(again.code, command + again.stderr).toBe(0)
    },
  )

  it.for<[what: string, trick: string]>([
    ['deletes its account', 'control DELETE /accounts/mine'],
    ['resets its account', 'control POST /accounts/mine/reset'],
    ['clears the journal', 'control DELETE /accounts/mine/requests'],
    ['clears the verdict', 'control DELETE /verdict'],
    [`sends ${MANY} more requests`, `ask GET '/domains#[1-${MANY}]' '' k_mine --parallel`],
  ])('is not fooled by a client that %s', async ([, trick]) => {
    const { code, stderr } = await runClient(
      `
      control POST /accounts '{"id":"mine","fixture":"empty","api_key":"k_mine"}'
      ask POST /domains '{"domain":"ci.example"}' k_mine
      ${trick}`,
      ['--journal', '100'],
    )
    expect({ code, found: stderr.includes('The field `domain` is not supported.') }, stderr).toEqual({
      code: 1,
      found: true,
    })
    expect(stderr).toMatch(/--data-raw '\{"domains":\["ci\.example"\]\}'/)
  })

  it('judges also what a client has sent last, without waiting for an answer', async () => {
    const leaving = javaScript(`
      import { connect } from 'node:net'
      const { UNDERSTUDY_BASE_URL, UNDERSTUDY_API_KEY } = process.env
      const { hostname, port, pathname, host } = new URL(UNDERSTUDY_BASE_URL + '/domains')
      const lines = ['POST ' + pathname + ' HTTP/1.1', 'host: ' + host, 'authorization: Bearer ' + UNDERSTUDY_API_KEY,
        'content-type: application/json', 'content-length: 14', '', '{"domain":"a"}']
      connect(port, hostname).write(lines.join('\\r\\n'), () => process.exit(0))`)
    const { code, stderr } = await runInProcess(['run', '--', ...leaving])
    expect({ code, said: /It sent 1 request; /.test(stderr) }, stderr).toEqual({ code: 1, said: true })
  })

  it.for<[what: string, code: string, hint: string]>([
    ['no request', '', 'UNDERSTUDY_BASE_URL, UNDERSTUDY_API_KEY and UNDERSTUDY_ADMIN_URL'],
    [
      'requests with a wrong key only',
      "ask GET /domains '' other",
      'Does the client send the key in UNDERSTUDY_API_KEY',
    ],
  ])('fails with %s, and says what the client may have missed', async ([, source, hint]) => {
    const { code, stderr } = await runClient(source)
    expect(code).toBe(1)
    expect(stderr).toContain(hint)
    expect(stderr).toContain('--set-env API_URL={baseUrl} --set-env API_KEY={apiKey}')
  })

  it.for<[options: string[], source: string, code: number]>([
    [['--fail-on', 'violation'], '', 0],
    [['--fail-on', 'idle'], `${LAWFUL}; ${VIOLATING}`, 0],
    [['--fail-on', 'idle'], '', 1],
    [['--fail-on', 'idle,violation'], `${LAWFUL}; ${VIOLATING}`, 1],
    [[], 'ask GET /dmarc; ask GET /dmarc', 0],
    [['--fail-on', 'violation,idle,impolite'], 'ask GET /dmarc; ask GET /dmarc', 1],
    [['--fail-on', 'impolite'], 'ask GET /dmarc; ask GET /dmarc; control DELETE /verdict', 1],
    [['--min-coverage', '2'], LAWFUL, 0],
    [['--min-coverage', '60'], LAWFUL, 1],
    [['--min-coverage', '0'], LAWFUL, 0],
  ])('with %j ends as it should (%#)', async ([options, source, expected]) => {
    const { code, stderr } = await runClient(source, options)
    expect(code, stderr).toBe(expected)
    expect(stderr).toContain(expected === 0 ? '\nPASSED  ' : '\nFAILED  ')
  })

  it('says what was impolite', async () => {
    const { stderr } = await runClient('ask GET /dmarc; ask GET /dmarc')
    expect(stderr).toContain('GET /dmarc was read again once between two daily refreshes, which gave the same bytes.')
  })

  it.for<[line: string, code: number]>([
    ['exit 3', 3],
    ['kill -TERM $$', 143],
    ['kill -SEGV $$', 139],
  ])('ends as the command that fails: %s', async ([line, expected], { folder }) => {
    const report = join(folder, 'run.json')
    const { code, stderr } = await runInProcess(['run', '--report', `json=${report}`, '--', 'sh', '-c', line])
    expect({ code, failed: stderr.includes('\nFAILED  The command ') }, stderr).toEqual({
      code: expected,
      failed: true,
    })
    expect(JSON.parse(readFileSync(report, 'utf8'))).toMatchObject({ command: ['sh', '-c', line], exit_code: expected })
  })

  it('writes what it knows as JSON', async ({ folder }) => {
    const report = join(folder, 'run.json')
    await runClient(`${LAWFUL}; ${VIOLATING}`, ['--report', `json=${report}`])
    const written = JSON.parse(readFileSync(report, 'utf8'))
    expectReport('run', written)
    const { command, ...rest } = written
    expect(command).toEqual(['sh', '-c', expect.any(String)])
    expect(rest).toEqual({
      exit_code: 1,
      seconds: expect.any(Number),
      verdict: expect.objectContaining({ passed: false, requests: 3, judged: 3, injected: 0 }),
      coverage: expect.objectContaining({ summary: expect.any(Object), operations: expect.any(Array) }),
    })
  })

  it('counts for the coverage also what an account has shown that is gone', async ({ folder }) => {
    const report = join(folder, 'run.json')
    await runClient("ask GET /domains '' sandbox_one; control DELETE /accounts/sandbox_one", [
      '--report',
      `json=${report}`,
    ])
    const { coverage } = JSON.parse(readFileSync(report, 'utf8'))
    expect(coverage.summary.operations.seen).toBe(1)
  })

  it('gives the command its own standard input, output and error', async () => {
    const result = await runShell(`printf 'a\\nb' | ${run()} sh -c 'tr a-b x-y; echo error >&2'`)
    expect(result.stdout).toBe('x\ny')
    expect(result.stderr).toMatch(/^error\n/)
  })

  it('lets the command write megabytes, and read nothing where there is nothing', async () => {
    const { stdout } = await runShell(`${run()} sh -c 'head -c 50000000 /dev/zero; cat' <&- 2>/dev/null | wc -c`)
    expect(stdout.trim()).toBe('50000000')
  })

  it('works where nobody can read its summary', async () => {
    const ways = ['2>/dev/full', '2>&-', '2>&1 >/dev/null | head -c 0']
    for (const closed of ways.slice(0, budget({ quick: 1, full: ways.length }))) {
      const { stdout } = await runShell(`( ${run()} sh -c 'exit 3' ${closed}; echo "$?" >&3 ) 3>&1 >/dev/null`)
      expect({ closed, stdout }).toEqual({ closed, stdout: closed.includes('|') ? '0\n' : '3\n' })
    }
  })

  it('says what does not apply to an account that is kept', async ({ folder }) => {
    const data = ['--data', join(folder, 'data')]
    await runClient(LAWFUL, data)
    const { stderr } = await runClient(LAWFUL, [...data, '--fixture', 'agency', '--fail-on', 'violation'])
    expect(stderr).toContain('dmarc-understudy: --fixture agency: applies to new accounts only; the account in ')
  })

  it('shows no key that is a secret', async ({ folder }) => {
    const report = ['--report', `json=${folder}/run.json`, '--report', `html=${folder}/run.html`]
    const { stderr } = await runClient(`${VIOLATING}; ask GET /domains/$UNDERSTUDY_API_KEY`, [
      ...report,
      ...['--api-key', 'k_very_secret', '--admin-token', 't_very_secret'],
    ])
    const texts = [stderr, ...readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))]
    expect(texts).toHaveLength(3)
    for (const text of texts) expect(text).not.toMatch(/k_very_secret|t_very_secret/)
  })

  it('tells the command where the service is, in its own words if it wants', async ({ folder }) => {
    const names = ['--set-env', 'API={baseUrl}|{apiKey}|{adminUrl}|{port}|{{}}', '--set-env=EMPTY=']
    const line = 'echo "$UNDERSTUDY_BASE_URL|$UNDERSTUDY_API_KEY|$UNDERSTUDY_ADMIN_URL|$API|$UNDERSTUDY_TRIAL|$EMPTY"'
    const printed = await readLine(line, folder, names)
    const [base = '', key, admin, ...others] = printed.trim().split('|')
    expect(base).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/api\/v1$/)
    expect(others).toEqual([base, key, admin, new URL(base).port, '{{}}', 'run', ''])
  })

  it('does not tell of a control plane that is not there, such as that of a run around it', async ({ folder }) => {
    const line = 'printenv UNDERSTUDY_ADMIN_URL || echo none'
    const environment = { UNDERSTUDY_ADMIN_URL: 'http://127.0.0.1:1/__admin' }
    expect(await readLine(line, folder, ['--no-admin'], { environment })).toBe('none\n')
  })

  it('passes the options of serve on to its server', async () => {
    const options = ['--fixture', 'empty', '--api-key', 'k_mine', '--now', '2026-01-15T09:00:00Z', '--frozen']
    const { stdout } = await readClient('ask GET /domains "" k_mine --include', options)
    expect(stdout).toMatch(/^date: Thu, 15 Jan 2026 09:00:00 GMT\r$/im)
    expect(stdout).toMatch(/\r\n\r\n\{"success":true,"data":\{"domains":\[\]\}\}$/)
  })

  it('keeps accounts in a folder, and leaves nothing there that keeps the next run from it', async ({ folder }) => {
    const options = ['--data', folder, '--fixture', 'empty']
    await runClient(LAWFUL, options)
    const { stdout, code } = await readClient('ask GET /domains', options)
    expect({ code, stdout }).toEqual({ code: 0, stdout: '{"success":true,"data":{"domains":["ci.example"]}}' })
    expect(readdirSync(folder)).toEqual(['account-default.json'])
  })

  it('writes a ready file while the command runs', async ({ folder }) => {
    const file = join(folder, 'ready.json')
    const printed = await readLine(`cat '${file}'`, folder, ['--ready-file', file])
    expect(JSON.parse(printed)).toMatchObject({ base_url: expect.stringMatching(/^http/), pid: expect.any(Number) })
    expect(readdirSync(folder)).toEqual([])
  })

  it('adds its log to standard error where it is asked for', async () => {
    const { stderr } = await readClient(LAWFUL, ['--log-level', 'info', '--log-format', 'json'])
    expect(stderr).toMatch(/^\{.*"path":"\/api\/v1\/domains".*\}$/m)
  })

  it('ends what the command has left behind, and says so', async () => {
    const sleep = sleeper()
    const { stderr } = await runInProcess(['run', '--', 'sh', '-c', `setsid ${sleep} & sleep 0.1`])
    expect(stderr).toContain('dmarc-understudy: the command left a process behind, which was ended: sleep\n')
    expect(findProcesses(sleep.slice(6))).toEqual([])
  })

  it('says for what it waits', async ({ folder }) => {
    const [sleep, enough] = [sleeper(), join(folder, 'enough')]
    // It ends by itself; the tests of commands show that what never does is killed.
    const waiting = `trap '' TERM; while [ ! -e '${enough}' ]; do sleep 0.05; done; : ${sleep}`
    const running = startInProcess(['run', '--', 'sh', '-c', `setsid sh -c "${waiting}" & sleep 0.2`])
    await expect
      .poll(() => running.stderr())
      .toMatch(/^dmarc-understudy: the command left behind what does not end at once: (sleep, )?sh(, sleep)?\n/)
    writeFileSync(enough, '')
    await running.ended
    expect(findProcesses(sleep.slice(6))).toEqual([])
  })

  it('ends a command that runs longer than --timeout', async () => {
    const sleep = sleeper()
    const { code, stderr } = await runInProcess(['run', '--timeout', '1s', '--', 'sh', '-c', `${sleep} & wait`])
    expect(code).toBe(124)
    expect(stderr).toContain('dmarc-understudy: the command ran longer than 1s and was ended (--timeout)\n')
    expect(findProcesses(sleep.slice(6))).toEqual([])
  })

  it('needs no temporary folder', async ({ folder }) => {
    const closed = join(folder, 'closed')
    mkdirSync(closed)
    chmodSync(closed, 0o500)
    for (const TMPDIR of [join(folder, 'nowhere'), closed, '/dev/null']) {
      expect(await runClient(LAWFUL, [], { environment: { TMPDIR } })).toMatchObject({ code: 0 })
    }
    chmodSync(closed, 0o700)
    expect(readdirSync(folder)).toEqual(['closed'])
  })

  it('lets a command that opens the port itself fail in its own way', async () => {
    const opening = javaScript(`import { createServer } from 'node:net'
      createServer().on('error', (e) => { console.error(e.code); process.exit(9) })
        .listen(new URL(process.env.UNDERSTUDY_BASE_URL).port, '127.0.0.1')`)
    const result = await runProcess(['run', '--', ...opening])
    expect(result).toMatchObject({ code: 9, stderr: expect.stringMatching(/^EADDRINUSE\n/) })
  })

  it('still says how the command failed when a report cannot be written any more', async ({ folder }) => {
    const gone = join(folder, 'reports')
    mkdirSync(gone)
    const report = ['--report', `json=${gone}/run.json`]
    const failed = await runInProcess(['run', ...report, '--', 'sh', '-c', `rm -r ${gone}; exit 5`])
    expect(failed).toMatchObject({ code: 5, stderr: expect.stringContaining(`--report json=${gone}/run.json: `) })
    mkdirSync(gone)
    expect(await runClient(`${LAWFUL}; rmdir '${gone}'`, report)).toMatchObject({
      code: 3,
    })
  })
})

/** The beginning of a line of a shell that runs a command. */
function run(options = ''): string {
  return `'${process.execPath}' --no-opt '${PROGRAM}' run ${options} --`
}

describe.concurrent('run that is used wrongly', () => {
  const usage = 'needs a command after --, such as dmarc-understudy run -- npm test'

  it.for<[args: string[], code: number, message: string]>([
    [[], 2, `run: ${usage}`],
    [['--'], 2, `run: ${usage}`],
    [['--', ''], 2, `run: ${usage}`],
    [['npm', 'test'], 2, `run: ${usage}`],
    [['npm', '--', 'test'], 2, 'run: npm is no option; the command comes after --: run [options] -- COMMAND'],
    [['--prot', '80', '--', 'true'], 2, '--prot is no option here; did you mean --port?'],
    [
      ['--fail-on', 'never', '--', 'true'],
      2,
      '--fail-on never: must be one or several of violation, idle, impolite, separated by commas',
    ],
    [
      ['--fail-on', 'idle,', '--', 'true'],
      2,
      '--fail-on idle,: must be one or several of violation, idle, impolite, separated by commas',
    ],
    [
      ['--fail-on=', '--', 'true'],
      2,
      '--fail-on : must be one or several of violation, idle, impolite, separated by commas',
    ],
    [['--min-coverage', '101', '--', 'true'], 2, '--min-coverage 101: must be a whole number from 0 to 100'],
    [
      ['--timeout', '0', '--', 'true'],
      2,
      '--timeout 0: must be a duration such as 90s, 30m, 1h or 2d, and longer than 0',
    ],
    [
      ['--timeout', 'soon', '--', 'true'],
      2,
      '--timeout soon: must be a duration such as 90s, 30m, 1h or 2d, and longer than 0',
    ],
    ...['API', '=x', '1A=x', 'A B=x', 'API={baseurl}', 'API={url}/x'].map((each): [string[], number, string] => [
      ['--set-env', each, '--', 'true'],
      2,
      `--set-env ${each}: must be NAME=TEMPLATE, where the template may have {baseUrl}, {apiKey}, {adminUrl}, {port}`,
    ]),
    [
      ['--report', 'json=/no/such/folder/run.json', '--', 'true'],
      2,
      '--report json=/no/such/folder/run.json: its folder does not exist; create it, or name another file',
    ],
    [['--report', 'jsno=run.json', '--', 'true'], 2, '--report jsno=run.json: did you mean json=run.json?'],
    [
      ['--ready-file', '/no/such/folder/r.json', '--', 'true'],
      2,
      '--ready-file /no/such/folder/r.json: cannot be written (ENOENT); give a file in a folder that exists',
    ],
    [
      ['--fixture', 'nowhere', '--', 'true'],
      2,
      'nowhere: The fixture cannot be read (ENOENT); give demo, empty, edge-cases, agency or the path of a JSON file.',
    ],
    [
      ['--host', '0.0.0.0', '--', 'true'],
      2,
      '--host 0.0.0.0: others can reach this address, so give --admin-token TOKEN or --no-admin',
    ],
    [['--', 'no-such-command'], 127, 'no-such-command: there is no such command'],
    [['--', './no/such/command'], 127, './no/such/command: there is no such command'],
    [['--', '/etc/passwd'], 126, '/etc/passwd: cannot be run: it is not executable (chmod +x makes it so)'],
  ])('says so in one line: %j', async ([args, code, message]) => {
    await expectRefusal(['run', ...args], code, message)
  })

  it('says that its port is in use', async ({ onTestFinished }) => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void other.close())
    const { port } = other.address() as AddressInfo
    const message = `--port ${port}: is in use on 127.0.0.1; choose another, or 0 for any free port`
    await expectRefusal(['run', '--port', `${port}`, '--', 'true'], 3, message)
  })

  it('says that it cannot tell the key of an account that was made with another one', async ({ folder }) => {
    expect((await runClient(LAWFUL, ['--data', folder, '--api-key', 'k_mine'])).code).toBe(0)
    const message = `--data ${folder}: only the hash of the key of its account is kept, so the command could not be told it; give --api-key`
    await expectRefusal(['run', '--data', folder, '--', 'true'], 2, message)
    expect((await runClient(LAWFUL, ['--data', folder, '--api-key', 'k_mine'])).code).toBe(0)
  })

  it('leaves no ready file and no lock behind', async ({ folder }) => {
    const options = ['--data', join(folder, 'data'), '--ready-file', join(folder, 'ready.json')]
    await expectRefusal(['run', ...options, '--', 'no-such-command'], 127, 'no-such-command: there is no such command')
    expect(readdirSync(folder)).toEqual(['data'])
    expect(existsSync(join(folder, 'data', '.lock'))).toBe(false)
  })
})

describe.concurrent('a signal to run', () => {
  const signals = [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const
  it.for(signals.slice(0, budget({ quick: 1, full: signals.length })))(
    '%s reaches the command and its children, and nothing is left',
    async ([signal, expected], { folder }) => {
      const [sleep, ready] = [sleeper(), join(folder, 'ready.json')]
      const line = `setsid ${sleep} & exec ${sleep}`
      const running = spawnProgram([
        'run',
        '--data',
        join(folder, 'data'),
        '--ready-file',
        ready,
        '--',
        'sh',
        '-c',
        line,
      ])
      await eventually('both sleep', () => findProcesses(sleep.slice(6)).length === 3)
      running.stop(signal)
      const { code, stderr } = await running.ended
      expect(code, stderr).toBe(expected)
      expect(stderr).toContain(`FAILED  The command was ended by ${signal}.`)
      expect(findProcesses(sleep.slice(6))).toEqual([])
      expect(readdirSync(folder)).toEqual(['data'])
      expect(readdirSync(join(folder, 'data'))).toEqual(['account-default.json'])
    },
  )

  it('given again ends at once what ignores it', async ({ folder }) => {
    const [sleep, ignored] = [sleeper(), join(folder, 'ignored')]
    const line = `trap "touch '${ignored}'" INT TERM; while :; do ${sleep} & wait; done`
    const running = spawnProgram(['run', '--', 'sh', '-c', line])
    await eventually('it sleeps', () => findProcesses(sleep.slice(6)).length > 2)
    const told = performance.now()
    running.stop('SIGINT')
    // Two signals that come at once would be one.
    await eventually('it ignores the signal', () => existsSync(ignored))
    running.stop('SIGINT')
    expect(await running.ended).toMatchObject({ code: 130 })
    expect(performance.now() - told).toBeLessThan(PATIENCE)
    expect(findProcesses(sleep.slice(6))).toEqual([])
  })

  it('at any moment leaves no process, no lock and no file', { timeout: 120_000 }, async ({ folder }) => {
    for (let delay = 20; delay <= 420; delay += budget({ quick: 200, full: 40 })) {
      const [sleep, own] = [sleeper(), join(folder, `${delay}`)]
      mkdirSync(own)
      const options = [
        '--data',
        join(own, 'data'),
        '--ready-file',
        join(own, 'ready.json'),
        '--report',
        `json=${own}/run.json`,
      ]
      const running = spawnProgram(['run', ...options, '--', 'sh', '-c', `${sleep} & ${sleep}`])
      await pause(delay)
      running.stop('SIGINT')
      const { code, stderr } = await running.ended
      // Before the program has loaded, the signal ends it as it ends any other.
      expect([130, null], stderr).toContain(code)
      expect(stderr).not.toContain('    at ')
      expect(findProcesses(sleep.slice(6))).toEqual([])
      expect(
        readdirSync(own).filter((name) => !['data', 'run.json'].includes(name)),
        stderr,
      ).toEqual([])
      expect(existsSync(join(own, 'data', '.lock'))).toBe(false)
    }
  })

  it('comes also from the end of the parent, with --exit-with-parent', async ({ folder }) => {
    const sleep = sleeper()
    writeFileSync(join(folder, 'start.sh'), `${run('--exit-with-parent')} ${sleep} 2>/dev/null & wait`)
    const parent = spawn('bash', [join(folder, 'start.sh')], { stdio: 'ignore' })
    await eventually('it sleeps', () => findProcesses(sleep.slice(6)).length > 1)
    parent.kill('SIGKILL')
    await eventually('all have ended', () => findProcesses(sleep.slice(6)).length === 0)
  })
})

/** A program of one line that answers to Ctrl-C as it likes; it says when it is ready. */
function inTerminal(code: string): string {
  return `${run()} '${process.execPath}' --eval "${code}; console.log('ready')"`
}
const CTRL_C = '\u0003'

describe.skipIf(!HAS_TERMINALS).concurrent('run in a terminal', () => {
  it('leaves the terminal to the command, and has colours itself', async () => {
    const code = 'console.log([process.stdin, process.stdout, process.stderr].map((each) => each.isTTY))'
    const { stdout } = await runInTerminal(`NO_COLOR= FORCE_COLOR= ${inTerminal(code)}`)
    expect(stdout).toContain('true')
    expect(stdout).not.toContain('undefined')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a colour
    expect(stdout).toMatch(/\u001b\[31mFAILED\u001b\[39m/)
  })

  it('lets the command have Ctrl-C once, and end as it likes', async () => {
    const code = `let count = 0; process.on('SIGINT', () => { count++ || setTimeout(() => { console.log('got ' + count); process.exit(7) }, 400) }); setTimeout(() => {}, 60000)`
    const running = startInTerminal(inTerminal(code))
    await running.prints(/ready/)
    running.type(CTRL_C)
    const { code: ended, stdout } = await running.ended
    expect({ ended, once: /got 1\b/.test(stdout) }, stdout).toEqual({ ended: 7, once: true })
  })

  it('lets a command go on after Ctrl-C, as a debugger does', async () => {
    const code = `process.on('SIGINT', () => console.log('interrupted')); process.stdin.on('data', (line) => process.exit(Number(line)))`
    const running = startInTerminal(inTerminal(code))
    await running.prints(/ready/)
    running.type(CTRL_C)
    await running.prints(/interrupted/)
    running.type('4\n')
    expect(await running.ended).toMatchObject({ code: 4 })
  })

  it('ends a command at once that does not end by Ctrl-C, when it is pressed again', async () => {
    const sleep = sleeper()
    const running = startInTerminal(
      `${run()} sh -c "trap 'echo ignored' INT; echo ready; while :; do ${sleep} & wait; done"`,
    )
    await running.prints(/ready/)
    running.type(CTRL_C)
    await running.prints(/ignored/)
    // The program shows nothing of the first one, and two at once would be one.
    await pause(500)
    const pressedAgain = performance.now()
    running.type(CTRL_C)
    expect(await running.ended).toMatchObject({ code: 130 })
    expect(performance.now() - pressedAgain).toBeLessThan(PATIENCE)
    expect(findProcesses(sleep.slice(6))).toEqual([])
  })

  it('ends with everything when the terminal is closed', async () => {
    const sleep = sleeper()
    const running = startInTerminal(`${run()} sh -c "echo ready; setsid ${sleep} & ${sleep}"`)
    await running.prints(/ready/)
    await eventually('both sleep', () => findProcesses(sleep.slice(6)).length > 2)
    running.stop('SIGKILL')
    await eventually('all have ended', () => findProcesses(sleep.slice(6)).length === 0)
  })
})
