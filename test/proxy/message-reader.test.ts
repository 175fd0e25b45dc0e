import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { frameRequest, frameResponse } from '../../src/proxy/framing.ts'
import { HEAD_LIMIT, type MessageHead, MessageReader, type RequestEditor } from '../../src/proxy/message-reader.ts'
import { budget } from '../support/budget.ts'

const SEED = 20_260_115

/** What a reader of responses told of bytes that came in these pieces; with an editor, a reader of requests. */
function read(pieces: readonly Buffer[], { method = '', editor }: { method?: string; editor?: RequestEditor }) {
  const events: unknown[][] = []
  const passed: Buffer[] = []
  let diverted: Buffer | undefined
  let body: Buffer[] = []
  const note = (...event: unknown[]) => {
    if (body.length > 0) events.push(['body', Buffer.concat(body).toString('latin1')])
    body = []
    events.push(event)
  }
  const reader = new MessageReader(
    {
      begin: () => note('begin'),
      head: (head: MessageHead) => {
        note('head', head.startLine, head.fields)
        return editor === undefined ? frameResponse(head, method) : frameRequest(head)
      },
      body: (bytes) => void body.push(Buffer.from(bytes)),
      end: () => note('end'),
      lose: (reason) => note('lost', reason),
      unread: () => {},
    },
    editor,
  )
  for (const piece of pieces) {
    if (diverted !== undefined) diverted = Buffer.concat([diverted, piece])
    else {
      const result = reader.read(piece)
      passed.push(...result.passed)
      diverted = result.diverted
    }
  }
  if (diverted === undefined) passed.push(...reader.finish())
  return { events, passed: Buffer.concat(passed).toString('latin1'), diverted: diverted?.toString('latin1') }
}

const AS_IT_IS: RequestEditor = { diverts: () => false, hostFor: (value) => value }
const TO_SERVICE: RequestEditor = {
  diverts: (target, isWhole) =>
    target.startsWith('/__admin/') || (isWhole ? target === '/__admin' : '/__admin'.startsWith(target) && undefined),
  hostFor: (value) => (value.startsWith('localhost') ? 'api.example.com' : value),
}

function requests(text: string, editor = AS_IT_IS) {
  return read([Buffer.from(text, 'latin1')], { editor })
}

const GET = 'GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n'
const POST = 'POST /b HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc'
const CHUNKED =
  'POST /c HTTP/1.1\r\ntransfer-encoding: Chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nX-Trailer: 1\r\n\r\n'

describe('A reader of requests', () => {
  it('tells of each message with its body, and passes every byte on', () => {
    const text = GET + POST + CHUNKED + GET
    const { events, passed } = requests(text)
    expect(passed).toBe(text)
    const host = ['Host', 'localhost']
    const get = [['begin'], ['head', 'GET /a HTTP/1.1', [host]], ['end']]
    const post = ['head', 'POST /b HTTP/1.1', [host, ['Content-Length', '3']]]
    const chunks = ['head', 'POST /c HTTP/1.1', [['transfer-encoding', 'Chunked']]]
    expect(events).toEqual([
      ...get,
      ...[['begin'], post, ['body', 'abc'], ['end']],
      ...[['begin'], chunks, ['body', 'abcde'], ['end']],
      ...get,
    ])
  })

  const fields = (...all: string[]) => ['POST / HTTP/1.1', ...all, '', ''].join('\r\n')
  const inChunks = fields('Transfer-Encoding: chunked')

  it.each<[what: string, text: string, reason: string]>([
    ['no HTTP', 'hello\r\n', 'does not begin as a message of HTTP/1.1'],
    ['another protocol', '\u0016\u0003\u0001hello\r\n', 'has a control character in its header'],
    ['another version', 'GET / HTTP/2.0\r\n\r\n', 'does not begin as a message of HTTP/1.1'],
    ['a bare LF', 'GET / HTTP/1.1\nHost: a\n\n', 'has a line that ends without CR'],
    ['a folded field', fields('A: b', ' c'), 'has a line in its header that is no header field'],
    ['a space before the colon', fields('A : b'), 'has a line in its header that is no header field'],
    ['a control character', fields('A: \u0000'), 'has a control character in its header'],
    ['two lengths', `${fields('Content-Length: 1', 'Content-Length: 1')}a`, 'has no valid Content-Length'],
    ['a bad length', `${fields('Content-Length: +1')}a`, 'has no valid Content-Length'],
    [
      'both framings',
      fields('Content-Length: 1', 'Transfer-Encoding: chunked'),
      'has both Content-Length and Transfer-Encoding',
    ],
    ['another coding', fields('Transfer-Encoding: gzip, chunked'), 'has the transfer coding gzip, chunked'],
    ['a chunk without a size', `${inChunks}zz\r\n`, 'has a chunk without a valid size'],
    ['a chunk that is longer', `${inChunks}1\r\nabc\r\n`, 'has a chunk that is longer than its size'],
    ['a tunnel', 'CONNECT a:1 HTTP/1.1\r\n\r\n', 'asks for a tunnel'],
    ['an endless header', fields(`A: ${'a'.repeat(HEAD_LIMIT)}`), 'has a header of more than 128 KiB'],
    ['half a header', 'GET / HTTP/1.1\r\nA', 'ended before it was complete'],
    ['half a body', `${fields('Content-Length: 3')}a`, 'ended before it was complete'],
  ])('passes %s on and says that it does not follow it', (_, text, reason) => {
    const { events, passed } = requests(text)
    expect(passed).toBe(text)
    expect(events.filter(([kind]) => kind === 'lost')).toEqual([['lost', reason]])
  })

  it.each<[sent: string, passed: string]>([
    ['Host: localhost:4010', 'Host: api.example.com'],
    ['hOsT:localhost', 'hOsT:api.example.com'],
    ['Host:\t localhost:1 \t', 'Host:\t api.example.com \t'],
    ['Host: other.example', 'Host: other.example'],
    ['X-Host: localhost', 'X-Host: localhost'],
  ])('passes %j on as %j', (sent, expected) => {
    const { passed, events } = requests(`GET / HTTP/1.1\r\n${sent}\r\nA: b\r\n\r\n`, TO_SERVICE)
    expect(passed).toBe(`GET / HTTP/1.1\r\n${expected}\r\nA: b\r\n\r\n`)
    expect(events.at(-1)).toEqual(['end'])
  })

  it('does not change what looks like a Host in a body', () => {
    const text = 'POST / HTTP/1.1\r\nContent-Length: 17\r\n\r\nHost: localhost\r\n'
    expect(requests(text, TO_SERVICE).passed).toBe(text)
  })

  it.each([
    'GET /__admin/verdict HTTP/1.1\r\nHost: localhost\r\n\r\n',
    'GET /__admin HTTP/1.1\r\n\r\n',
    'GET /__admin/x HTTP/9\r\n',
  ])('keeps %j back from its first byte on', (text) => {
    const { passed, diverted } = requests(POST + text, TO_SERVICE)
    expect([passed, diverted]).toEqual([POST.replace('localhost', 'api.example.com'), text])
  })

  it.each(['/__administrator', '/__a', '/x/__admin'])('passes a request to %s on', (path) => {
    const text = `GET ${path} HTTP/1.1\r\n\r\n`
    expect(requests(text, TO_SERVICE)).toMatchObject({ passed: text, diverted: undefined })
  })

  it.each([
    ['GET /api', 'GET /api'],
    ['GET /api/v1 HTTP/1.1\r\nAccept: app', 'GET /api/v1 HTTP/1.1\r\nAccept: app'],
    ['GET / HTTP/1.1\r\nHX', 'GET / HTTP/1.1\r\nHX'],
    ['\u0016\u0003', '\u0016\u0003'],
    ['GET\u0000', 'GET\u0000'],
    ['GET /__adm', ''],
    ['GET /a HTTP/1.1\r\nHost: loc', 'GET /a HTTP/1.1\r\n'],
  ])('holds nothing of %j back that it could pass on', (text, passed) => {
    const listener = { begin() {}, head: () => 0, body() {}, end() {}, lose() {}, unread() {} }
    const result = new MessageReader(listener, TO_SERVICE).read(Buffer.from(text))
    expect(Buffer.concat(result.passed).toString()).toBe(passed)
  })
})

describe('A reader of responses', () => {
  const body = (bytes: string) => [['body', bytes], ['end']]
  const ok = (field: string, bytes: string) => `HTTP/1.1 200 OK\r\n${field}\r\n\r\n${bytes}`

  it.each<[what: string, text: string, events: unknown[], method?: string]>([
    ['a body with a length', ok('Content-Length: 2', 'ab'), body('ab')],
    ['a body until the end', 'HTTP/1.1 200 OK\r\n\r\nab', body('ab')],
    ['a body in chunks', ok('Transfer-Encoding: chunked', '1\r\na\r\n0\r\n\r\n'), body('a')],
    ['no body after HEAD', ok('Content-Length: 2', ''), [['end']], 'HEAD'],
    ['no body with 204', 'HTTP/1.1 204 No\r\n\r\n', [['end']]],
    ['no body with 304', 'HTTP/1.1 304 No\r\nContent-Length: 9\r\n\r\n', [['end']]],
    ['another protocol', 'HTTP/1.1 101 S\r\n\r\nxyz', [['lost', 'changes to another protocol']]],
    ['a cut body', ok('Content-Length: 3', 'ab'), [body('ab')[0], ['lost', 'ended before it was complete']]],
    ['HTML without a header', '<html>\r\n', [['lost', 'does not begin as a message of HTTP/1.1']]],
  ])('reads %s', (_, text, events, method = 'GET') => {
    const result = read([Buffer.from(text)], { method })
    expect(result.events.filter(([kind]) => kind !== 'begin' && kind !== 'head')).toEqual(events)
    expect(result.passed).toBe(text)
  })
})

it(`Bytes are read alike in whatever pieces they come (seed ${SEED})`, () => {
  const bad = [
    'GET / HTTP/1.1\nA: b\n\n',
    '\u0016\u0003 rubbish',
    'CONNECT a:1 HTTP/1.1\r\n\r\nxyz',
    'GET /__admin/x HTTP/1.1\r\n\r\n',
    '\r\n',
  ]
  const session = fc
    .array(fc.constantFrom(GET, POST, CHUNKED, ...bad), { minLength: 1, maxLength: 6 })
    .map((texts) => Buffer.from(texts.join(''), 'latin1'))
  const cuts = fc.array(fc.nat(1_000), { maxLength: 30 })
  fc.assert(
    fc.property(session, cuts, fc.boolean(), (bytes, places, single) => {
      const whole = read([bytes], { editor: TO_SERVICE })
      const ends = single
        ? Array.from(bytes, (_, index) => index + 1)
        : [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((one, other) => one - other)
      const pieces = [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
      expect(read(pieces, { editor: TO_SERVICE })).toEqual(whole)
    }),
    { seed: SEED, numRuns: budget({ quick: 200, full: 5_000 }) },
  )
})
