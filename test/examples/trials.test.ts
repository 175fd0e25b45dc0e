import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { budget } from '../support/budget.ts'
import { it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'
import { ROOT } from '../support/program-process.ts'
import { SEND } from '../support/shell-client.ts'

const README = readFileSync(join(ROOT, 'README.md'), 'utf8')
const CLIENTS = join(ROOT, 'test/trials/clients')
/** What the tests of the README are: the client of each command. */
const COMMANDS: readonly (readonly [command: string, client: string])[] = [
  [
    'vary',
    `${SEND}
answer=$(send POST /domaingroups --data '{"name": "Retail"}')
case $answer in *200) ;; *) echo "FAILED test_group.py::test_creates_a_group - $answer"; exit 1 ;; esac`,
  ],
  ['explore', `exec '${process.execPath}' '${CLIENTS}/blind-retry.mjs'`],
]

/** What the README shows of a command. */
function shown(command: string): string {
  const [, output = ''] =
    new RegExp(`\\$ npx dmarc-understudy ${command} -- npm test\\n([^]*?)\`\`\``).exec(README) ?? []
  return output
}

/** What differs from run to run, or where openapi.yaml grows, is written alike. */
function withoutAccidents(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
    .replaceAll(/openapi\.yaml:\d+/g, 'openapi.yaml:1')
    .replaceAll(/of [\d.]+ s by itself/g, 'of 1 s by itself')
}

describe.concurrent('the README shows what', { timeout: 120_000 }, () => {
  it.for(COMMANDS.slice(0, budget({ quick: 1, full: COMMANDS.length })))(
    '%s prints about the tests of a client',
    async ([command, client], { folder }) => {
      writeFileSync(join(folder, 'npm'), `#!/bin/sh\n${client}\n`)
      chmodSync(join(folder, 'npm'), 0o755)
      const environment = {
        PATH: `${folder}:${process.env['PATH']}`,
        GITHUB_ACTIONS: '',
        // A machine that is busy takes longer, and finds the same.
        ...(command === 'explore' && { DMARC_UNDERSTUDY_BUDGET: '100s', DMARC_UNDERSTUDY_JOBS: '2' }),
      }
      const { code, stderr } = await runInProcess([command, '--', 'npm', 'test'], { environment })
      expect(code, stderr).toBe(1)
      expect(shown(command)).not.toBe('')
      expect(withoutAccidents(stderr)).toContain(withoutAccidents(shown(command)))
    },
  )
})
