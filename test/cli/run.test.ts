import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { eventually, sleeper, sleeping } from '../support/processes.ts'
import { it } from '../support/program.ts'
import { runInProcess, startInProcess } from '../support/program-in-process.ts'
import { PROGRAM, runShell } from '../support/program-process.ts'
import { expectReport } from '../support/report-schema.ts'
import { ENVIRONMENT, LAWFUL, runClient, VIOLATING } from './run-client.ts'

describe('run', () => {
  it('succeeds with a client that keeps the contract, and says what was covered', async () => {
    const { code, stderr } = await runClient(LAWFUL)
    expect(code, stderr).toBe(0)
    expect(stderr).toMatch(/^Requests +2, 2 checked against the contract$/m)
    expect(stderr).toMatch(/^Covered +[\d.]+ % of the responses \(2 of \d+\), 2 of 8 operations$/m)
    expect(stderr).toContain('PASSED  The command succeeded. It sent 2 requests; none of them violates the contract.')
  })

  it('fails with one that violates it, says where, why, and what would be right, which another run accepts', async ({
    folder,
  }) => {
    const report = ['--report', `json=${folder}/run.json`]
    const client = `${VIOLATING}; ask PATCH '/domaingroups?id=' '{"name":"New"}'; ask GET /dmarc; ask GET /dmarc; ask GET /dmarc`
    const { code, stderr } = await runClient(client, report)
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /POST \/api\/v1\/domains → 400 unknown_field {2}openapi\.yaml#\/paths\/~1domains\/post {2}request [0-9a-f-]{36}/,
    )
    expect(stderr).toContain('The field `domain` is not supported.')
    // The server is gone, and so are its addresses.
    expect(stderr).not.toContain('/requests/')
    expect(stderr).toMatch(/^See more +with --keep, the server stays/m)
    expect(stderr).toMatch(/^FAILED {2}The command succeeded\. It sent 5 requests; 2 of them violate the contract\.$/m)
    // The first impolite request, and the others.
    expect(stderr).toMatch(/^ {2}GET \/api\/v1\/dmarc → 200 {2}request [0-9a-f-]{36}$/m)
    expect(stderr).toMatch(/was read again twice .* Also: GET \/api\/v1\/dmarc, request [0-9a-f-]{36}\.$/m)
    const written = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'))
    expectReport('run', written)
    expect(written).toMatchObject({ exit_code: 1, verdict: { passed: false, requests: 5, judged: 5, injected: 0 } })
    const commands = stderr.match(/curl .*/g) ?? []
    expect(commands).toHaveLength(2)
    expect(commands.join()).not.toMatch(/key_|127\.0\.0\.1/)
    const again = await runClient(commands.map((command) => `${command} --fail`).join(' && '))
    expect(again.code, commands.join('\n') + again.stderr).toBe(0)
  })

  it('counts a bad request that is sent again as one thing that is wrong, and says at the end why it fails', async () => {
    const { stderr } = await runClient(`${VIOLATING}; ${VIOLATING}`)
    expect(stderr.match(/^error {2}.*$/gm)).toEqual([
      'error  The contract forbids the request  violation/unknown_field',
    ])
    expect(stderr).toMatch(/POST \/api\/v1\/domains → 400 unknown_field .* {2}2 times$/m)
    const options = ['--min-coverage', '50', '--fail-on', 'impolite']
    const polite = await runClient(`${LAWFUL}; ask GET /dmarc; ask GET /dmarc`, options)
    expect(polite.stderr.trimEnd().split('\n').at(-1)).toMatch(
      /^FAILED .*none of them violates the contract\. The command saw [\d.]+ % .* less than 50 %\. The client was impolite\.$/,
    )
  })

  it('shortens quota windows with --window, for a client that waits by its own clock', async ({ folder }) => {
    const now = ['--now', '2026-01-15T09:00:00Z', '--frozen']
    const read = `ask GET /domains '' '' --include >'${folder}/answer'`
    await runClient(read, ['--window', '3s', ...now])
    expect(readFileSync(join(folder, 'answer'), 'utf8')).toContain(`${Date.parse('2026-01-15T09:00:03Z') / 1000}`)
  })

  it.for<[what: string, code: string, hint: string]>([
    ['no request', '', 'UNDERSTUDY_BASE_URL, UNDERSTUDY_API_KEY and UNDERSTUDY_ADMIN_URL'],
    ['a wrong key only', "ask GET /domains '' other", 'Does the client send the key in UNDERSTUDY_API_KEY'],
  ])('fails with %s, and says what the client may have missed', async ([, source, hint]) => {
    const { code, stderr } = await runClient(source)
    expect(code).toBe(1)
    expect(stderr).toContain(hint)
    expect(stderr).toContain('--set-env API_URL={baseUrl} --set-env API_KEY={apiKey}')
  })

  it('says of a command that fails before any request that it did, and nothing of the contract', async () => {
    const { code, stderr } = await runClient('exit 3')
    expect(code).toBe(3)
    expect(stderr.trimEnd()).toMatch(
      /\nFAILED {2}The command failed with exit code 3 before it sent a request to the service\.$/,
    )
    expect(stderr).toContain('The command was told where the service is by UNDERSTUDY_BASE_URL')
    expect(stderr).not.toContain('Nothing was checked')
  })

  it('keeps the server on demand, with an address for each violation, but not where it is told to stop', async ({
    folder,
  }) => {
    const [file, begun] = [join(folder, 'run.json'), join(folder, 'begun')]
    const client = `eval "$CLIENT"; exec >/dev/null; ${VIOLATING}; test "$UNDERSTUDY_KEPT" = true`
    const keep = (...args: string[]) => startInProcess(['run', '--keep', ...args], { environment: ENVIRONMENT })
    const kept = keep('--report', `json=${file}`, '--', 'sh', '-c', client)
    await expect.poll(kept.stderr).toContain('the server stays until you stop the program')
    const [page = ''] = /http:\S+\/page\/default\/requests\/[\w-]+/.exec(kept.stderr()) ?? []
    expect((await fetch(page, { headers: { accept: 'text/html' } })).status).toBe(200)
    expect(JSON.parse(readFileSync(file, 'utf8')).verdict.violations.first[0].page).toBe(page)
    kept.stop()
    expect(await kept.ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('FAILED  The command succeeded.'),
    })
    await expect(fetch(page)).rejects.toThrow()
    const stopped = keep('--', 'sh', '-c', `echo > ${begun}; exec sleep 60`)
    await eventually('it has begun', () => existsSync(begun))
    stopped.stop()
    expect((await stopped.ended).stderr).not.toContain('the server stays')
  })

  it('is not fooled by a client that resets, clears, deletes all, and sends more than is remembered', async ({
    folder,
  }) => {
    const { code, stderr } = await runClient(
      `control POST /accounts '{"id":"mine","fixture":"empty","api_key":"k_mine"}'
      ask GET /dmarc '' k_mine; ask GET /dmarc '' k_mine
      ask POST /domains '{"domain":"ci.example"}' k_mine
      control POST /accounts/mine/reset
      control DELETE /accounts/mine/requests
      control DELETE /verdict
      control DELETE /accounts/mine
      for more in 1 2 3 4 5; do ask GET /domains '' sandbox_other; done`,
      ['--journal', '2', '--no-quotas', '--fail-on', 'violation', '--report', `json=${folder}/run.json`],
    )
    expect(code, stderr).toBe(1)
    expect(stderr).toContain('The field `domain` is not supported.')
    expect(stderr).toMatch(/--data-raw '\{"domains":\["ci\.example"\]\}'/)
    expect(stderr).toMatch(/GET \/api\/v1\/dmarc → 200 {2}request [0-9a-f-]{36}\n {2}GET \/dmarc was read again once/)
    const { coverage } = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'))
    expect(coverage.summary.operations.seen).toBe(3)
  })

  it('judges also what a client has sent last, without waiting for an answer', async () => {
    const leaving = `const { UNDERSTUDY_BASE_URL: url, UNDERSTUDY_API_KEY: key } = process.env
      const head = 'POST /api/v1/domains HTTP/1.1\\r\\nhost: ' + new URL(url).host + '\\r\\ncontent-type: application/json\\r\\ncontent-length: 14'
      const request = head + '\\r\\nauthorization: Bearer ' + key + '\\r\\n\\r\\n{"domain":"a"}'
      const socket = require('net').connect(new URL(url).port, '127.0.0.1', () => socket.write(request, process.exit))`
    const { code, stderr } = await runInProcess(['run', '--', process.execPath, '-e', leaving])
    expect({ code, said: /It sent 1 request; it violates/.test(stderr) }, stderr).toEqual({ code: 1, said: true })
  })

  it('tells the command where the service is, in its own words if it wants, in a ready file, and not where no control plane is', async ({
    folder,
  }) => {
    const line = `exec >printed; eval "$CLIENT"; echo "$UNDERSTUDY_BASE_URL|$UNDERSTUDY_API_KEY|$API|$UNDERSTUDY_TRIAL|$EMPTY"
      printenv UNDERSTUDY_ADMIN_URL || echo none; cat ready.json; ask GET /domains "" k_mine --include`
    const names = ['--set-env', 'API={baseUrl}|{apiKey}|{port}|{{}}', '--set-env=EMPTY=', '--ready-file', 'ready.json']
    const options = [
      '--fixture',
      'empty',
      '--api-key',
      'k_mine',
      '--now',
      '2026-01-15T09:00:00Z',
      '--frozen',
      '--no-admin',
    ]
    const outer = { UNDERSTUDY_ADMIN_URL: 'http://127.0.0.1:1/__admin' }
    const environment = { ...ENVIRONMENT, ...outer }
    await runInProcess(['run', ...options, ...names, '--', 'sh', '-c', `cd '${folder}'; ${line}`], {
      environment,
      folder,
    })
    const printed = readFileSync(join(folder, 'printed'), 'utf8')
    const [told = '', admin] = printed.split('\n')
    const [base = '', ...others] = told.split('|')
    expect(others).toEqual(['k_mine', base, 'k_mine', new URL(base).port, '{{}}', 'run', ''])
    expect(admin).toBe('none')
    const [ready = ''] = /\{[^}]*\}/.exec(printed.slice(told.length)) ?? []
    expect(JSON.parse(ready)).toMatchObject({ base_url: base, api_key: 'k_mine', admin_url: null })
    expect(printed).toMatch(/^date: Thu, 15 Jan 2026 09:00:00 GMT\r?$/im)
    expect(printed).toContain('{"success":true,"data":{"domains":[]}}')
    expect(readdirSync(folder)).toEqual(['printed'])
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

describe('the command of run', () => {
  it('has its own input, output and error, also where there is no temporary folder', async ({ folder }) => {
    const line = `eval "$CLIENT"; tr a-b x-y; ask GET /domains >/dev/null; echo error >&2; head -c 50000000 /dev/zero`
    writeFileSync(join(folder, 'line.sh'), line)
    const run = `'${process.execPath}' '${PROGRAM}' run --log-level info --log-format json -- sh line.sh`
    const environment = { ...ENVIRONMENT, TMPDIR: '/dev/null' }
    const { stdout, stderr } = await runShell(`printf 'a\\nb' | ${run} | (head -c 3; wc -c)`, { folder, environment })
    expect(stdout.split('\n').map((each) => each.trim())).toEqual(['x', 'y50000000', ''])
    expect(stderr).toMatch(/^error$/m)
    expect(stderr).toMatch(/^\{.*"path":"\/api\/v1\/domains".*\}$/m)
    expect(stderr).toMatch(/^PASSED {2}/m)
  })

  it('is ended if it runs longer than --timeout', async () => {
    const sleep = sleeper()
    const { code, stderr } = await runInProcess(['run', '--timeout', '1s', '--', 'sh', '-c', `${sleep} & wait`])
    expect(code).toBe(124)
    expect(stderr).toContain('dmarc-understudy: the command ran longer than 1s and was ended (--timeout)\n')
    expect(sleeping(sleep)).toEqual([])
  })

  it('and its children get a signal to run, and no process, lock or file is left', async ({ folder, start }) => {
    const [sleep, ready] = [sleeper(), join(folder, 'ready.json')]
    const options = ['--data', join(folder, 'data'), '--ready-file', ready]
    const running = start(['run', ...options, '--', 'sh', '-c', `${sleep} & exec ${sleep}`])
    await eventually('both sleep', () => sleeping(sleep).length === 2)
    running.stop('SIGHUP')
    const { code, stderr } = await running.ended
    expect(code, stderr).toBe(129)
    expect(stderr).toContain('FAILED  The command was ended by SIGHUP before it sent a request to the service.')
    expect(sleeping(sleep)).toEqual([])
    expect([readdirSync(folder), readdirSync(join(folder, 'data'))]).toEqual([['data'], ['account-default.json']])
  })

  it('is not left behind by a signal while run starts, nor is a lock', async ({ folder, start }) => {
    const sleep = sleeper()
    const files = ['--data', `${folder}/data`, '--ready-file', `${folder}/ready.json`]
    const running = start(['run', ...files, '--', 'sh', '-c', `${sleep} & ${sleep}`])
    await eventually('it has the folder', () => existsSync(join(folder, 'data', '.lock')))
    running.stop('SIGTERM')
    const { code, stderr } = await running.ended
    expect({ code, stderr }).toEqual({ code: 143, stderr: expect.not.stringContaining('    at ') })
    expect(sleeping(sleep)).toEqual([])
    expect(['data']).toEqual(expect.arrayContaining(readdirSync(folder)))
    expect(existsSync(join(folder, 'data', '.lock'))).toBe(false)
  })
})
