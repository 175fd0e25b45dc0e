import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { pairsOf } from '../../src/exchanges/keys.ts'
import { endToEnd, nextRequest } from '../../src/proxy/hop.ts'

/** What goes on of a request with these fields, and one Host of the proxy unless others are given. */
function next(
  fields: string[],
  { method = 'GET', url = '/a', httpVersion = '1.1', host = ['Host', 'localhost'] } = {},
) {
  const request = { method, url, httpVersion, rawHeaders: [...host, ...fields] } as IncomingMessage
  const isOurs = (name: string) => /^(?:localhost|service\.example)(?::\d+)?$/.test(name)
  return nextRequest(request, { authority: 'service.example', isOurs })
}

describe('Of the fields of a message', () => {
  it.each([
    ['Connection: keep-alive', []],
    ['Connection: X-Own,, x-other | X-OWN: 1 | X-Other: 2 | X-Third: 3', ['X-Third']],
    ['Connection: a | connection: b | A: 1 | B: 2', []],
    ['Connection: Host, Content-Length | Host: x | Content-Length: 3', ['Host', 'Content-Length']],
    ['Connection: Upgrade, HTTP2-Settings | Upgrade: h2c | HTTP2-Settings: AAEAAEAA | Accept: */*', ['Accept']],
    ['Upgrade: h2c | HTTP2-Settings: AAEAAEAA', []],
    ['Upgrade: websocket | Sec-WebSocket-Key: x', ['Sec-WebSocket-Key']],
    ['Keep-Alive: timeout=5 | Proxy-Connection: keep-alive', []],
    ['Proxy-Authorization: Basic x | Authorization: Bearer x', ['Authorization']],
    ['Proxy-Authenticate: Basic | WWW-Authenticate: Bearer', ['WWW-Authenticate']],
    ['TE: trailers | Trailer: X-Sum | Transfer-Encoding: chunked', []],
    ['b: 1 | a: 2 | B: 3 | b: ', ['b', 'a', 'B', 'b']],
  ])('those of the hop stay there: %s', (text, passed) => {
    const fields = pairsOf(text.split(' | ').flatMap((field) => field.split(': ')))
    expect(endToEnd(fields).map(([name]) => name)).toEqual(passed)
  })
})

describe('A request', () => {
  it.each<[what: string, options: Parameters<typeof next>[1], fields: string[], expected: object]>([
    [
      'gets the Host of the service in place of its own',
      {},
      ['A', 'b'],
      {
        fields: [
          ['Host', 'service.example'],
          ['A', 'b'],
        ],
      },
    ],
    [
      'may name the service itself',
      { host: ['HOST', 'service.example'] },
      [],
      { fields: [['HOST', 'service.example']] },
    ],
    ['of HTTP/1.0 gets a Host', { httpVersion: '1.0', host: [] }, [], { fields: [['Host', 'service.example']] }],
    ['in absolute form gets the origin form', { url: 'http://localhost:4010/a?b=c' }, [], { target: '/a?b=c' }],
    ['in absolute form may have no path', { url: 'HTTP://localhost?b' }, [], { target: '/?b' }],
    ['may ask for the options of the service', { url: '*', method: 'OPTIONS' }, [], { target: '*' }],
    ['may do so in absolute form', { url: 'http://localhost', method: 'OPTIONS' }, [], { target: '*' }],
    [
      'with chunks stays one',
      {},
      ['transfer-encoding', ' Chunked'],
      { fields: [expect.anything(), ['Transfer-Encoding', 'chunked']] },
    ],
    [
      'without a body says so where Node.js would add one',
      { method: 'POST' },
      [],
      { fields: [expect.anything(), ['Content-Length', '0']] },
    ],
    ['without a body stays as it is elsewhere', { method: 'DELETE' }, [], { fields: [expect.anything()] }],
    [
      'with an expectation that the proxy meets loses it',
      {},
      ['expect', '100-Continue'],
      { fields: [expect.anything()] },
    ],
    [
      'with a length keeps it',
      { method: 'PUT' },
      ['content-length', '3'],
      { fields: [expect.anything(), ['content-length', '3']] },
    ],
  ])('%s', (_, options, fields, expected) => {
    expect(next(fields, options)).toMatchObject(expected)
  })

  it.each<[what: string, options: Parameters<typeof next>[1], fields: string[], status: number, reason: RegExp]>([
    ['for a host that is not behind the proxy', { host: ['Host', 'evil.example:80'] }, [], 421, /"evil\.example"/],
    ['for such a host in its target', { url: 'http://evil.example/a' }, [], 421, /"evil\.example"/],
    ['with two hosts', {}, ['host', 'localhost'], 400, /more than one Host/],
    ['without a host', { host: [] }, [], 400, /no Host/],
    ['of HTTP/1.0 with chunks', { httpVersion: '1.0' }, ['Transfer-Encoding', 'chunked'], 400, /HTTP\/1\.0/],
    ['with two transfer codings', {}, ['Transfer-Encoding', 'gzip, chunked'], 501, /other than chunked/],
    [
      'with chunks within chunks',
      {},
      ['Transfer-Encoding', 'chunked', 'Transfer-Encoding', 'chunked'],
      501,
      /other than/,
    ],
  ])('%s is not passed on', (_, options, fields, status, reason) => {
    expect(next(fields, options)).toEqual({ status, reason: expect.stringMatching(reason) })
  })
})
