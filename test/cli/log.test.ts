import { describe, expect, it } from 'vitest'
import { prettify } from '../../src/cli/log.ts'

describe('a pretty log', () => {
  const at = '2026-01-15T09:30:01.000Z'
  const got = (path: string) => ({ level: 30, msg: 'request', method: 'GET', path, ms: 1 })
  it.each<[line: object, text: string]>([
    [
      { ...got('/api/v1/domains'), status: 200, account: 'default', ms: 0.4 },
      'GET /api/v1/domains → 200 (default, 0.4 ms)',
    ],
    [{ ...got('/x\u009b31m'), status: 404, code: 'not_found' }, 'GET /x\\u009b31m → 404 not_found (1 ms)'],
    [{ ...got('/api/v1/dmarc'), account: 'a', fault: 'f-1' }, 'GET /api/v1/dmarc → no response (a, fault f-1, 1 ms)'],
    [
      { ...got('/api/v1/x'), status: 404, page: 'http://127.0.0.1:4010/__admin/accounts/default/requests/1' },
      'GET /api/v1/x → 404 (1 ms) http://127.0.0.1:4010/__admin/accounts/default/requests/1',
    ],
    [
      { level: 40, reason: 'broken', msg: 'A damaged account is left out.' },
      'warning: A damaged account is left out. {"reason":"broken"}',
    ],
    [
      { level: 50, err: { message: 'x', stack: 'Error: x\u001b[2J\n    at y' }, msg: 'The request failed.' },
      'error: The request failed.\nError: x\\u001b[2J\n    at y',
    ],
  ])('%j', (line, text) => {
    expect(prettify(JSON.stringify({ time: at, ...line }), false)).toBe(`09:30:01 ${text}\n`)
  })

  it('has colours where they are wanted', () => {
    const line = JSON.stringify({ level: 30, time: at, method: 'GET', path: '/', status: 500, msg: 'request' })
    expect(prettify(line, true)).toContain('\u001b[31m500\u001b[39m')
  })
})
