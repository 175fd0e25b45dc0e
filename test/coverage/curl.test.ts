import { expect, it } from 'vitest'
import { composeCurl, writeCurl } from '../../src/coverage/curl.ts'

it.each<[method: string, url: string, body: string | undefined, line: string]>([
  ['GET', 'http://a/b', undefined, 'curl -sS http://a/b'],
  ['HEAD', 'http://a/b', undefined, 'curl -sS -I http://a/b'],
  ['POST', 'http://a/b', undefined, 'curl -sS -X POST http://a/b'],
  ['GET', 'http://a/b', '@b', 'curl -sS -X GET http://a/b --data-raw @b'],
  ['GET', 'http://a/b', 'b\0', 'printf %s YgA= | base64 -d | curl -sS -X GET http://a/b --data-binary @-'],
  ['GET', 'http://a/{b}', undefined, "curl -sS -g 'http://a/{b}'"],
  ['GET', 'http://a/../b', undefined, 'curl -sS --path-as-is http://a/../b'],
])('a curl line sends %s %s as it is, with the body %j', (method, url, body, line) => {
  expect(composeCurl({ method, url, key: undefined, fields: [], body })).toBe(line)
})

it('a curl line has one Content-Type, which is that of the request if it has one', () => {
  const urls = { baseUrl: 'http://a', adminUrl: 'http://b' }
  const request = { plane: 'service', method: 'POST', path: '/c', body: { d: 1 } } as const
  const typesIn = (line: string) => line.match(/Content-Type: [\w/]+/g)
  expect(typesIn(writeCurl(request, urls, 'k'))).toEqual(['Content-Type: application/json'])
  const typed = { ...request, headers: { 'Content-Type': 'text/plain' } }
  expect(typesIn(writeCurl(typed, urls, 'k'))).toEqual(['Content-Type: text/plain'])
})
