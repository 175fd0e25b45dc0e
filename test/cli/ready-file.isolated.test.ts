import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { ReadyFile } from '../../src/cli/ready-file.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

vi.mock('node:fs', async (original) => {
  const files = await original<typeof import('node:fs')>()
  return { ...files, rmSync: vi.fn(files.rmSync) }
})

it('a ready file that cannot be removed changes nothing about the end of a run', () => {
  const path = join(temporaryFolder(), 'ready.json')
  const file = new ReadyFile(path, '--ready-file')
  file.write({ baseUrl: 'http://127.0.0.1:1/api/v1', adminUrl: undefined, instance: 'of-today' })
  const readOnly = Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS' })
  vi.mocked(rmSync).mockImplementationOnce(() => {
    throw readOnly
  })
  expect(() => file.remove()).not.toThrow()
  expect(existsSync(path)).toBe(true)
})
