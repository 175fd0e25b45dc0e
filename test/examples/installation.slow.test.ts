import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { installPacked, pack } from '../support/packed-package.ts'
import { it } from '../support/program.ts'
import { PROGRAM, ROOT, runShell } from '../support/program-process.ts'

/** Whether there is a file of this path, or of a pattern for all files below a folder that end alike. */
function isThere(path: string): boolean {
  const [folder = '', ending] = path.split('/**/*')
  if (ending === undefined) return existsSync(join(ROOT, path))
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).some((name) => name.endsWith(ending))
}

it('installs in a clone without a package that needs a later Node.js, or with a script that nobody has judged', async () => {
  const { stderr } = await runShell('npm ci --dry-run --no-audit --no-fund')
  expect(stderr).not.toContain('EBADENGINE')
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { hasInstallScript?: boolean }>
  }
  const { allowScripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const named = Object.keys(packages).filter((path) => packages[path]?.hasInstallScript)
  expect(named.map((path) => path.replace(/^.*node_modules\//, '')).sort()).toEqual(Object.keys(allowScripts).sort())
})

it('names only files that exist', () => {
  const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { files: string[] }
  expect(files.filter((path) => !path.startsWith('!') && !isThere(path))).toEqual([])
})

it('packs what a user needs, and its licence, into 1.5 MB', async () => {
  const { size, files } = await pack()
  const paths = files.map(({ path }) => path)
  expect(paths).toEqual(expect.arrayContaining([PROGRAM.slice(ROOT.length), 'LICENSE']))
  expect(paths.filter((path) => /^(test|bench|\.ci)\/|\.tsbuildinfo$|^dist\/\./.test(path))).toEqual([])
  expect(size).toBeLessThanOrEqual(1.5e6)
})

it('contains no code of the packages that it needs, but for those of the page, whose licences the page contains', async () => {
  const { files } = await pack()
  const texts = files
    .filter(({ path }) => /^dist\/(?!prepared).*\.c?js$/.test(path))
    .map(({ path }) => readFileSync(join(ROOT, path), 'utf8'))
  expect(texts.filter((text) => text.includes('node_modules/'))).toEqual([])
  const page = readFileSync(join(ROOT, 'dist/dashboard.html'), 'utf8')
  for (const name of ['preact', '@preact/signals', '@preact/signals-core']) {
    expect(page).toContain(readFileSync(join(ROOT, 'node_modules', name, 'LICENSE'), 'utf8').trim())
  }
})

/** In bytes, what a file system with blocks of 4 KiB needs for a file or for all files in a folder. */
function spaceOf(path: string): number {
  const { size } = statSync(path)
  if (!statSync(path).isDirectory()) return Math.ceil(size / 4096) * 4096
  const names = readdirSync(path).filter((name) => name !== 'node_modules')
  return names.reduce((sum, name) => sum + spaceOf(join(path, name)), 4096)
}

// The greatest: @modelcontextprotocol/server with zod 17 MB, @redis/client 12, the program 9, faker 4, tldts 4, ajv 3.
it('is installed with all its packages in 63 MB', async () => {
  const { stdout } = await runShell('npm ls --omit=dev --all --parseable')
  const packages = stdout.trim().split('\n').slice(1)
  expect(packages.some((path) => path.endsWith('/ajv'))).toBe(true)
  const { files } = await pack()
  const own = files.reduce((sum, { path }) => sum + spaceOf(join(ROOT, path)), 0)
  expect(packages.reduce((sum, path) => sum + spaceOf(path), own)).toBeLessThanOrEqual(63e6)
})

it('runs and is imported in a project where only the packed files are', async ({ folder }) => {
  await installPacked(folder)
  writeFileSync(
    join(folder, 'client.js'),
    `import { startUnderstudy } from 'dmarc-understudy'
const service = await startUnderstudy({ fixture: 'agency' })
const page = await fetch(service.adminUrl + '/')
const account = await service.createAccount({ fixture: 'demo' })
const records = await fetch(account.baseUrl + '/dmarc', { headers: { authorization: 'Bearer ' + account.apiKey } })
console.log(page.status, records.status, (await service.verdict()).passed)
await service.stop()\n`,
  )
  const line = 'npx --no dmarc-understudy serve --help >help.txt && head -n 1 help.txt && node client.js'
  const { stdout, stderr, code } = await runShell(line, { folder })
  expect({ code, stdout }, stderr).toMatchObject({ code: 0, stdout: expect.stringMatching(/200 200 true\n$/) })
})
