import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { readDocument, resolveDocument } from '../../src/contract/document.ts'
import { ROOT } from './program.ts'

interface DocumentModule {
  OWN_DOCUMENT: string
  readDocument: typeof readDocument
  resolveDocument: typeof resolveDocument
}

/** As built; beside the sources there is nothing prepared. */
const built = (path: string) => import(join(ROOT, 'dist', path))

it('prepares at the build what reading the documents anew gives', async () => {
  const { readDocument, resolveDocument }: DocumentModule = await built('contract/document.js')
  const { ADMIN_CODES } = await built('admin/codes.js')
  const { CONTROL_DOCUMENT } = await built('admin/document.js')
  const control = { path: CONTROL_DOCUMENT as string, codes: ADMIN_CODES as readonly string[], proved: true }
  for (const options of [{}, control]) {
    const prepared = await readDocument(options)
    expect(prepared.prepared, options.toString()).toBeDefined()
    const anew = await resolveDocument(await readDocument({ ...options, unprepared: true }))
    const { source, resolved } = await resolveDocument(prepared)
    expect({ source, resolved }).toEqual(JSON.parse(JSON.stringify({ source: anew.source, resolved: anew.resolved })))
  }
  expect(readdirSync(join(ROOT, 'dist/prepared'))).toHaveLength(2)
})
