import { expect, it } from 'vitest'
import { mergePatch, pointTo, stepsOf, valueAt } from '../../src/ground/json.ts'

it.each<[pointer: string, value: unknown]>([
  ['/a~1b/0/c~0d', 7],
  ['/a~1b/1', undefined],
  ['/constructor', undefined],
  ['/a~1b/0/c~0d/toFixed', undefined],
])('The value at %s is %j, and what is inherited is none', (pointer, value) => {
  expect(valueAt({ 'a/b': [{ 'c~d': 7 }] }, pointer)).toBe(value)
  expect(stepsOf(pointer).reduce<string>(pointTo, '')).toBe(pointer)
})

it('A merge patch removes, merges and replaces, changes neither argument, and takes __proto__ for a name', () => {
  const [target, patch] = [
    { a: { b: 1, c: 2 }, d: [1] },
    JSON.parse('{"a":{"b":null,"e":{}},"d":{"f":null},"__proto__":7}'),
  ]
  const merged = mergePatch(target, patch)
  expect(JSON.stringify(merged)).toBe('{"a":{"c":2,"e":{}},"d":{},"__proto__":7}')
  expect(Object.getPrototypeOf(merged)).toBe(Object.prototype)
  expect(target).toEqual({ a: { b: 1, c: 2 }, d: [1] })
})
