import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { writeShellLine } from '../../src/ground/show.ts'

const HAS_BASH = spawnSync('bash', ['--version']).status === 0

const WORDS: [word: string, written: string][] = [
  ['npm', 'npm'],
  ['--report=json=a/b.json', '--report=json=a/b.json'],
  ['', "''"],
  ['two words', "'two words'"],
  ["it's $HOME", String.raw`'it'\''s $HOME'`],
  ['über', "'über'"],
  ['set -e\nnpm test', String.raw`$'set -e\nnpm test'`],
  ["\tit's \\n\r1\u0085", String.raw`$'\tit\'s \\n\0151\302\205'`],
]

describe('A line for a shell', () => {
  it.for(WORDS)('writes %j as %s', ([word, written]) => {
    expect(writeShellLine(['echo', word])).toBe(`echo ${written}`)
  })

  it.skipIf(!HAS_BASH).for(WORDS)('is read by bash as it was: %j', ([word]) => {
    const { stdout } = spawnSync('bash', ['-c', writeShellLine(['printf', '%s', word])], { encoding: 'utf8' })
    expect(stdout).toBe(word)
  })
})
