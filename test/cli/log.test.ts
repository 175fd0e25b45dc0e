import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect } from 'vitest'
import { prettify } from '../../src/cli/log.ts'
import { budget } from '../support/budget.ts'
import { it } from '../support/program.ts'
import { PROGRAM } from '../support/program-process.ts'

describe.concurrent('the log', () => {
  it('that nobody reads holds up neither the answers nor the stop', async ({ onTestFinished }) => {
    const child = spawn(process.execPath, [PROGRAM, 'serve', '--port', '0', '--no-quotas', '--api-key', 'some-key'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let greeting = ''
    for await (const chunk of child.stdout) {
      greeting += chunk
      if (greeting.includes('Try it')) break
    }
    const [, baseUrl] = /Base URL {3}(\S+)/.exec(greeting) ?? []
    // Each leaves a line of about 250 characters, and a pipe holds 64 KiB.
    for (let sent = 0; sent < 1500; sent += 50) {
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
    service.stop()
    const { stderr } = await service.ended
    const lines = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toMatchObject([
      {
        msg: 'request',
        method: 'POST',
        path: '/api/v1/domains',
        operation: 'addDomains',
        status: 200,
        account: 'default',
        key: service.apiKey.split('.')[0],
      },
      { msg: 'request', method: 'GET', path: '/api/v1/domaingroups', status: 404, code: 'not_found' },
      { msg: 'request', method: 'GET', path: '/api/v1/dmarc', status: 401, code: 'unauthorized' },
      { msg: 'request', method: 'GET', path: '/api/v1/nowhere', status: 404, code: 'not_found' },
    ])
    for (const line of lines) {
      expect(line).toMatchObject({ time: expect.any(String), request_id: expect.any(String), ms: expect.any(Number) })
    }
    for (const secret of [service.apiKey.split('.')[1], WRONG_KEY.split('.')[1], 'token-of', 'SECRET-ID', 'Bearer']) {
      expect(stderr).not.toContain(secret)
    }
  })

  it.for(['warn', 'error', 'silent'].slice(0, budget({ quick: 1, full: 3 })))(
    'is silent about requests at the level %s',
    async (level, { serveProcess }) => {
      const service = await serveProcess(['--log-level', level])
      await service.request('/domains')
      service.stop()
      expect((await service.ended).stderr).toBe('')
    },
  )

  it('does not mix with standard output', async ({ serveProcess }) => {
    const service = await serveProcess()
    const greeting = service.stdout()
    await service.request('/domains')
    service.stop()
    expect((await service.ended).stdout).toBe(greeting)
  })
})

describe('a pretty log', () => {
  const at = '2026-01-15T09:30:01.000Z'
  it.each<[line: object, text: string]>([
    [
      {
        level: 30,
        time: at,
        method: 'GET',
        path: '/api/v1/domains',
        status: 200,
        account: 'default',
        ms: 0.4,
        msg: 'request',
      },
      '09:30:01 GET /api/v1/domains → 200 (default, 0.4 ms)\n',
    ],
    [
      {
        level: 30,
        time: at,
        method: 'GET',
        path: '/x\u009b31m',
        status: 404,
        code: 'not_found',
        ms: 1,
        msg: 'request',
      },
      '09:30:01 GET /x\\u009b31m → 404 not_found (1 ms)\n',
    ],
    [
      { level: 30, time: at, method: 'GET', path: '/api/v1/dmarc', account: 'a', fault: 'f-1', ms: 1, msg: 'request' },
      '09:30:01 GET /api/v1/dmarc → no response (a, fault f-1, 1 ms)\n',
    ],
    [
      { level: 40, time: at, reason: 'broken', msg: 'A damaged account is left out.' },
      '09:30:01 warning: A damaged account is left out. {"reason":"broken"}\n',
    ],
    [
      { level: 50, time: at, err: { message: 'x', stack: 'Error: x\u001b[2J\n    at y' }, msg: 'The request failed.' },
      '09:30:01 error: The request failed.\nError: x\\u001b[2J\n    at y\n',
    ],
  ])('%j', (line, text) => {
    expect(prettify(JSON.stringify(line), false)).toBe(text)
  })

  it('has colours where they are wanted', () => {
    const line = JSON.stringify({ level: 30, time: at, method: 'GET', path: '/', status: 500, msg: 'request' })
    expect(prettify(line, true)).toContain('\u001b[31m500\u001b[39m')
  })

  it('is written where it is asked for', async ({ serveProcess }) => {
    const service = await serveProcess(['--log-format', 'pretty'])
    await service.request('/domains')
    service.stop()
    expect((await service.ended).stderr).toMatch(
      /^\d\d:\d\d:\d\d GET \/api\/v1\/domains → 200 \(default, [\d.]+ ms\)\n$/,
    )
  })
})
