import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished, TestRunner } from 'vitest'

/** An empty folder that is gone after the test. @throws Error in a concurrent test, which has a fixture `folder`. */
export function temporaryFolder(): string {
  // Vitest would remove it after another one of the tests that run at the same time.
  if (TestRunner.getCurrentTest()?.concurrent) throw new Error('A concurrent test has its folder from its context.')
  const folder = mkdtempSync(join(tmpdir(), 'understudy-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
