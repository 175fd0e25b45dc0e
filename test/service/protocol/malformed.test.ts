import { describe, expect } from 'vitest'
import { stateOf } from '../../support/account.ts'
import { it } from '../../support/example-service.ts'
import { API_KEY } from '../../support/service.ts'
import { AUTHORIZED, codeOf, expectLawful, headerOf, readResponses, requestBytes } from '../../support/wire.ts'
import { ADDITION, DOMAINS, expectHealthy, UUID } from './requests.ts'

describe('What is not HTTP', () => {
  const HEAD = `Host: localhost\r\nAuthorization: Bearer ${API_KEY}\r\nContent-Type: application/json\r\n`
  const POST = `POST ${DOMAINS} HTTP/1.1\r\n${HEAD}`
  const IN_CHUNKS = 'Transfer-Encoding: chunked'

  it.for<[what: string, bytes: string | Buffer, status: number]>([
    ['a word', 'NONSENSE\r\n\r\n', 400],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['a header with a control character', `GET ${DOMAINS} HTTP/1.1\r\n${HEAD}X: a\0b\r\n\r\n`, 400],
    ['a folded header', `GET ${DOMAINS} HTTP/1.1\r\n${HEAD}X: a\r\n b\r\n\r\n`, 400],
    ['a header of 16 KB', `GET ${DOMAINS} HTTP/1.1\r\n${HEAD}X: ${'x'.repeat(16_384)}\r\n\r\n`, 431],
    ['a thousand headers', `GET ${DOMAINS} HTTP/1.1\r\n${HEAD}${'X-Something: something\r\n'.repeat(1000)}\r\n`, 431],
    ['two lengths', `${POST}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} `, 400],
    ['a length beside chunks', `${POST}Content-Length: 5\r\n${IN_CHUNKS}\r\n\r\n0\r\n\r\n`, 400],
    ['a huge trailer', `${POST}${IN_CHUNKS}\r\n\r\n2\r\n{}\r\n0\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`, 431],
  ])('is answered in the envelope and cut off: %s', async ([, bytes, status], { empty }) => {
    const [response, ...more] = readResponses(await empty.sendRaw(bytes))
    expect(more).toEqual([])
    expect(response?.status).toBe(status)
    if (response === undefined) return
    expectLawful(empty, { target: '/' }, response)
    expect(codeOf(response)).toBe(status === 431 ? 'request_too_large' : 'invalid_request_body')
    expect(headerOf(response, 'X-Request-Id')).toMatch(UUID)
    expect(headerOf(response, 'Connection')).toBe('close')
    await expectHealthy(empty)
  })

  it.for<[what: string, head: string, rest: string]>([
    ['a chunk size that is no number', IN_CHUNKS, 'ZZ\r\n{}\r\n0\r\n\r\n'],
    ['a coding that is none', 'Transfer-Encoding: identity', '0\r\n\r\n'],
  ])('in a body is answered 4xx or cut off, and changes nothing: %s', async ([, head, rest], { service }) => {
    const before = await stateOf(service)
    const responses = readResponses(await service.sendRaw(`${POST}${head}\r\n\r\n${rest}`))
    for (const response of responses) {
      expectLawful(service, { target: '/' }, response)
      expect(response.status).toBe(400)
    }
    expect(await stateOf(service)).toEqual(before)
    await expectHealthy(service)
  })

  it('does not smuggle a request into the body of another', async ({ service }) => {
    const smuggled = `DELETE ${DOMAINS} HTTP/1.1\r\n${HEAD}Content-Length: 29\r\n\r\n{"domains":["three.example"]}`
    for (const [length, coding] of [
      [0, 'chunked'],
      [4, 'chunked'],
      [4, 'Chunked'],
      [4, 'xchunked'],
      [4, '\x0bchunked'],
      [4, 'chunked, chunked'],
    ] as const) {
      const outer = `${POST}Content-Length: ${length}\r\nTransfer-Encoding: ${coding}\r\n\r\n`
      await service.sendRaw(`${outer}0\r\n\r\n${smuggled}`)
    }
    expect((await stateOf(service)).domains.map(({ name }) => name)).toContain('three.example')
    await expectHealthy(service)
  })

  it.for([1, 25])('is answered after all %d requests before it, which are', async (count, { empty }) => {
    const names = Array.from({ length: count }, (_, index) => `new-${index}.example`)
    const changes = names.map((name) => requestBytes({ ...ADDITION, body: JSON.stringify({ domains: [name] }) }))
    const received = await empty.sendRaw(Buffer.concat([...changes, Buffer.from('what is this?\r\n\r\n')]))
    const responses = readResponses(received)
    expect(responses.map(({ status }) => status)).toEqual([...names.map(() => 200), 400])
    expect((await empty.get('/domains')).body.data.domains).toEqual(expect.arrayContaining(names))
  })

  it.for([0, 3])(
    'is not answered in the body of a request that is refused for its key, after %d others',
    async (count, { empty }) => {
      const read = requestBytes({ target: DOMAINS, headers: [AUTHORIZED] })
      const refused = requestBytes({ method: 'POST', target: DOMAINS, headers: [['Transfer-Encoding', 'chunked']] })
      const sent = Buffer.concat([...Array<Buffer>(count).fill(read), refused, Buffer.from('zz\r\n')])
      const responses = readResponses(await empty.sendRaw(sent))
      expect(responses.map(({ status }) => status)).toEqual([...Array(count).fill(200), 401])
    },
  )
})
