import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { it } from '../support/program.ts'
import { PROGRAM, ROOT, runShell } from '../support/program-process.ts'

/** Makes a project with the files that `npm pack` would pack, and no others, among its packages. */
async function installPacked(folder: string): Promise<string[]> {
  // What prepack builds is there: the tests have built it.
  const { stdout, stderr } = await runShell('npm pack --dry-run --json --ignore-scripts')
  expect(stdout, stderr).not.toBe('')
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string; mode: number }[] }]
  const packages = join(folder, 'node_modules')
  for (const { path } of files) {
    const target = join(packages, 'dmarc-understudy', path)
    mkdirSync(dirname(target), { recursive: true })
    cpSync(join(ROOT, path), target)
  }
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (!name.startsWith('.')) symlinkSync(join(ROOT, 'node_modules', name), join(packages, name))
  }
  mkdirSync(join(packages, '.bin'))
  symlinkSync('../dmarc-understudy/dist/cli.js', join(packages, '.bin', 'dmarc-understudy'))
  writeFileSync(join(folder, 'package.json'), '{"name": "client", "version": "1.0.0", "type": "module"}')
  return files.map(({ path }) => path)
}

/** Whether there is a file of this path, or of a pattern for all files below a folder that end alike. */
function isThere(path: string): boolean {
  const [folder = '', ending] = path.split('/**/*')
  if (ending === undefined) return existsSync(join(ROOT, path))
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).some((name) => name.endsWith(ending))
}

it('names only files that exist', () => {
  const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { files: string[] }
  expect(files.filter((path) => !path.startsWith('!') && !isThere(path))).toEqual([])
})

it('runs and is imported in a project where only the packed files are', async ({ folder }) => {
  const files = await installPacked(folder)
  expect(files).toContain(PROGRAM.slice(ROOT.length))
  expect(files.filter((path) => /^(test|bench|\.ci)\/|\.tsbuildinfo$/.test(path))).toEqual([])
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
