import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Of which commit the program is, whether the files differ from it, and the day: what figures are of. */
export function describeCommit() {
  const git = (...args) =>
    spawnSync('git', args, { cwd: fileURLToPath(new URL('..', import.meta.url)), encoding: 'utf8' })
  // Of the program alone: a run writes its results and documents into the same folder.
  const changed = git(
    'status',
    '--porcelain',
    '--untracked-files=no',
    '--',
    'src',
    'package-lock.json',
    '*.yaml',
    ':(glob)*.mjs',
  )
  return {
    commit: git('rev-parse', '--short=10', 'HEAD').stdout?.trim() || 'unknown',
    isChanged: changed.stdout !== '',
    date: new Date().toISOString().slice(0, 10),
  }
}
