import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect } from 'vitest'
import { budget } from '../support/budget.ts'
import { it } from '../support/program.ts'
import { PROGRAM, ROOT } from '../support/program-process.ts'

/** Runs Node.js as if no test runner had started it. */
function run(args: string[]): Promise<{ stdout: string; stderr: string; code: number | null }> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(NODE_TEST|VITEST)/.test(name)))
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, { env: { ...env, NO_COLOR: '1' } }, (_error, stdout, stderr) =>
      resolve({ stdout, stderr, code: child.exitCode }),
    )
  })
}

/** Runs the suite of vitest, of which some tests are to fail; what fails the file, and what the tests fail with. */
async function runVitest(folder: string) {
  const config = join(folder, 'vitest.config.mjs')
  const root = join(ROOT, 'test/library/suites')
  const test = { include: ['violations.spec.ts'], testTimeout: 120_000, hookTimeout: 120_000 }
  writeFileSync(config, `export default ${JSON.stringify({ cacheDir: folder, test })}`)
  const program = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const { stdout } = await run([program, 'run', '--root', root, '--config', config, '--reporter=json'])
  const { testResults } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as {
    testResults: { message: string; assertionResults: { title: string; failureMessages: string[] }[] }[]
  }
  const [file] = testResults
  return { ofFile: file?.message, tests: file?.assertionResults ?? [] }
}

/** What a test fails with that has violated the contract. */
const POSTED = 'POST /api/v1/domains → 400 unknown_field: The field `domain` is not supported.'
const MISSPELT = 'GET /api/v1/domain → 404 not_found: There is nothing at the path /api/v1/domain.'

/** A runner that takes seconds to begin; only the full run has it. */
const RUNNERS = ['vitest'].slice(0, budget({ quick: 0, full: 1 }))

describe.concurrent('with failOnViolation', () => {
  it.for(RUNNERS)('a test of %s fails that violates the contract, and no other', async (_, { folder }) => {
    const { ofFile, tests } = await runVitest(folder)
    const results = tests.map(({ title, failureMessages }) => [
      title,
      failureMessages.map((each) => each.split('\n')[2] ?? each),
    ])
    expect(Object.fromEntries(results)).toEqual({
      'keeps the contract': [],
      'violates it': [POSTED],
      'fails itself as well': [expect.stringMatching(/^ +at /), POSTED],
      'deletes the account': [POSTED],
      'misspells a path without a key': [MISSPELT],
      'uses another account': [POSTED],
      'does not wait for the response': [POSTED],
      'hides the violation behind a fault': [POSTED.replace(' → 400 unknown_field', '')],
      'violates it in a hook': [POSTED],
      'may violate it': [],
      'is a test that may': [],
      'is expected to violate it': [],
      'one keeps it': [],
      'another violates it': [MISSPELT],
      'the third has no key': [],
    })
    // Any of several tests may have sent it, so that none of them fails, but their file.
    const nobody = `1 request violates the contract.\n\n${MISSPELT}\nIt is not known which test has sent it.\n`
    expect(ofFile?.startsWith(nobody), ofFile).toBe(true)
  })

  // Under `run`, it is not known who has sent a request without a key, so no test fails.
  it.for([
    { words: [], unknown: 'GET' },
    { words: [PROGRAM, 'run', '--', process.execPath], unknown: 'ok' },
  ])(
    'a test of node:test fails that violates the contract, and no other: %j',
    async ({ words, unknown }, { folder }) => {
      const file = join(folder, 'violations.test.mjs')
      writeFileSync(file, NODE_SUITE)
      const { stdout, code } = await run([...words, '--test', '--test-reporter=tap', file])
      const tests = [...stdout.matchAll(/^ *(ok|not ok) \d+ - ([^/\n]*)$\n(?:^ *[^\n#]*$\n)*?^ *\.\.\.$/gm)]
      const results = tests.map(([text, result, name]) => [
        name,
        result === 'ok' ? result : (/^ *(?:error: )?'?(POST|GET|the error|a hook|1 subtest)/m.exec(text)?.[1] ?? text),
      ])
      expect(Object.fromEntries(results)).toEqual({
        'keeps the contract': 'ok',
        'violates it': 'POST',
        'is permitted to': 'ok',
        'finds no account of those before it': 'ok',
        'fails itself as well': 'the error',
        'deletes the account': 'POST',
        'misspells a path without a key': unknown,
        'has two accounts': 'POST',
        'cleans up all the same': 'POST',
        'has a hook that fails': 'a hook',
        'the rest was cleaned up': 'ok',
        'at the same time': '1 subtest',
        'one keeps it': 'ok',
        'another violates it': 'GET',
      })
      // Beside its own error, a test says what it has violated.
      expect(stdout).toMatch(/^# ViolationError: 1 request violates the contract\.$/m)
      expect(code).toBe(1)
    },
  )
})

const NODE_SUITE = `
import { describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { shareUnderstudy } from '${pathToFileURL(join(ROOT, 'dist/node-test.js')).href}'

const shared = shareUnderstudy({ failOnViolation: true })
const send = (account, path, body, headers = account.headers) => fetch(account.baseUrl + path, {
  headers: { 'content-type': 'application/json', ...headers },
  ...(body && { method: 'POST', body: JSON.stringify(body) }),
})
const violate = (account) => send(account, '/domains', { domain: ['a.example'] })
let cleaned = 0

const deeds = {
  'keeps the contract': (account) => send(account, '/domains'),
  'violates it': violate,
  'fails itself as well': (account) => violate(account).then(() => { throw new Error('the error of the test') }),
  'deletes the account': (account) => violate(account).then(() => account.delete()),
  'misspells a path without a key': (account) => send(account, '/domain', undefined, {}),
}
for (const [name, act] of Object.entries(deeds)) test(name, async (t) => void await act(await shared.account(t)))

test('is permitted to', async (t) => {
  const account = await shared.account(t, { failOnViolation: false, plan: 'above-stone' })
  const { plan, domains } = await account.read()
  assert.deepEqual([plan, domains], ['above-stone', 0])
  await violate(account)
})
test('finds no account of those before it', async () => {
  const accounts = await (await shared.understudy()).listAccounts()
  assert.equal(accounts.length, 1)
})
test('has two accounts', async (t) => {
  const [one, other] = [await shared.account(t), await shared.account(t)]
  await send(one, '/domains')
  await violate(other)
})
test('cleans up all the same', async (t) => {
  const account = await shared.account(t)
  t.after(() => cleaned++)
  await violate(account)
})
test('has a hook that fails', async (t) => {
  await shared.account(t)
  t.after(() => { throw new Error('a hook') })
})
test('the rest was cleaned up', async () => {
  assert.equal(cleaned, 1)
})
describe('at the same time', { concurrency: true }, () => {
  let release
  const both = new Promise((resolve) => { release = resolve })
  test('one keeps it', async (t) => {
    const account = await shared.account(t)
    await both
    await send(account, '/domains')
  })
  test('another violates it', async (t) => {
    const account = await shared.account(t)
    release()
    await send(account, '/domain')
  })
})
`
