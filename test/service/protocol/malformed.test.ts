import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createMalformedReply } from '../../../src/http/engine/malformed.ts'
import { SILENT } from '../../../src/http/log.ts'
import { countNobodyIds } from '../../../src/http/nobody-ids.ts'
import { ACCOUNT, stateOf } from '../../support/account.ts'
import { API_KEY, startService } from '../../support/service.ts'
import {
  AUTHORIZED,
  CLOSE,
  Connection,
  codeOf,
  expectLawful,
  headerOf,
  JSON_BODY,
  readResponses,
  requestBytes,
} from '../../support/wire.ts'
import { DOMAINS, expectHealthy, UUID } from './requests.ts'

describe('What is not HTTP', () => {
  const HEAD = `Host: localhost\r\nAuthorization: Bearer ${API_KEY}\r\nContent-Type: application/json\r\n`

  it.each<[what: string, bytes: string | Buffer, status: number]>([
    ['a word', 'NONSENSE\r\n\r\n', 400],
    ['a TLS handshake', Buffer.from('16030100a5010000a10303', 'hex'), 400],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['an unknown version', `GET ${DOMAINS} HTTP/3.1\r\n${HEAD}\r\n`, 400],
    ['a target that is not ASCII', `GET ${DOMAINS}\u00e7 HTTP/1.1\r\n${HEAD}\r\n`, 400],
    ['a space in the target', `GET ${DOMAINS} x HTTP/1.1\r\n${HEAD}\r\n`, 400],
    ['an unknown method', `FETCH ${DOMAINS} HTTP/1.1\r\n${HEAD}\r\n`, 400],
    ['a header with a space in its name', `GET ${DOMAINS} HTTP/1.1\r\n${HEAD}X Y: z\r\n\r\n`, 400],
    ['a header without a colon', `GET ${DOMAINS} HTTP/1.1\r\n${HEAD}nonsense\r\n\r\n`, 400],
    ['a header with a control character', `GET ${DOMAINS} HTTP/1.1\r\n${HEAD}X: a\0b\r\n\r\n`, 400],
    ['a header of 64 KB', `GET ${DOMAINS} HTTP/1.1\r\n${HEAD}X: ${'x'.repeat(65_536)}\r\n\r\n`, 431],
    ['a target of 64 KB', `GET /${'x'.repeat(65_536)} HTTP/1.1\r\n${HEAD}\r\n`, 431],
    ['a thousand headers', `GET ${DOMAINS} HTTP/1.1\r\n${HEAD}${'X-Something: something\r\n'.repeat(1000)}\r\n`, 431],
    ['a negative length', `POST ${DOMAINS} HTTP/1.1\r\n${HEAD}Content-Length: -1\r\n\r\n`, 400],
    ['a length that is no number', `POST ${DOMAINS} HTTP/1.1\r\n${HEAD}Content-Length: two\r\n\r\n{}`, 400],
    [
      'a length beyond all numbers',
      `POST ${DOMAINS} HTTP/1.1\r\n${HEAD}Content-Length: ${'9'.repeat(30)}\r\n\r\n`,
      400,
    ],
    ['two lengths', `POST ${DOMAINS} HTTP/1.1\r\n${HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} `, 400],
    ['two lengths in one', `POST ${DOMAINS} HTTP/1.1\r\n${HEAD}Content-Length: 2, 3\r\n\r\n{} `, 400],
    [
      'a length beside chunks',
      `POST ${DOMAINS} HTTP/1.1\r\n${HEAD}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    [
      'chunks beside a length',
      `POST ${DOMAINS} HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`,
      400,
    ],
  ])('is answered in the envelope and cut off: %s', async (_, bytes, status) => {
    const service = await startService()
    const [response, ...more] = readResponses(await service.sendRaw(bytes))
    expect(more).toEqual([])
    expect(response?.status).toBe(status)
    if (response === undefined) return
    expectLawful(service, { target: '/' }, response)
    expect(codeOf(response)).toBe(status === 431 ? 'request_too_large' : 'invalid_request_body')
    expect(headerOf(response, 'X-Request-Id')).toMatch(UUID)
    expect(headerOf(response, 'Connection')).toBe('close')
    await expectHealthy(service)
  })

  it.each<[what: string, head: string, rest: string]>([
    ['a chunk size that is no number', 'Transfer-Encoding: chunked', 'ZZ\r\n{}\r\n0\r\n\r\n'],
    ['a chunk longer than its size', 'Transfer-Encoding: chunked', '2\r\n{}{}\r\n0\r\n\r\n'],
    ['a chunk size with white space', 'Transfer-Encoding: chunked', '2 \t\r\n{}\r\n0\r\n\r\n'],
    ['a coding that is none', 'Transfer-Encoding: identity', '0\r\n\r\n'],
    ['chunks that are not the last coding', 'Transfer-Encoding: chunked, identity', '0\r\n\r\n'],
  ])('in a body is answered 4xx or cut off, and changes nothing: %s', async (_, head, rest) => {
    const service = await startService({ fixture: ACCOUNT })
    const before = await stateOf(service)
    const responses = readResponses(await service.sendRaw(`POST ${DOMAINS} HTTP/1.1\r\n${HEAD}${head}\r\n\r\n${rest}`))
    for (const response of responses) {
      expectLawful(service, { target: '/' }, response)
      expect(response.status).toBe(400)
    }
    expect(await stateOf(service)).toEqual(before)
    await expectHealthy(service)
  })

  it('does not smuggle a request into the body of another', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const smuggled = `DELETE ${DOMAINS} HTTP/1.1\r\n${HEAD}Content-Length: 29\r\n\r\n{"domains":["three.example"]}`
    for (const [length, coding] of [
      [0, 'chunked'],
      [4, 'chunked'],
      [4, 'Chunked'],
      [4, 'xchunked'],
      [4, '\x0bchunked'],
      [4, 'chunked, chunked'],
    ] as const) {
      const outer = `POST ${DOMAINS} HTTP/1.1\r\n${HEAD}Content-Length: ${length}\r\nTransfer-Encoding: ${coding}\r\n\r\n`
      await service.sendRaw(`${outer}0\r\n\r\n${smuggled}`)
    }
    expect((await stateOf(service)).domains.map(({ name }) => name)).toContain('three.example')
    await expectHealthy(service)
  })

  it('behind a good request leaves the service in order', async () => {
    const service = await startService()
    const good = requestBytes({ target: DOMAINS })
    const responses = readResponses(await service.sendRaw(Buffer.concat([good, Buffer.from('NONSENSE\r\n\r\n')])))
    for (const { status } of responses) expect([200, 400]).toContain(status)
    await expectHealthy(service)
  })

  it('has an id of its own each time', async () => {
    const service = await startService()
    const ids = new Set<string | undefined>()
    for (let request = 0; request < 20; request++) {
      const [response] = readResponses(await service.sendRaw('NONSENSE\r\n\r\n'))
      ids.add(response && headerOf(response, 'X-Request-Id'))
    }
    expect(ids.size).toBe(20)
  })

  it.each([1, 3, 25])('is answered after all %d requests before it, which are', async (count) => {
    const service = await startService()
    const names = Array.from({ length: count }, (_, index) => `new-${index}.example`)
    const changes = names.map((name) =>
      requestBytes({
        method: 'POST',
        target: DOMAINS,
        headers: [AUTHORIZED, JSON_BODY],
        body: JSON.stringify({ domains: [name] }),
      }),
    )
    const received = await service.sendRaw(Buffer.concat([...changes, Buffer.from('what is this?\r\n\r\n')]))
    const responses = readResponses(received)
    expect(responses.map(({ status }) => status)).toEqual([...names.map(() => 200), 400])
    expect((await service.get('/domains')).body.data.domains).toEqual(expect.arrayContaining(names))
  })

  it.each<[what: string, bytes: string, statuses: number[]]>([
    ['after an answer that closes the connection', 'zz', [200]],
    ['in the body of a request that is refused for its key', 'refused', [200, 401]],
  ])('is not answered %s', async (_, what, statuses) => {
    const service = await startService()
    const read = requestBytes({ target: DOMAINS, headers: [AUTHORIZED, ...(what === 'zz' ? [CLOSE] : [])] })
    const refused = requestBytes({ method: 'POST', target: DOMAINS, headers: [['Transfer-Encoding', 'chunked']] })
    const rest = what === 'zz' ? requestBytes({ target: DOMAINS }) : Buffer.concat([refused, Buffer.from('zz\r\n')])
    const responses = readResponses(await service.sendRaw(Buffer.concat([read, rest])))
    expect(responses.map(({ status }) => status)).toEqual(statuses)
  })

  it('is answered 408 when it does not come in time', async () => {
    const service = await startService()
    const refuseMalformed = createMalformedReply(service.contract, countNobodyIds(42, 'uuid'), SILENT)
    const late = createServer((socket) =>
      refuseMalformed(Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket),
    ).listen(0, '127.0.0.1')
    await once(late, 'listening')
    const connection = await Connection.open({ baseUrl: `http://127.0.0.1:${(late.address() as AddressInfo).port}` })
    const response = await connection.next()
    await connection.closed
    late.close()
    expectLawful(service, { target: '/' }, response)
    expect([response.status, codeOf(response)]).toEqual([408, 'invalid_request_body'])
  })
})
