import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect } from 'vitest'
import { it } from '../support/program.ts'
import { runInProcess } from '../support/program-in-process.ts'

/** Every kind of file that a user names: how a command reads it, and its exit code if the file cannot be used. */
const KINDS: [kind: string, args: (file: string) => string[], code?: number][] = [
  ['fixture', (file) => ['serve', '--port', '0', '--fixture', file]],
  ['fault sets', (file) => ['serve', '--port', '0', '--faults', file]],
  ['overlay', (file) => ['assumptions', '--overlay', file]],
  ['evidence', (file) => ['assumptions', '--evidence', file, '--dependencies', file]],
  ['baseline', (file) => ['check', '--baseline', file, 'nowhere.har']],
  ['recording', (file) => ['check', file]],
  ['recording for an overlay', (file) => ['calibrate', file]],
  ['certificates', (file) => ['proxy', '--target', 'https://a.example', '--ca', file]],
  ['ledger', (file) => ['verify', '--resume', file, '--base-url', 'http://127.0.0.1:9', '--api-key', 'k']],
  ['report of vary', (file) => ['vary', '--since', file, '--', 'true']],
  ['plan of explore', (file) => ['explore', '--replay', file, '--', 'true']],
  ['plan of two commands', (file) => ['explore', '--beside', 'true', '--replay', file, '--', 'true']],
  ['kept account', (file) => ['serve', '--port', '0', '--data', dirname(file)], 3],
]

/** JSON and YAML, but the content of no kind of file. */
const CONTENT = '[]\n'
const swapped = (text: string) => Buffer.from(text, 'utf16le').swap16()

const UTF_16: readonly (readonly [encoding: string, content: Buffer])[] = [
  ['UTF-16, low byte first', Buffer.from(`\ufeff${CONTENT}`, 'utf16le')],
  ['UTF-16, high byte first', swapped(`\ufeff${CONTENT}`)],
  ['UTF-16 without a mark, low byte first', Buffer.from(CONTENT, 'utf16le')],
  ['UTF-16 without a mark, high byte first', swapped(CONTENT)],
]

async function outcomeOf(args: (typeof KINDS)[number][1], folder: string, content: Buffer | string) {
  const file = join(folder, 'account-x.json')
  writeFileSync(file, content)
  const { code, stderr } = await runInProcess(args(file))
  return { code, stderr }
}

describe.each<(typeof KINDS)[number]>(KINDS)('a file: %s', (_, args, refused = 2) => {
  it('may begin with a byte order mark', async ({ folder }) => {
    const plain = await outcomeOf(args, folder, CONTENT)
    expect(plain).toEqual({ code: refused, stderr: expect.not.stringMatching(/UTF|valid/) })
    expect(await outcomeOf(args, folder, `\ufeff${CONTENT}`)).toEqual(plain)
  })

  it.for(UTF_16)('is refused in one line if it is %s', async ([, content], { folder }) => {
    const { code, stderr } = await outcomeOf(args, folder, content)
    expect(code).toBe(refused)
    expect(stderr).toMatch(/^dmarc-understudy: .*account-x\.json: .*is written in UTF-16; save it in UTF-8.*\n$/)
  })
})

// What a killed run has left of a ledger may end in the middle of a character. Entries of a recording are lost one by one.
const WHOLE = KINDS.filter(([kind]) => kind !== 'ledger' && !kind.startsWith('recording'))

it.for(WHOLE)('a file in another encoding is refused in one line: %s', async ([, args, refused = 2], { folder }) => {
  const { code, stderr } = await outcomeOf(args, folder, Buffer.from(`{"a":\n"caf\u00e9"}`, 'latin1'))
  expect(code).toBe(refused)
  expect(stderr).toMatch(/^dmarc-understudy: .*account-x\.json: .*is not UTF-8 in line 2; save it in UTF-8.*\n$/)
})
