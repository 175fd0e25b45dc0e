import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { installPacked } from '../support/packed-package.ts'
import { it } from '../support/program.ts'
import { ROOT, runShell } from '../support/program-process.ts'

/** Uses a stand-in while the timers are replaced, after `replace()`, and again afterwards. */
const TESTS = `
const list = (of) => fetch(of.baseUrl + '/domains', { headers: of.headers })

test('works while the timers are replaced', async () => {
  replace()
  const service = await startUnderstudy()
  const account = await service.createAccount({ fixture: 'empty' })
  await account.faults.add({ match: { operation: 'listDomains' }, delay_ms: 1 })
  const coming = account.requests.waitFor({ operation: 'listDomains' })
  const [{ status }, { operation }] = [await list(account), await coming]
  const inProcess = await service.fetch(account.baseUrl + '/domains', { headers: account.headers })
  const late = await account.requests.waitFor({ method: 'DELETE' }, { timeout: 1 }).catch(({ code }) => code)
  const watch = service.watchViolations({ account })
  await fetch(account.baseUrl + '/domain', { headers: account.headers })
  const { name } = await watch.end().catch((error) => error)
  await service.stop()
  const found = [status, operation, inProcess.status, late, name].join(' ')
  if (found !== '200 listDomains 200 timeout ViolationError') throw new Error(found)
})
test('works with the real ones', async () => {
  bringBack()
  const service = await startUnderstudy()
  if ((await list(service.account)).status !== 200) throw new Error('refused')
  await service.stop()
})
`
const REQUIRE = "const { startUnderstudy } = require('dmarc-understudy')\n"
const IMPORT = REQUIRE.replace('const', 'import').replace('= require(', 'from ').replace(')', '')
const JEST = `${REQUIRE}const replace = () => jest.useFakeTimers(), bringBack = () => jest.useRealTimers()\n${TESTS}`
const jest = (fakeTimers: object) => ({
  'jest.config.json': JSON.stringify({ fakeTimers }),
  'suite.test.js': JEST,
})
const RUN_JEST = `node ${join(ROOT, 'node_modules/jest/bin/jest.js')} --ci --runInBand`
const VITEST = `import { test, vi } from 'vitest'
const replace = () => vi.useFakeTimers(), bringBack = () => vi.useRealTimers()
`
const RUN_VITEST = `node ${join(ROOT, 'node_modules/vitest/vitest.mjs')} run`

it.for<[how: string, line: string, files: Record<string, string>]>([
  ['in Jest, from the start', RUN_JEST, jest({ enableGlobally: true })],
  ['in Jest, by its former means', RUN_JEST, jest({ enableGlobally: true, legacyFakeTimers: true })],
  ['in vitest', RUN_VITEST, { 'suite.test.js': IMPORT + VITEST + TESTS }],
  [
    'in vitest, before the stand-in is loaded',
    RUN_VITEST,
    {
      'suite.test.js': IMPORT + VITEST + TESTS,
      'early.js': "import { vi } from 'vitest'\nvi.useFakeTimers()\n",
      'vitest.config.js': "export default { test: { setupFiles: ['early.js'] } }\n",
    },
  ],
  [
    'in node:test',
    'node --test suite.test.js',
    {
      'suite.test.js': `import { mock, test } from 'node:test'\n${IMPORT}
const replace = () => mock.timers.enable(), bringBack = () => mock.timers.reset()\n${TESTS}`,
    },
  ],
])('a stand-in works while timers are replaced %s', async ([, line, files], { folder }) => {
  await installPacked(folder, line === RUN_JEST ? 'commonjs' : 'module')
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const { code, stdout, stderr } = await runShell(line, { folder })
  expect(code, stdout + stderr).toBe(0)
})

it('that is loaded when the timers are replaced says so', async ({ folder }) => {
  await installPacked(folder)
  const late = "mock.timers.enable()\nawait import('dmarc-understudy').catch(({ message }) => console.log(message))\n"
  writeFileSync(join(folder, 'late.js'), `import { mock } from 'node:test'\n${late}`)
  expect(await runShell('node --no-warnings late.js', { folder })).toMatchObject({
    stdout: 'The timers of Node.js are replaced; import dmarc-understudy before a test replaces them.\n',
  })
})
