import { expect, it } from 'vitest'
import { OutputTail } from '../../src/trials/output-tail.ts'

it.each<[size: number, texts: string[], tail: string]>([
  [8, [], ''],
  [8, ['abc'], 'abc'],
  [8, ['abc', 'defgh'], 'abcdefgh'],
  [8, ['abc', 'defghi'], 'bcdefghi'],
  [8, ['abcdefghijklmnop'], 'ijklmnop'],
  [8, ['abc', 'defghijklmnopq'], 'jklmnopq'],
  [8, [...'abcdefghijk'], 'defghijk'],
  [8, ['aé'.repeat(9)], 'éaéaé'],
  [5, ['🙂🙂'], '🙂'],
])('the tail of %i bytes of %j is %j', (size, texts, expected) => {
  const tail = new OutputTail(size)
  for (const text of texts) tail.add(Buffer.from(text))
  expect(`${tail}`).toBe(expected)
})
