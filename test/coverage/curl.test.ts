import { expect, it } from 'vitest'
import { writeHead } from '../../src/coverage/curl.ts'

it.each<[method: string, url: string, hasBody: boolean, words: string]>([
  ['GET', 'http://a/b', false, 'curl -sS http://a/b'],
  ['HEAD', 'http://a/b', false, 'curl -sS -I http://a/b'],
  ['POST', 'http://a/b', false, 'curl -sS -X POST http://a/b'],
  ['GET', 'http://a/b', true, 'curl -sS -X GET http://a/b'],
  ['GET', 'http://a/{b}', false, "curl -sS -g 'http://a/{b}'"],
  ['GET', 'http://a/../b', false, 'curl -sS --path-as-is http://a/../b'],
])('a curl line sends %s %s as it is, with a body: %s', (method, url, hasBody, words) => {
  expect(writeHead(method, url, hasBody, []).join(' ')).toBe(words)
})
