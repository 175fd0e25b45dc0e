import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect } from 'vitest'
import { it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { PROGRAM, ROOT, runProcess, runShell, spawnShell } from '../support/program-process.ts'
import { entryOf, harOf } from '../support/recorded.ts'

/** Where a server listens, read from its greeting; of the rest nothing is read. */
async function listens(stdout: AsyncIterable<string>): Promise<string> {
  let greeting = ''
  for await (const chunk of stdout) {
    greeting += chunk
    if (greeting.includes('Try it')) break
  }
  return /Base URL {3}(\S+)/.exec(greeting)?.[1] ?? ''
}

describe.concurrent('the program', () => {
  // All other refusals and outputs are looked at in the process of the tests.
  it.for<[what: string, args: string[], code: number]>([
    ['ends well', ['assumptions', '--json'], 0],
    ['cannot start', ['serve', '--port', '0', '--data', fileURLToPath(import.meta.url)], 3],
  ])('says and returns as a process what it does without one when it %s', async ([, args, code]) => {
    const result = await runProcess(args)
    expect(result.code).toBe(code)
    expect(result).toEqual(await runInProcess(args))
  })

  it('may be read in part, by head or a pager', async () => {
    const result = await runShell(`'${process.execPath}' '${PROGRAM}' fixture --domains 5000 | head -n 1`)
    expect(result).toMatchObject({ code: 0, stdout: '{\n', stderr: expect.not.stringContaining('EPIPE') })
  })

  it.skipIf(process.platform !== 'linux')(
    'goes on with its log when a disk that was full has room again',
    async ({ folder }) => {
      const file = join(folder, 'log')
      const program = spawnShell(`echo "$$"; exec '${process.execPath}' '${PROGRAM}' serve --port 0 2> '${file}'`)
      const [pid] = await program.prints(/^\d+$/m)
      const [, url] = await program.prints(/Base URL {3}(\S+)/)
      const limit = (size: string) => execFileSync('prlimit', ['--pid', pid, `--fsize=${size}:unlimited`])
      limit('0')
      // More than is written together.
      for (let count = 0; count < 100; count++) await fetch(`${url}/lost`)
      limit('unlimited')
      await expect
        .poll(async () => {
          await fetch(`${url}/found`)
          return readFileSync(file, 'utf8')
        })
        .toContain('/found')
      program.stop()
      expect((await program.ended).code).toBe(0)
    },
  )

  it('is executable', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect(await runShell('dist/cli.js --version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  it.each([['serve', '--port', '0'], ['fixture', '--domains', '2'], ['--help']])(
    'that cannot write its output says so in one line: %s %s %s',
    async (...args) => {
      const { code, stderr } = await runShell(`'${process.execPath}' '${PROGRAM}' ${args.join(' ')} > /dev/full`)
      const message = 'standard output cannot be written (ENOSPC); send it somewhere else'
      expect({ code, stderr }).toEqual({ code: 3, stderr: `dmarc-understudy: ${message}\n` })
    },
  )

  it('works to its end where standard error cannot be written', async ({ folder }) => {
    const recording = join(folder, 'traffic.har')
    writeFileSync(recording, harOf([entryOf()]))
    // Two texts, one after the other: the report, and that the evidence cannot be written.
    const command = `check '${recording}' --evidence /dev/full 2> /dev/full`
    expect(await runShell(`'${process.execPath}' '${PROGRAM}' ${command}`)).toMatchObject({ code: 3 })
  })

  it.for(['a file', 'a pipe'])(
    'writes a line for each request into %s, the last ones before its end included',
    async (kind, { folder }) => {
      const log = join(folder, 'log')
      const command = `exec '${process.execPath}' '${PROGRAM}' serve --port 0 --fixture empty`
      const serving = spawnShell(kind === 'a file' ? `${command} 2> '${log}'` : command)
      const [, baseUrl] = await serving.prints(/Base URL {3}(\S+)/)
      for (let asked = 0; asked < 100; asked++) expect((await fetch(`${baseUrl}/domains`)).status).toBe(401)
      serving.stop()
      const { stderr } = await serving.ended
      const text = kind === 'a file' ? readFileSync(log, 'utf8') : stderr
      expect(text.match(/"msg":"request"/g)).toHaveLength(100)
    },
  )

  it('says in one line that its working folder was deleted', async () => {
    const command = `folder=$(mktemp -d) && cd "$folder" && rmdir "$folder" && '${process.execPath}' '${PROGRAM}' run -- true`
    const { code, stderr } = await runShell(command)
    const message = 'the working folder is not there any more (ENOENT); change into another one'
    expect({ code, stderr }).toEqual({ code: 2, stderr: `dmarc-understudy: ${message}\n` })
  })
})

describe('npm start', () => {
  it('passes options on, and ends with everything it started when npm is told to', async ({ onTestFinished }) => {
    // Without the build, which the tests have just made.
    const args = ['start', '--silent', '--ignore-scripts', '--', '--port', '0', '--log-level', 'silent']
    const child = spawn('npm', args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    const baseUrl = await listens(child.stdout)
    expect((await fetch(`${baseUrl}/domains`)).status).toBe(401)
    child.kill('SIGTERM')
    await once(child, 'exit')
    const ask = () => fetch(`${baseUrl}/domains`).then(({ status }) => status)
    await expect.poll(() => ask().catch(() => 'gone')).toBe('gone')
  })

  it('builds nothing if nothing has changed since the last build', async () => {
    expect(await runShell('npm run --silent prestart')).toEqual({ code: 0, stdout: '', stderr: '' })
  })

  it('builds again if a source has changed', async ({ folder: copy }) => {
    const inputs = 'src scripts openapi.yaml package.json tsconfig.json tsconfig.build.json dist'
    await runShell(`cp -a ${inputs} '${copy}' && ln -s "$PWD/node_modules" '${copy}'`)
    const build = 'node scripts/build.mjs --if-changed'
    expect(await runShell(build, { folder: copy })).toEqual({ code: 0, stdout: '', stderr: '' })
    writeFileSync(join(copy, 'src/cli.ts'), 'a mistake')
    const { code, stdout } = await runShell(build, { folder: copy })
    expect(code).toBeGreaterThan(0)
    expect(stdout).toMatch(/^Building[\s\S]*src\/cli\.ts/)
  })
})

describe.concurrent('the log', () => {
  it('that nobody reads holds up neither the answers nor the stop', async ({ onTestFinished }) => {
    const args = [PROGRAM, 'serve', '--port', '0', '--no-quotas', '--api-key', 'some-key']
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    const baseUrl = await listens(child.stdout)
    // Each leaves a line of about 250 characters, and a pipe holds 64 KiB, a socket 200 KiB.
    for (let sent = 0; sent < 1000; sent += 50) {
      const answers = Array.from({ length: 50 }, async () => {
        const response = await fetch(`${baseUrl}/domains`, { headers: { authorization: 'Bearer some-key' } })
        await response.arrayBuffer()
        return response.status
      })
      expect(new Set(await Promise.all(answers))).toEqual(new Set([200]))
    }
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  const WRONG_KEY = `key_Wrong123.${'w'.repeat(48)}`

  it('is JSON lines on standard error that tell of every request and hold no secret', async ({ serveProcess }) => {
    const service = await serveProcess(['--fixture', 'empty', '--admin-token', 'token-of-the-control-plane'])
    await service.request('/domains', { method: 'POST', body: '{"domains":["a.example"]}' })
    await service.request('/domaingroups?id=SECRET-ID')
    await service.request('/dmarc', { headers: { authorization: `Bearer ${WRONG_KEY}` } })
    await service.request('/nowhere')
    const greeting = service.stdout()
    service.stop()
    const { stdout, stderr } = await service.ended
    expect(stdout).toBe(greeting)
    const lines = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    const key = service.apiKey.split('.')[0]
    expect(lines).toMatchObject([
      { method: 'POST', path: '/api/v1/domains', operation: 'addDomains', status: 200, account: 'default', key },
      { method: 'GET', path: '/api/v1/domaingroups', status: 404, code: 'not_found' },
      { method: 'GET', path: '/api/v1/dmarc', status: 401, code: 'unauthorized' },
      { method: 'GET', path: '/api/v1/nowhere', status: 404, code: 'not_found' },
    ])
    for (const line of lines) {
      expect(line).toMatchObject({ msg: 'request', time: expect.any(String), request_id: expect.any(String) })
      expect(line.ms).toEqual(expect.any(Number))
    }
    for (const secret of [service.apiKey.split('.')[1], WRONG_KEY.split('.')[1], 'token-of', 'SECRET-ID', 'Bearer']) {
      expect(stderr).not.toContain(secret)
    }
  })

  it.for<[options: string[], shown: RegExp]>([
    [['--log-level', 'warn'], /^$/],
    [['--log-format', 'pretty'], /^\d\d:\d\d:\d\d GET \/api\/v1\/domains → 200 \(default, [\d.]+ ms\)\n$/],
  ])('shows with %j: %s', async ([options, shown], { serveProcess }) => {
    const service = await serveProcess(options)
    await service.request('/domains')
    service.stop()
    expect((await service.ended).stderr).toMatch(shown)
  })
})
