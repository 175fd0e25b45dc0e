import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { ADMIN_CODES } from '../../src/admin/codes.ts'
import { CONTROL_DOCUMENT } from '../../src/admin/document.ts'
import { OWN_DOCUMENT, readDocument, resolveDocument } from '../../src/contract/document.ts'
import { ROOT } from './program.ts'

const PREPARED = join(ROOT, 'dist/prepared')

describe('the build prepares', () => {
  it.each([
    [OWN_DOCUMENT, {}],
    [CONTROL_DOCUMENT, { path: CONTROL_DOCUMENT, codes: ADMIN_CODES, proved: true }],
  ])('of %s what reading it anew gives', async (path, options) => {
    const digest = createHash('sha256').update(readFileSync(path)).digest('hex')
    const { source, resolved } = await resolveDocument(await readDocument({ ...options, unprepared: true }))
    expect(JSON.parse(readFileSync(join(PREPARED, `${digest}.json`), 'utf8'))).toEqual(
      JSON.parse(JSON.stringify({ source, resolved })),
    )
  })

  it('nothing else', () => {
    expect(readdirSync(PREPARED)).toHaveLength(2)
  })
})

it('starts and answers with nothing loaded that only a changed document needs', async () => {
  const program = `
    import { createRequire } from 'node:module'
    import { startUnderstudy } from '${pathToFileURL(join(ROOT, 'dist/index.js'))}'
    const understudy = await startUnderstudy()
    await fetch(understudy.baseUrl + '/domains', { headers: understudy.account.headers })
    await understudy.account.requests.list()
    await understudy.stop()
    const loaded = Object.keys(createRequire(import.meta.url).cache).join().matchAll(/node_modules.([^/\\\\]+|@[^/\\\\]+.[^/\\\\]+)/g)
    console.log(JSON.stringify([...new Set([...loaded].map(([, name]) => name))]))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: ROOT,
  })
  const packages = JSON.parse(stdout) as string[]
  expect(packages).toContain('express')
  expect(packages).not.toContain('@apidevtools/swagger-parser')
})
