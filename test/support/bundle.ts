import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { afterAll } from 'vitest'

/**
 * Makes one file of a module and all that it imports, for processes and threads, which read no TypeScript. Returns its
 * path; it is gone after the tests of the file.
 */
export async function bundle(module: URL): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'understudy-bundle-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'module.mjs')
  await build({
    input: fileURLToPath(module),
    platform: 'node',
    output: { file, codeSplitting: false },
  })
  return file
}
