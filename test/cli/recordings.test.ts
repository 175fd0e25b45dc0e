import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { entryOf, harOf } from '../support/recorded.ts'

const FIRST = entryOf()
const EMPTY = entryOf({ after: 1_000, content: { text: '{"success":true,"data":{"domains":[]}}' } })
const GONE = expect.stringContaining('a.example')

it.for<[what: string, between: unknown[], said: unknown]>([
  ['holds a service to what it has shown', [], GONE],
  [
    'holds it to nothing after an entry that cannot be read, which may have changed the account',
    [null],
    expect.not.stringContaining('a.example'),
  ],
])('check %s', async ([, between, said], { folder }) => {
  const file = join(folder, 'a.har')
  writeFileSync(file, harOf([FIRST, ...between, EMPTY]))
  const { stderr } = await runInProcess(['check', '--sole-writer', file])
  expect(stderr.replaceAll(file, '')).toEqual(said)
})
