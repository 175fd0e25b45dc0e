import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { blocksOf } from '../support/documents.ts'
import { installPacked, pack } from '../support/packed-package.ts'
import { PROGRAM as CLI, ROOT, runShell } from '../support/program-process.ts'

const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const manifest = JSON.parse(textOf('package.json'))

/** A project of a user, in modules of CommonJS, among whose packages are the packed files and no others of this one. */
const folder = mkdtempSync(join(tmpdir(), 'understudy-'))
beforeAll(() => installPacked(folder, 'commonjs'))
afterAll(() => rmSync(folder, { recursive: true }))

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text)
}

it('The package has what it exports, its licence and the licences of what the page contains, in at most 1.5 MB', async () => {
  const { size, files } = await pack()
  const paths = files.map(({ path }) => path)
  const exported = [...JSON.stringify(manifest.exports).matchAll(/"\.\/([^"]+\.\w+)"/g)].map(([, path = '']) => path)
  const own = ['LICENSE', 'dist/cli.js', 'dist/index.js', 'index.cjs', 'openapi.yaml', 'src/admin/openapi.yaml']
  expect(paths).toEqual(expect.arrayContaining([...own, ...exported.filter((path) => existsSync(join(ROOT, path)))]))
  expect(exported.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  expect(paths.filter((path) => /^(test|bench|\.ci)\/|\.tsbuildinfo$|^dist\/\./.test(path))).toEqual([])
  expect(size).toBeLessThanOrEqual(1.5e6)
  const page = textOf('dist/dashboard.html')
  const licences = ['preact', '@preact/signals', 'preact-iso', 'diff'].map((name) => `${name}/LICENSE`)
  for (const path of [...licences, '@picocss/pico/LICENSE.md'])
    expect(page).toContain(textOf(`node_modules/${path}`).trim())
})

it('CommonJS and ECMAScript modules have the same service and find the documents, and the command runs', async () => {
  write(
    'client.js',
    `const required = require('dmarc-understudy')
import('dmarc-understudy').then(async (imported) => {
  const names = Object.keys(required)
  console.log(names.every((name) => imported[name] === required[name]) && names.includes('ViolationError'))
  for (const name of ['node-test', 'express']) require('dmarc-understudy/' + name)
  const { readFileSync } = require('node:fs')
  for (const name of ['openapi.yaml', 'openapi.tolerant.yaml'])
    console.log(readFileSync(require.resolve('dmarc-understudy/' + name), 'utf8').includes('openapi: 3.1'))
  const service = await required.startUnderstudy({ fixture: 'agency' })
  const page = await fetch(service.adminUrl + '/')
  const records = await fetch(service.baseUrl + '/dmarc', { headers: service.account.headers })
  console.log(page.status, records.status, (await service.verdict()).passed)
  await service.stop()
})\n`,
  )
  const { stdout, stderr } = await runShell('node client.js && node_modules/.bin/dmarc-understudy --version', {
    folder,
  })
  expect({ stdout, stderr }).toEqual({ stdout: `true\ntrue\ntrue\n200 200 true\n${manifest.version}\n`, stderr: '' })
})

/** Runs the hooks of a suite around each of two tests, as Jest does, and tells what has failed. */
const RUNNER = `
const hooks = {}
for (const name of ['beforeAll', 'beforeEach', 'afterEach', 'afterAll']) globalThis[name] = (hook) => (hooks[name] = hook)
let currentTestName
globalThis.expect = { getState: () => ({ currentTestName }) }
const post = (body) => fetch(account.baseUrl + '/domains', {
  method: 'POST', headers: { ...account.headers, 'content-type': 'application/json' }, body: JSON.stringify(body),
})
setImmediate(async () => {
  await hooks.beforeAll()
  for (const body of [{ domains: ['a.example'] }, { domain: 'a.example' }]) {
    currentTestName = JSON.stringify(body)
    await hooks.beforeEach()
    const { status } = await post(body)
    const error = await hooks.afterEach().catch((error) => error)
    console.log(status, error?.message.split('\\n')[2])
  }
  await hooks.afterAll()
})
`

it('The documented suite for Jest works in a plain CommonJS program', async () => {
  const [suite = ''] = blocksOf(textOf('docs/testing.md'))
    .map(({ content }) => content)
    .filter((content) => content.includes('currentTestName'))
  write('suite.js', RUNNER + suite.replace(/^import (.*) from (.*)$/m, 'const $1 = require($2)'))
  const violation = 'POST /api/v1/domains → 400 unknown_field: The field `domain` is not supported.'
  const { stdout, stderr } = await runShell('node suite.js', { folder })
  expect({ stdout, stderr }).toEqual({ stdout: `200 undefined\n400 ${violation}\n`, stderr: '' })
  const run = await runShell(`node "${CLI}" run -- node suite.js`, { folder })
  expect(run.code, run.stderr).toBe(1)
  expect(run.stdout).toBe(`200 undefined\n400 ${violation}\n`)
  expect(run.stderr).toMatch(/It sent 2 requests; 1 of them violates the contract/)
})

it('A package that is loaded when the timers are replaced says so', async () => {
  write(
    'late.mjs',
    `import { mock } from 'node:test'
mock.timers.enable()
await import('dmarc-understudy').catch(({ message }) => console.log(message))\n`,
  )
  expect((await runShell('node --no-warnings late.mjs', { folder })).stdout).toBe(
    'The timers of Node.js are replaced; import dmarc-understudy before a test replaces them.\n',
  )
})

/** Uses the types as a program in either kind of modules does. */
const PROGRAM = `import { ControlError, type ControlErrorCode, startUnderstudy, type Understudy } from 'dmarc-understudy'
import { shareUnderstudy } from 'dmarc-understudy/node-test'
export async function serve(): Promise<typeof shareUnderstudy> {
  const service: Understudy = await startUnderstudy({ fixture: 'agency' })
  const refusal: unknown = await service.account.domains.add('a b').catch((error: unknown) => error)
  const code: ControlErrorCode | undefined = refusal instanceof ControlError ? refusal.code : undefined
  return code === undefined ? shareUnderstudy : shareUnderstudy
}
`
/** What the documented code takes for granted. */
const GIVEN = `import type { AccountWithKey, UnderstudyWithKey } from 'dmarc-understudy'
declare global {
  const account: AccountWithKey, service: UnderstudyWithKey, client: { startToWatch(): void }
  const app: import('express').Express
  const { vi, expect, beforeAll, beforeEach, afterEach, afterAll }: typeof import('vitest')
  const { mock }: typeof import('node:test')
  const { startUnderstudy }: typeof import('dmarc-understudy')
  const { createTest }: typeof import('dmarc-understudy/vitest')
  const { shareUnderstudy }: typeof import('dmarc-understudy/node-test')
}
`

it('The types compile for programs in both kinds of modules, and for the code of the documentation', async () => {
  const documented = ['docs/testing.md', 'docs/express.md'].flatMap((path) => blocksOf(textOf(path)))
  const blocks = documented
    .filter(({ language }) => language === 'ts')
    .map(({ content }) => content.replaceAll('…', ''))
  expect(blocks.length).toBeGreaterThan(10)
  for (const [index, content] of blocks.entries()) write(`documented-${index}.mts`, `${content}\nexport {}\n`)
  write('given.mts', GIVEN)
  write('program.cts', PROGRAM)
  write('program.mts', PROGRAM)
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  // Types of other packages, of which those of vitest alone take most of the time, are not ours to check.
  const options =
    '--noEmit --module nodenext --target es2023 --types node --strict --noImplicitAny false --skipLibCheck'
  const { code, stdout } = await runShell(`node ${tsc} ${options} *.cts *.mts`, { folder })
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
})
