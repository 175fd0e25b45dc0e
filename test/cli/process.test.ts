import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished } from 'vitest'
import { eventually } from '../support/processes.ts'
import { it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { PROGRAM, ROOT, runProcess, runShell, spawnShell } from '../support/program-process.ts'
import { environmentWith } from '../support/running-program.ts'

const LINE = `'${process.execPath}' '${PROGRAM}'`

/** Whether requests are answered there. */
const answers = (url: string) =>
  fetch(url).then(
    () => true,
    () => false,
  )

describe('the program as a process', () => {
  // All other refusals and outputs are looked at in the process of the tests.
  it('says and returns what it does without one', async () => {
    const args = ['serve', '--port', '0', '--data', fileURLToPath(import.meta.url)]
    const result = await runProcess(args)
    expect(result.code).toBe(3)
    expect(result).toEqual(await runInProcess(args))
  })

  it('is executable, and may be read in part, by head or a pager', async () => {
    const result = await runShell('dist/cli.js assumptions --json | head -n 1')
    expect(result).toMatchObject({ code: 0, stdout: '[\n', stderr: expect.not.stringContaining('EPIPE') })
  })

  it('that cannot write its output says so in one line', async () => {
    const { code, stderr } = await runShell(`${LINE} serve --port 0 > /dev/full`)
    const message = 'standard output cannot be written (ENOSPC); send it somewhere else'
    expect({ code, stderr }).toEqual({ code: 3, stderr: `dmarc-understudy: ${message}\n` })
  })

  it('says in one line that its working folder was deleted', async () => {
    const { code, stderr } = await runShell(
      `folder=$(mktemp -d) && cd "$folder" && rmdir "$folder" && ${LINE} run -- true`,
    )
    const message = 'the working folder is not there any more (ENOENT); change into another one'
    expect({ code, stderr }).toEqual({ code: 2, stderr: `dmarc-understudy: ${message}\n` })
  })

  it('is started by npm with its options, and ends when npm is told to', async () => {
    // Without the build, which the tests have just made.
    const npm = 'exec npm start --silent --ignore-scripts -- --port 0 --log-level warn'
    const running = spawnShell(npm, { folder: ROOT })
    onTestFinished(() => running.stop('SIGKILL'))
    const [, url = ''] = await running.prints(/Base URL {3}(\S+)/)
    expect((await fetch(`${url}/domains`)).status).toBe(401)
    running.stop()
    expect((await running.ended).stderr).toBe('')
    await expect.poll(() => answers(url)).toBe(false)
  })
})

describe('the log of serve', () => {
  const WRONG_KEY = `key_Wrong123.${'w'.repeat(48)}`

  it('is JSON lines that tell of every request to the last one before the end, and hold no secret', async ({
    folder,
  }) => {
    const file = join(folder, 'log')
    const running = spawnShell(`exec ${LINE} serve --port 0 --fixture empty --admin-token token-of-mine 2> '${file}'`)
    const [greeting, url, key = ''] = await running.prints(
      /[\s\S]*Base URL {3}(\S+)\n {2}API key {4}(.+)\n[\s\S]*curl .+\n/,
    )
    const ask = (path: string, more: RequestInit = {}, bearer = key) =>
      fetch(url + path, { headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' }, ...more })
    await ask('/domains', { method: 'POST', body: '{"domains":["a.example"]}' })
    await ask('/domaingroups?id=SECRET-ID')
    await ask('/dmarc', {}, WRONG_KEY)
    for (let asked = 0; asked < 20; asked++) await ask('/nowhere')
    running.stop()
    expect(await running.ended).toEqual({ code: 0, stdout: `${greeting}\n`, stderr: '' })
    const text = readFileSync(file, 'utf8')
    const lines = text.trimEnd().split('\n')
    const common = {
      level: 30,
      msg: 'request',
      time: expect.any(String),
      request_id: expect.any(String),
      ms: expect.any(Number),
    }
    const added = { operation: 'addDomains', status: 200, account: 'default', key: key.split('.')[0] }
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { ...common, ...added, method: 'POST', path: '/api/v1/domains' },
      { ...common, method: 'GET', path: '/api/v1/domaingroups', status: 404, code: 'not_found' },
      { ...common, method: 'GET', path: '/api/v1/dmarc', status: 401, code: 'unauthorized' },
      ...Array(20).fill({ ...common, method: 'GET', path: '/api/v1/nowhere', status: 404, code: 'not_found' }),
    ])
    for (const secret of [key.split('.')[1], WRONG_KEY.split('.')[1], 'token-of', 'SECRET-ID', 'Bearer'])
      expect(text).not.toContain(secret)
  })

  it('that nobody reads holds up neither the answers nor the stop', async () => {
    const child = spawn(process.execPath, [PROGRAM, 'serve', '--port', '0'], { stdio: ['ignore', 'pipe', 'pipe'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    let greeting = ''
    for await (const chunk of child.stdout.setEncoding('utf8')) {
      greeting += chunk
      if (greeting.includes('Try it')) break
    }
    const [, url] = /Base URL {3}(\S+)/.exec(greeting) ?? []
    // A pipe holds 64 KiB, a socket 200 KiB.
    const path = `/${'x'.repeat(4_000)}`
    for (let sent = 0; sent < 100; sent++) expect((await fetch(url + path)).status).toBe(404)
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
  })
})

describe('a data folder', () => {
  const ADD = { method: 'POST', body: '{"domains":["first.example"]}' }

  it('is made where it is missing, is refused to others meanwhile, and keeps what was answered from a kill', async ({
    serveProcess,
    folder,
  }) => {
    const data = join(folder, 'here', 'deep', 'er')
    mkdirSync(join(folder, 'here'))
    const options = ['--data', 'deep/er', '--durability', 'rename', '--fixture', 'empty']
    const first = await serveProcess(options, { folder: join(folder, 'here') })
    expect((await first.request('/domains', ADD)).status).toBe(200)
    const { code, stdout, stderr } = await runInProcess(['serve', '--port', '0', '--data', data])
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
    const refusal = `^dmarc-understudy: ${data} is in use by process \\d+ on ${hostname()}: stop it, choose another folder, `
    expect(stderr).toMatch(new RegExp(`${refusal}or [^\\n]+\\n$`))
    first.stop('SIGKILL')
    await first.ended
    expect(existsSync(join(data, '.lock'))).toBe(true)
    const second = await serveProcess(['--data', data, '--log-format', 'pretty'])
    expect((await second.request('/domains')).body).toMatchObject({ data: { domains: ['first.example'] } })
    second.stop('SIGTERM')
    const { code: ended, stderr: log } = await second.ended
    expect([ended, ...log.split('\n')]).toEqual([
      0,
      expect.stringMatching(
        /^\d\d:\d\d:\d\d warning: The lock of .+ is taken over from process \d+ on .+, which has left it /,
      ),
      expect.stringMatching(/^\d\d:\d\d:\d\d GET \/api\/v1\/domains → 200 \(default, [\d.]+ ms\)$/),
      '',
    ])
    expect(readdirSync(data)).toEqual(['account-default.json'])
  })
})

it('with --exit-with PID, serve ends with a script that is killed, and without it goes on', async ({ folder }) => {
  const [bound, free] = ['bound.json', 'free.json'].map((name) => join(folder, name)) as [string, string]
  const serve = `${LINE} serve --port 0 --log-level silent --ready-file`
  // A shell waits in the foreground for something else.
  const line = `${serve} '${bound}' --exit-with $$ & ${serve} '${free}' & sleep 60; true`
  const script = spawn('sh', ['-c', line], { env: environmentWith(), stdio: 'ignore' })
  await eventually('both are ready', () => existsSync(bound) && existsSync(free))
  const { pid, base_url: url } = JSON.parse(readFileSync(free, 'utf8'))
  onTestFinished(() => void process.kill(pid, 'SIGKILL'))
  script.kill('SIGKILL')
  await eventually('the server has ended', () => !existsSync(bound))
  expect(await answers(url)).toBe(true)
})
