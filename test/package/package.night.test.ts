import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { choices } from '../support/choices.ts'
import { blocksOf } from '../support/documents.ts'
import { installPacked } from '../support/packed-package.ts'
import { it } from '../support/program.ts'
import { ROOT, runShell, spawnShell } from '../support/program-process.ts'
import { sendRequest } from '../support/request.ts'
import { expectLawful } from '../support/service.ts'

const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const blocks = blocksOf(textOf('docs/testing.md')).map(({ content }) => content)
const PATIENCE = 600_000

/** What these tests of others need from the registry of npm is no package of the project. */
async function install(folder: string, packages: string): Promise<void> {
  await installPacked(folder, 'commonjs')
  const line = `npm install --silent --no-audit --no-fund --prefer-offline --no-save --prefix tools ${packages}`
  expect(await runShell(line, { folder })).toMatchObject({ code: 0, stderr: '' })
}

function write(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

it('A clone is installed without a package that needs a later Node.js, or with a script that nobody has judged', async () => {
  expect((await runShell('npm ci --dry-run --no-audit --no-fund')).stderr).not.toContain('EBADENGINE')
  const { packages } = JSON.parse(textOf('package-lock.json')) as {
    packages: Record<string, { hasInstallScript?: boolean }>
  }
  const named = Object.keys(packages).filter((path) => packages[path]?.hasInstallScript)
  const { allowScripts = {} } = JSON.parse(textOf('package.json')) as { allowScripts?: object }
  expect(named.map((path) => path.replace(/^.*node_modules\//, '')).toSorted()).toEqual(
    Object.keys(allowScripts).toSorted(),
  )
})

/** The documented suite, in which tests fail that violate the contract, and one whose timers are replaced. */
const SUITE = `${blocks.find((content) => content.includes('currentTestName'))}
const call = (path, body) => fetch(account.baseUrl + path, {
  method: body === undefined ? 'GET' : 'POST',
  headers: { ...account.headers, 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
test('adds a domain', async () => {
  expect((await call('/domains', { domains: ['a.example'] })).status).toBe(200)
  expect(await account.requests.list({ operation: 'addDomains' })).toMatchObject([{ status: 200 }])
  await expect(account.domains.add('a b')).rejects.toThrow('a b')
})
test('does not stop the clock of the service', async () => {
  jest.useFakeTimers()
  await account.faults.add({ match: { operation: 'listDomains' }, delay_ms: 1 })
  const coming = account.requests.waitFor({ operation: 'listDomains' })
  expect((await call('/domains')).status).toBe(200)
  expect((await coming).status).toBe(200)
  await expect(account.requests.waitFor({ method: 'DELETE' }, { timeout: 1 })).rejects.toMatchObject({ code: 'timeout' })
  jest.useRealTimers()
})
test('violates the contract', () => call('/domains', { domain: 'a.example' }))
test('comes after the violation', () => {})
`

it.for([
  ['CommonJS', '{}'],
  ['CommonJS with replaced timers from the start', '{ "fakeTimers": { "enableGlobally": true } }'],
  ['CommonJS with the former timers', '{ "fakeTimers": { "enableGlobally": true, "legacyFakeTimers": true } }'],
  ['ECMAScript modules', '{}'],
] as const)(
  'Jest runs the documented suite in %s, and warns of nothing',
  { timeout: PATIENCE },
  async ([kind, config], { folder }) => {
    await install(folder, 'jest@30')
    const isModule = kind === 'ECMAScript modules'
    const suite = isModule
      ? `import { createRequire } from 'node:module'\nimport { jest } from '@jest/globals'\n${SUITE.replace(/^import (.*) from (.*)$/m, 'const $1 = createRequire(import.meta.url)($2)')}`
      : SUITE.replace(/^import (.*) from (.*)$/m, 'const $1 = require($2)')
    // Two files: what the first one leaves behind must not disturb the second one.
    for (const name of ['one', 'two']) write(folder, `source/${name}.test.${isModule ? 'mjs' : 'js'}`, suite)
    write(
      folder,
      'jest.config.json',
      JSON.stringify({ ...JSON.parse(config), testMatch: ['**/source/*'], modulePaths: ['tools/node_modules'] }),
    )
    const flags = isModule ? '--experimental-vm-modules --disable-warning=ExperimentalWarning' : ''
    const line = `node ${flags} tools/node_modules/jest/bin/jest.js --rootDir . --ci --runInBand --json --no-color`
    const { stdout, stderr } = await runShell(line, { folder })
    const { testResults } = JSON.parse(stdout) as {
      testResults: { assertionResults: { title: string; failureMessages: string[] }[] }[]
    }
    const results = testResults.flatMap(({ assertionResults }) =>
      assertionResults.map(({ title, failureMessages }) => [title, failureMessages.map((each) => each.split('\n')[2])]),
    )
    const expected = [
      ['adds a domain', []],
      ['does not stop the clock of the service', []],
      ['violates the contract', ['POST /api/v1/domains → 400 unknown_field: The field `domain` is not supported.']],
      ['comes after the violation', []],
    ]
    expect(results, stderr).toEqual([...expected, ...expected])
    expect(stderr).not.toMatch(/warning|torn down|did not exit|open handle|deprecated/i)
  },
)

const PROGRAM = `import { startUnderstudy, type Understudy } from 'dmarc-understudy'
startUnderstudy({ listen: false }).then(async (service: Understudy) => {
  const { status } = await service.fetch(service.baseUrl + '/domains', { headers: service.account.headers })
  console.log(status, (await service.verdict()).passed)
  await service.stop()
})
`
const JAVASCRIPT = PROGRAM.replace(', type Understudy', '').replace(': Understudy', '')
const REQUIRING = JAVASCRIPT.replace(/import (.*) from (.*)/, 'const $1 = require($2)')

// It is the last compiler that knows how modules were found before packages had exports.
it.for(['--module nodenext', '--module commonjs --moduleResolution node10'])(
  'TypeScript 5 compiles a program with %s, which runs',
  { timeout: PATIENCE },
  async (options, { folder }) => {
    await install(folder, 'typescript@5.9.3')
    write(folder, 'program.cts', PROGRAM)
    const tsc = 'node tools/node_modules/typescript/bin/tsc --skipLibCheck --target es2022 --strict --types node'
    expect(await runShell(`${tsc} ${options} program.cts && node program.cjs`, { folder })).toEqual({
      ...{ code: 0, stdout: '200 true\n', stderr: '' },
    })
  },
)

it.for([
  ['that imports the package', '--format=esm --external:dmarc-understudy', 'mjs', JAVASCRIPT],
  ['that imports the package', '--format=cjs', 'cjs', JAVASCRIPT],
  ['that requires the package', '--format=cjs', 'cjs', REQUIRING],
] as const)(
  'A program %s and that esbuild has bundled with %s runs',
  { timeout: PATIENCE },
  async ([, options, ending, program], { folder }) => {
    await install(folder, 'esbuild@0.28')
    write(folder, 'program.mjs', program)
    const esbuild = 'tools/node_modules/.bin/esbuild program.mjs --bundle --platform=node --log-level=warning'
    const bundle = `out/program.${ending}`
    expect(await runShell(`${esbuild} --outfile=${bundle} ${options}`, { folder })).toMatchObject({
      code: 0,
      stderr: '',
    })
    expect(await runShell(`node ${bundle}`, { folder })).toEqual({ code: 0, stdout: '200 true\n', stderr: '' })
    // Where the package is not installed, it says in one sentence what to do.
    const away = `away=$(mktemp -d); mv ${bundle} $away; cd $away; node *; code=$?; rm -r $away; exit $code`
    const { code, stderr } = await runShell(away, { folder })
    expect(code).toBe(1)
    if (options.includes('external') || program === REQUIRING) return
    expect(stderr).toMatch(/dmarc-understudy does not find its own files, .*\. Keep it out of the bundle, and install /)
    expect(stderr).not.toMatch(/^ +at /m)
  },
)

it.for(['next build && next start', 'next dev --turbopack'])(
  'The documented route of Next.js is the service under %s',
  { timeout: PATIENCE },
  async (command, { folder }) => {
    for (const content of blocks) {
      const [, path] = /^\/\/ (next\.config\.ts|app\/\S+)$/m.exec(content) ?? []
      if (path !== undefined) write(folder, path, content)
    }
    const layout = '({ children }: { children: React.ReactNode }) => <html><body>{children}</body></html>'
    write(folder, 'app/layout.tsx', `export default ${layout}\n`)
    write(folder, 'package.json', '{"name": "client", "version": "1.0.0", "private": true}')
    const { stdout: packed } = await runShell(`npm pack --silent --ignore-scripts --pack-destination ${folder}`)
    const packages = 'next@15 react@19 react-dom@19 typescript@5 @types/node@20 @types/react@19'
    const install = `npm install --silent --no-audit --no-fund --prefer-offline ./${packed.trim()} ${packages}`
    expect(await runShell(install, { folder })).toMatchObject({ code: 0, stderr: '' })
    const line = command.replaceAll('next ', 'node node_modules/next/dist/bin/next ')
    const environment = { NEXT_TELEMETRY_DISABLED: '1' }
    const next = spawnShell(line.replace(/(.* && |)(.*)/, '$1exec $2 --port 0'), { folder, environment })
    try {
      const [, origin = ''] = await next.prints(/Local: +(http:\S+)[\s\S]*Ready in/)
      const statuses: number[] = []
      for (const [method, path, body] of [
        ...[
          ['GET', '/dmarc'],
          ['POST', '/domains', { domains: ['one.example'] }],
          ['HEAD', '/domains'],
        ],
        ...[
          ['POST', '/domaingroups', { name: 'Lanterns', domains: ['one.example'] }],
          ['PUT', '/domains'],
        ],
      ] as [string, string, object?][]) {
        const headers = { authorization: 'Bearer sandbox_next' }
        const received = await sendRequest(method, `${origin}/api/v1${path}`, body, headers)
        expectLawful(choices.contract, method, path, received)
        statuses.push(received.status)
      }
      expect(statuses, next.stdout() + next.stderr()).toEqual([200, 200, 200, 200, 405])
    } finally {
      next.stop()
      await next.ended
    }
  },
)
