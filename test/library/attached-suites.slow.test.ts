import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect } from 'vitest'
import { budget } from '../support/budget.ts'
import { it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { ROOT } from '../support/program-process.ts'
import { only, varyCommand, verdictsIn } from '../trials/vary/varied-client.ts'

/** The same tests as in `suites/attached.spec.ts`. */
const NODE_SUITE = `
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { shareUnderstudy } from '${pathToFileURL(join(ROOT, 'dist/node-test.js')).href}'

const shared = shareUnderstudy({ now: '2026-01-15T09:00:00Z', frozen: true, failOnViolation: true })
const post = (account, path, body) => fetch(account.baseUrl + path, {
  method: 'POST',
  headers: { 'content-type': 'application/json', ...account.headers },
  body: JSON.stringify(body),
})
test('adds a domain, and does not look at the response', async (t) => {
  await post(await shared.account(t), '/domains', { domains: ['a.example'] }).catch(() => {})
})
test('creates a group, which has the status 200', async (t) => {
  const account = await shared.account(t)
  assert.equal((await post(account, '/domaingroups', { name: 'Retail' })).status, 200)
  assert.equal((await account.groups.list()).length, 1)
  assert.equal(await account.clock.now(), '2026-01-15T09:00:00Z')
  assert.equal((await (await shared.understudy()).listAccounts()).length, 2)
})
`

/** The commands that run the tests, or run them twice at the same time: in two files or in two projects. */
const RUNNERS: readonly (readonly [runner: string, commandIn: (folder: string, times?: number) => string[]])[] = [
  [
    'node:test',
    (folder, times = 1) => {
      const files = ['one.test.mjs', 'two.test.mjs'].slice(0, times).map((name) => join(folder, name))
      for (const file of files) writeFileSync(file, NODE_SUITE)
      // Without the runner, a file begins sooner.
      return [process.execPath, ...(times === 1 ? [] : ['--test']), ...files]
    },
  ],
  [
    'vitest',
    (folder, times = 1) => {
      const config = join(folder, 'vitest.config.mjs')
      const projects = ['one', 'two'].slice(0, times).map((name) => ({ test: { name, include: ['attached.spec.ts'] } }))
      writeFileSync(config, `export default ${JSON.stringify({ cacheDir: folder, test: { projects } })}`)
      const root = join(ROOT, 'test/library/suites')
      return [process.execPath, join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--root', root, '--config', config]
    },
  ],
]

/** Each command starts a runner a few times; only the full run has the one that takes seconds to begin. */
describe.concurrent.for(RUNNERS.slice(0, budget({ quick: 1, full: 2 })))('the tests of %s', ([, commandIn]) => {
  it('are seen by run', async ({ folder }) => {
    const quiet = ['sh', '-c', 'exec "$@" >/dev/null 2>&1', 'sh']
    const { code, stderr } = await runInProcess(['run', '--', ...quiet, ...commandIn(folder, 2)])
    expect(stderr).toContain('It sent 4 requests; none of them violates the contract.')
    expect(code).toBe(0)
  })

  it('depend on what vary changes', async ({ folder }) => {
    const choices = only('create-group-status', 'add-domains-status/1')
    expect(verdictsIn(await varyCommand(commandIn(folder), { choices }))).toEqual({
      'create-group-status/1': 'depends',
      'add-domains-status/1': 'tolerates',
    })
  })

  it('meet the faults of explore, and its effects are seen although the accounts are gone', async ({ folder }) => {
    const plan = [{ match: { operation: 'addDomains' }, respond: { error: 'internal_error' }, times: 1 }]
    const words = ['explore', '--replay', JSON.stringify(plan), '--', ...commandIn(folder)]
    const { stderr } = await runInProcess(words)
    expect(stderr).toContain('explore/wrong-success')
    expect(stderr).toContain('Not done: added the domain a.example.')
  })
})
