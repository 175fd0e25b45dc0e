import { spawnSync } from 'node:child_process'
import { runInNewContext } from 'node:vm'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { writeRemark, writeText, writeValue } from '../../src/explain/source-text.ts'
import { quoteWord } from '../../src/ground/shell-word.ts'
import { ODD } from './outcomes.ts'

const SEED = 20260115
const RUNS = 100
/** Texts of all characters, with those that mean something to a language more often than by chance. */
const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({
    unit: fc.constantFrom(...'\\"\'`{$}\n\r\u2028\u202eux0%#', '\ud83d', '\udc00', '*/'),
    maxLength: 12,
  }),
  fc.constant(ODD),
)
const values = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' })

function sample<Value>(arbitrary: fc.Arbitrary<Value>): Value[] {
  return fc.sample(arbitrary, { numRuns: RUNS, seed: SEED })
}

describe(`a literal in generated code (seed ${SEED})`, () => {
  it('is the text, or the value, that JavaScript reads', () => {
    const written = [...sample(texts), ...sample(values)]
    const literals = written.map((value) => writeValue(value, 'javascript', 2, 90))
    const read: unknown = runInNewContext(`JSON.stringify([${literals.join(',')}])`)
    expect(read).toBe(JSON.stringify(written))
  })

  it('is one word of a shell, which the shell reads as it was', () => {
    const words = sample(texts).filter((word) => Buffer.from(word).toString() === word && !word.includes('\0'))
    const script = words.map((word) => `printf '%s\\0' ${quoteWord(word)}`).join('\n')
    const { stdout } = spawnSync('sh', [], { input: script, encoding: 'utf8', maxBuffer: 2 ** 24 })
    expect(stdout.split('\0').slice(0, -1)).toEqual(words)
  })

  it('shows nothing that a reader cannot see, and a remark stays one line', () => {
    for (const text of sample(texts)) {
      for (const shown of [writeText(text, 'javascript'), writeText(text, 'python'), writeRemark(text)]) {
        expect(shown).not.toMatch(/[\n\r\0\u2028\u2029\u202a-\u202e\u2066-\u2069\u200b-\u200f]/)
      }
      expect(writeRemark(text)).not.toContain('*/')
    }
  })
})
