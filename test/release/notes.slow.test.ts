import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { it } from '../support/program.ts'
import { ROOT, spawnCommand } from '../support/program-process.ts'

const CHANGELOG = `# Changelog

## 1.2.0 (2026-11-28)

### New

- A change that is described
  in two lines, see [limits](docs/limits.md), [below](#1-2-0) and [elsewhere](https://example.com).
- Another.
  \`\`\`sh
  npx dmarc-understudy

  # A comment.
  \`\`\`

A paragraph
of two lines.

| a | b |
|---|---|
| 1 | 2 |

## 1.1.0

## 1.0.0

- The first.
`
const NOTES = `### New

- A change that is described in two lines, see [limits](FILES/docs/limits.md), [below](FILES/CHANGELOG.md#1-2-0) and [elsewhere](https://example.com).
- Another.
  \`\`\`sh
  npx dmarc-understudy

  # A comment.
  \`\`\`

A paragraph of two lines.

| a | b |
|---|---|
| 1 | 2 |
`.replaceAll('FILES', 'https://github.com/o/r/blob/v1.2.0')

/** Cuts the notes of a tag in a project of this version. */
function cutNotes(folder: string, tag: string, version: string) {
  const repository = { type: 'git', url: 'git+https://github.com/o/r.git' }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ version, repository }))
  writeFileSync(join(folder, 'CHANGELOG.md'), CHANGELOG)
  return spawnCommand([process.execPath, join(ROOT, 'scripts/release-notes.mjs'), tag], { folder }).ended
}

it('cuts the section of a version, with whole lines and links that work elsewhere', async ({ folder }) => {
  expect(await cutNotes(folder, 'v1.2.0', '1.2.0')).toEqual({ code: 0, stdout: NOTES, stderr: '' })
})

it.for<[tag: string, version: string, says: string]>([
  ['v1.1.1', '1.2.0', 'v1.1.1: package.json has the version 1.2.0'],
  ['v2.0.0', '2.0.0', 'v2.0.0: CHANGELOG.md has no section "## 2.0.0"'],
  ['1.1.0', '1.1.0', '1.1.0: the section "## 1.1.0" of CHANGELOG.md is empty'],
  ['main', '1.2.0', 'main: must be a version, such as v1.2.3'],
  ['', '1.2.0', 'nothing: must be a version, such as v1.2.3'],
])('refuses the tag "%s" of version %s', async ([tag, version, says], { folder }) => {
  expect(await cutNotes(folder, tag, version)).toEqual({ code: 2, stdout: '', stderr: `release-notes: ${says}\n` })
})
