import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { effectsOf } from '../../src/trials/effects.ts'
import { runTrial } from '../../src/trials/trial.ts'
import { it } from '../support/program.ts'
import { ROOT, spawnCommand } from '../support/program-process.ts'

const SUITES = join(ROOT, 'test/library/suites')

/** Runs Node.js as if no test runner had started it. */
function runNode(args: string[]) {
  const unset = Object.keys(process.env).filter((name) => /^(NODE_TEST|VITEST)/.test(name))
  const clean = ['env', ...unset.flatMap((name) => ['-u', name]), 'NO_COLOR=1']
  return spawnCommand([...clean, process.execPath, ...args]).ended
}

/** Runs the suite of vitest, of which some tests are to fail; what fails the file, and what the tests fail with. */
async function runVitest(folder: string) {
  const config = join(folder, 'vitest.config.mjs')
  const times = { testTimeout: 120_000, hookTimeout: 120_000 }
  // A thread is there sooner than a process.
  const test = { include: ['violations.spec.mjs'], pool: 'threads', isolate: false, ...times }
  writeFileSync(config, `export default ${JSON.stringify({ cacheDir: folder, test })}`)
  const program = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const { stdout } = await runNode([program, 'run', '--root', SUITES, '--config', config, '--reporter=json'])
  const { testResults } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as {
    testResults: { message: string; assertionResults: { title: string; failureMessages: string[] }[] }[]
  }
  const [file] = testResults
  return { ofFile: file?.message, tests: file?.assertionResults ?? [] }
}

/** What a test fails with that has violated the contract. */
const POSTED = 'POST /api/v1/domains → 400 unknown_field: The field `domain` is not supported.'
const MISSPELT = 'GET /api/v1/domain → 404 not_found: There is nothing at the path /api/v1/domain.'

describe.concurrent('With failOnViolation', () => {
  it('a test of vitest fails that violates the contract, and no other', async ({ folder }) => {
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

  it('a test of node:test fails that violates the contract, and no other', async () => {
    const { stdout, code } = await runNode(['--test', '--test-reporter=tap', join(SUITES, 'violations.mjs')])
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
      'misspells a path without a key': 'GET',
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
  })
})

it('The tests of a file meet the faults of explore, and its effects are seen although the accounts are gone', async () => {
  const { end, exchanges, accounts } = await runTrial({
    ...{ name: 'explore-1', command: [process.execPath, join(SUITES, 'attached.mjs')], environment: process.env },
    ...{ variables: [], options: { fixture: 'empty' }, inherits: false },
    plan: [{ match: { operation: 'addDomains' }, respond: { error: 'internal_error' }, times: 1 }],
  })
  expect(end.exitCode, end.output).toBe(0)
  expect(exchanges.map(({ operation, status }) => `${operation} ${status}`)).toEqual([
    'addDomains 500',
    'createDomainGroup 200',
  ])
  expect([...accounts.keys()]).toEqual(['default'])
  expect(effectsOf(accounts.values(), exchanges).changes).toEqual(['created the group Retail'])
})
