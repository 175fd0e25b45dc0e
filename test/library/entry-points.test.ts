import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect } from 'vitest'
import { it } from '../support/program.ts'
import { ROOT } from '../support/program-process.ts'

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  exports: Record<string, string | Record<string, string>>
  files: string[]
}
const targets = Object.entries(manifest.exports).flatMap(([name, target]) =>
  Object.entries(typeof target === 'string' ? { default: target } : target).map(
    ([condition, path]) => [name, condition, path] as const,
  ),
)
/** Whether the package contains a file or a folder, itself or with the folder that it is in. */
const isPacked = (path: string) => manifest.files.some((each) => `${path}/`.startsWith(`${each}/`))
/** Where the program is imported from by its tests, as an installed package would be by its name. */
const built = (path: string) => pathToFileURL(join(ROOT, 'dist', path)).href

const TESTS = `
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareUnderstudy } from '${built('node-test.js')}'

const shared = shareUnderstudy({ now: '2026-01-15T09:00:00Z' })
const ids = new Set()

for (const name of ['one', 'another']) {
  test(name + ' test has an account of its own', async (t) => {
    const account = await shared.account(t, { plan: 'above-stone' })
    assert.deepEqual(await account.read().then(({ plan, domains }) => ({ plan, domains })), { plan: 'above-stone', domains: 0 })
    const response = await fetch(account.baseUrl + '/domains', { headers: account.headers })
    assert.equal(response.status, 200)
    ids.add(account.id)
  })
}

test('the accounts of tests are gone after them', async (t) => {
  const understudy = await shared.understudy()
  assert.equal(ids.size, 2)
  assert.deepEqual((await understudy.listAccounts()).map(({ id }) => id), ['default'])
})

test('a test may delete its account itself', async (t) => {
  await (await shared.account(t)).delete()
})
`

describe.concurrent('the package', () => {
  it.for(targets)('has what it exports as %s for %s, at %s', ([, , path]) => {
    expect(existsSync(join(ROOT, path))).toBe(true)
    expect(path === './package.json' || isPacked(path.replace('./', ''))).toBe(true)
  })

  it('packs every file that the program reads', () => {
    for (const path of ['openapi.yaml', 'src/admin/openapi.yaml', 'dist/dashboard.html', 'fixtures', 'faults']) {
      expect(isPacked(path)).toBe(true)
      expect(existsSync(join(ROOT, path))).toBe(true)
    }
  })

  it('is imported and serves', async ({ folder }) => {
    const program = `
      import { startUnderstudy } from '${built('index.js')}'
      const understudy = await startUnderstudy({ fixture: 'empty' })
      const response = await fetch(understudy.baseUrl + '/domains', { headers: understudy.account.headers })
      console.log(response.status, (await understudy.account.requests.list()).length)
      await understudy.stop()
    `
    writeFileSync(join(folder, 'program.mjs'), program)
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'program.mjs')])
    expect(stdout).toBe('200 1\n')
  })

  it('shares a stand-in among the tests of node:test, which end by themselves', async ({ folder }) => {
    const file = join(folder, 'accounts.test.mjs')
    writeFileSync(file, TESTS)
    // Within another runner, node:test would report to that one.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const { stdout } = await promisify(execFile)(process.execPath, ['--test', '--test-reporter=tap', file], { env })
    expect(stdout).toMatch(/^# pass 4$/m)
    expect(stdout).toMatch(/^# fail 0$/m)
  })
})
