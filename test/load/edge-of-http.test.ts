import { describe, expect, it } from 'vitest'
import { startService } from '../support/service.ts'
import { AUTHORIZED, bodyOf, CLOSE, readResponses, requestBytes } from '../support/wire.ts'
import { DOMAINS, POST } from './plain-requests.ts'

const HEAD = 'Host: localhost\r\nContent-Type: application/json\r\n'

describe('What is at the edge of HTTP is answered', () => {
  const auth = `Authorization: ${AUTHORIZED[1]}\r\n`

  it.each<[what: string, bytes: string, status: number]>([
    ['a folded header', `GET ${DOMAINS} HTTP/1.1\r\n${HEAD}${auth}X: a\r\n b\r\nConnection: close\r\n\r\n`, 400],
    [
      'lines that end with a bare line feed',
      `GET ${DOMAINS} HTTP/1.1\nHost: localhost\n${auth.trim()}\nConnection: close\n\n`,
      400,
    ],
    [
      'a thousand small headers',
      `GET ${DOMAINS} HTTP/1.1\r\n${HEAD}${auth}${'A:\r\n'.repeat(1_000)}Connection: close\r\n\r\n`,
      200,
    ],
    ['a header of 16 KB', `GET ${DOMAINS} HTTP/1.1\r\n${HEAD}X: ${'x'.repeat(16_384)}\r\n\r\n`, 431],
    [
      'the same length twice',
      `POST ${DOMAINS} HTTP/1.1\r\n${HEAD}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`,
      400,
    ],
    [
      'an upgrade to HTTP/2',
      `GET ${DOMAINS} HTTP/1.1\r\n${HEAD}${auth}Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`,
      200,
    ],
    [
      'an expectation that is none',
      `GET ${DOMAINS} HTTP/1.1\r\n${HEAD}${auth}Expect: 200-maybe\r\nConnection: close\r\n\r\n`,
      200,
    ],
    ['HTTP/1.0', `GET ${DOMAINS} HTTP/1.0\r\n${auth}\r\n`, 200],
    ['a tunnel', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n', 400],
    [
      'a huge chunk extension',
      `POST ${DOMAINS} HTTP/1.1\r\n${HEAD}${auth}Transfer-Encoding: chunked\r\n\r\n2;${'x'.repeat(70_000)}\r\n{}\r\n0\r\n\r\n`,
      400,
    ],
    [
      'a huge trailer',
      `POST ${DOMAINS} HTTP/1.1\r\n${HEAD}${auth}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`,
      431,
    ],
    [
      'a body that is nested 100,000 deep',
      requestBytes({
        ...POST,
        headers: [...POST.headers, CLOSE],
        body: `{"domains":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      }).toString(),
      400,
    ],
  ])('%s', async (_, bytes, status) => {
    const service = await startService()
    const [response, ...more] = readResponses(await service.sendRaw(bytes))
    expect(more).toEqual([])
    expect(response?.status).toBe(status)
    expect(response && bodyOf(response)).toMatchObject({ success: status === 200 })
    expect((await service.get('/domains')).status).toBe(200)
  })
})
