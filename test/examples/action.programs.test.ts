import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { makeProject } from '../support/client-project.ts'
import { commandsIn, runAction, type Step } from '../support/github-job.ts'
import { it } from '../support/program.ts'

const CLIENT = `const { UNDERSTUDY_BASE_URL, UNDERSTUDY_API_KEY } = process.env
const ask = (path, body) => fetch(UNDERSTUDY_BASE_URL + path, {
  method: body ? 'POST' : 'GET',
  headers: { authorization: 'Bearer ' + UNDERSTUDY_API_KEY, 'content-type': 'application/json' },
  body: body && JSON.stringify(body),
})
if ((await ask('/domains')).status !== 200) process.exit(1)
if (process.argv[2] === 'violate') await ask('/domains', { domain: 'ci.example' })
`
const REASON = /The field \\?`domain\\?` is not supported/

/** A project that has the package installed, and a client. */
function makeClient(folder: string): string {
  makeProject(folder)
  writeFileSync(join(folder, 'client.mjs'), CLIENT)
  return folder
}

/** A package whose program prints its options. */
function makeProgram(folder: string): string {
  const place = join(folder, 'understudy')
  mkdirSync(place)
  const bin = { 'dmarc-understudy': 'a.js' }
  writeFileSync(join(place, 'package.json'), JSON.stringify({ name: 'dmarc-understudy', version: '9.0.0', bin }))
  const lines = '#!/usr/bin/env node\nfor (const word of process.argv.slice(2)) console.log("[" + word + "]")\n'
  writeFileSync(join(place, 'a.js'), lines, { mode: 0o755 })
  return place
}

const errorsOf = (step: Step) => commandsIn(step, 'error').join('\n')

describe('The action', () => {
  it('passes if the commands succeed and keep the contract, and writes the summary and the reports', async ({
    folder,
  }) => {
    const options = '--report junit=one.xml --report "json=two words.json"'
    const step = await runAction(makeClient(folder), { run: 'node client.mjs', options })
    expect(step, step.stdout + step.stderr).toMatchObject({ code: 0 })
    expect(step.summary).toContain('The command succeeded')
    expect(['one.xml', 'two words.json'].map((file) => existsSync(join(folder, file)))).toEqual([true, true])
  })

  it.for<[what: string, run: string, code: number, says: RegExp]>([
    ['a request violates the contract', 'node client.mjs violate', 1, REASON],
    ['the commands send nothing', 'true', 1, /No request has come/],
    [
      'one of the commands fails',
      'false | cat\necho end',
      1,
      /The command failed with exit code 1 before it sent a request/,
    ],
  ])('fails with an annotation if %s', async ([, run, code, says], { folder }) => {
    const step = await runAction(makeClient(folder), { run })
    expect(step.code, step.stdout + step.stderr).toBe(code)
    expect(errorsOf(step)).toMatch(says)
    expect(step.stdout).not.toContain('end\n')
  })

  it('runs the package that it is given, with the options as a shell reads them', async ({ folder }) => {
    const options = `--seed 7 --set-env "A=a \\"b\\" 'c'" 'one word'\\ more`
    const step = await runAction(folder, { package: makeProgram(folder), run: 'echo a b', options })
    expect([...step.stdout.matchAll(/^\[(.*)\]$/gm)].map(([, word]) => word)).toEqual([
      ...['run', '--seed', '7', '--set-env', `A=a "b" 'c'`, 'one word more'],
      ...['--', 'bash', '-eo', 'pipefail', '-c', 'echo a b'],
    ])
  })
})
