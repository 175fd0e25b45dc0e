import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { installPacked } from '../support/packed-package.ts'
import { it } from '../support/program.ts'
import { ROOT, runShell } from '../support/program-process.ts'

const page = readFileSync(join(ROOT, 'docs/testing.md'), 'utf8')
/** The pattern of the documentation, in which a suite fails that violates the contract. */
const [, PATTERN = ''] = /\n## Jest and CommonJS\n[\s\S]*?```ts\n([\s\S]*?)```/.exec(page) ?? []
const TESTS = `
const call = (path, body) => fetch(account.baseUrl + path, {
  method: body === undefined ? 'GET' : 'POST',
  headers: { ...account.headers, 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

test('adds a domain', async () => {
  expect((await call('/domains', { domains: ['a.example'] })).status).toBe(200)
  expect(await account.requests.list({ operation: 'addDomains' })).toMatchObject([{ status: 200 }])
})
test('survives a fault', async () => {
  await account.faults.add({ match: { operation: 'listDomains' }, respond: { error: 'rate_limited' }, times: 1 })
  expect((await call('/domains')).status).toBe(429)
  await expect(account.domains.add('a b')).rejects.toThrow('a b')
})
test('does not stop the clock of the service', async () => {
  jest.useFakeTimers()
  expect((await call('/domains')).status).toBe(200)
  jest.useRealTimers()
})
test('needs no port', async () => {
  const closed = await startUnderstudy({ listen: false })
  expect((await closed.fetch(new Request(closed.baseUrl + '/domains', { headers: closed.account.headers }))).status).toBe(200)
  await closed.stop()
})
test('violates the contract', async () => {
  expect((await understudy.verdict()).passed).toBe(true)
  await call('/domains', { domain: 'a.example' })
})
test('violates it without a key', async () => {
  await fetch(understudy.baseUrl + '/domain')
})
test('comes after the violations', async () => {
  expect((await understudy.verdict()).passed).toBe(false)
})
`
const SYSTEMS = [
  ['commonjs', PATTERN.replace(/^import (.*) from (.*)$/m, 'const $1 = require($2)'), ''],
  [
    'module',
    `import { jest } from '@jest/globals'\n${PATTERN}`,
    '--experimental-vm-modules --disable-warning=ExperimentalWarning',
  ],
] as const

it.for(SYSTEMS)(
  'Jest runs the documented suite as %s, fails what violates the contract, and warns of nothing',
  async ([type, pattern, flags], { folder }) => {
    await installPacked(folder, type)
    mkdirSync(join(folder, 'source'))
    // Two files: what the first one leaves behind must not disturb the second one.
    for (const name of ['one', 'two']) writeFileSync(join(folder, `source/${name}.test.js`), pattern + TESTS)
    const line = `node ${flags} node_modules/jest/bin/jest.js --ci --runInBand --json --no-color`
    const { stdout, stderr } = await runShell(line, { folder })
    const { testResults } = JSON.parse(stdout) as {
      testResults: { assertionResults: { title: string; failureMessages: string[] }[] }[]
    }
    const results = testResults.flatMap(({ assertionResults }) =>
      assertionResults.map(({ title, failureMessages }) => [title, failureMessages.map((each) => each.split('\n')[2])]),
    )
    const expected = [
      ['adds a domain', []],
      ['survives a fault', []],
      ['does not stop the clock of the service', []],
      ['needs no port', []],
      ['violates the contract', ['POST /api/v1/domains → 400 unknown_field: The field `domain` is not supported.']],
      [
        'violates it without a key',
        ['GET /api/v1/domain → 404 not_found: There is nothing at the path /api/v1/domain.'],
      ],
      ['comes after the violations', []],
    ]
    expect(results, stderr).toEqual([...expected, ...expected])
    expect(stderr).not.toMatch(/warning|torn down|did not exit|open handle|deprecated/i)
  },
)
