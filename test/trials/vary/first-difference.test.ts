import { expect, it } from 'vitest'
import { wordBodies } from '../../../src/trials/vary/first-difference.ts'

it.each<[words: string, expected: unknown, received: unknown]>([
  [
    'with "reject" instead of "none" at /data/1/p',
    { data: [{ p: 'none' }, { p: 'none' }] },
    { data: [{ p: 'none' }, { p: 'reject' }] },
  ],
  ['without /data/group, which was {"id":"x"}', { data: { group: { id: 'x' } } }, { data: {} }],
  ['with "Done." at /data/message, where nothing was', { data: {} }, { data: { message: 'Done.' } }],
  ['with 1 item instead of 2 at /data', { data: [1, 2] }, { data: [1] }],
  ['with another order at /data: "c", "b" instead of "b", "c"', { data: ['a', 'b', 'c'] }, { data: ['a', 'c', 'b'] }],
  ['with [] instead of {} at /data', { data: {} }, { data: [] }],
  ['with null instead of 1', 1, null],
])('says that a service answers %s', (words, expected, received) => {
  expect(wordBodies(JSON.stringify(expected), JSON.stringify(received))).toBe(words)
})

it.each<[words: string, expected: string, received: string]>([
  ['with "dmarc":100.0 instead of "dmarc":100', '{"x":1,"dmarc":100,"spf":1}', '{"x":1,"dmarc":100.0,"spf":1.0}'],
  ['with Bad gateway instead of Not found', 'Not found', 'Bad gateway'],
  ['without a body', '{}', ''],
  ['with the body {}', '', '{}'],
])('says of texts that a service answers %s', (words, expected, received) => {
  expect(wordBodies(expected, received)).toBe(words)
})

it('shortens what is long', () => {
  const long = 'x'.repeat(1000)
  expect(wordBodies(JSON.stringify({ a: long }), JSON.stringify({ a: `${long}y` })).length).toBeLessThan(200)
  expect(wordBodies(long, `y${long}`).length).toBeLessThan(200)
})
