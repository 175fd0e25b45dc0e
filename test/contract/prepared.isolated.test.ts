import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { clearPrepared, isPrepared, markPrepared } from '../../src/contract/prepared.ts'

const CLONE = vi.hoisted(() => ({ folder: '' }))
CLONE.folder = mkdtempSync(join(tmpdir(), 'prepared-'))
afterAll(() => rmSync(CLONE.folder, { recursive: true }))

vi.mock(import('../../src/ground/package-files.ts'), async (importOriginal) => {
  const original = await importOriginal()
  return {
    ...original,
    placeOf: (path) => join(CLONE.folder, path),
    findPackageFile: (path) => original.findPackageFile(join(CLONE.folder, path)),
  }
})

it('A clone that was never built has nothing prepared, and its build can prepare it', async () => {
  expect(await isPrepared([])).toBe(false)
  await clearPrepared()
  await markPrepared([])
  expect(await isPrepared([])).toBe(true)
  // As if a file was removed that the build had written.
  expect(await isPrepared(['openapi.tolerant.yaml'])).toBe(false)
})
