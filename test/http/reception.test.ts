import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { receiveBody } from '../../src/http/reception.ts'

const LONGEST = 900

/** Sends the header of a request; a body without a length comes in chunks. */
async function begin(length: number | undefined, together = '') {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.on('error', () => {})
  const framing = length === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`
  client.write(`POST / HTTP/1.1\r\nHost: here\r\n${framing}\r\n\r\n${together}`)
  const received = new Promise<Buffer | undefined>((resolve, reject) => {
    server.once('request', async (request: IncomingMessage) => {
      const { headers } = request
      Promise.resolve(receiveBody({ headers, body: request }, LONGEST)).then(resolve, reject)
    })
  })
  received.catch(() => {})
  await once(server, 'request')
  return { client, received }
}

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const pieces = (client: Socket, ...texts: string[]) =>
  texts.reduce(
    (sent, text) => sent.then(() => new Promise<void>((resolve) => client.write(text, () => resolve()))),
    Promise.resolve(),
  )

describe('A body', () => {
  it('that comes with its header is received', async () => {
    const { received } = await begin(3, 'abc')
    expect(String(await received)).toBe('abc')
  })

  it.each<[how: string, length: number | undefined, texts: string[]]>([
    ['in pieces', 6, ['ab', 'cd', 'ef']],
    ['in chunks', undefined, [chunk('abc'), chunk('def'), '0\r\n\r\n']],
  ])('that comes %s is received whole', async (_, length, texts) => {
    const { client, received } = await begin(length)
    await pieces(client, ...texts)
    expect(String(await received)).toBe('abcdef')
  })

  it.each<[what: string, length: number | undefined, texts: string[]]>([
    ['says so', LONGEST + 1, []],
    ['does not say so', undefined, [chunk('x'.repeat(500)), chunk('x'.repeat(500))]],
  ])('that is too long and %s is known to be so before its end', async (_, length, texts) => {
    const { client, received } = await begin(length)
    await pieces(client, ...texts)
    expect(await received).toBeUndefined()
  })

  it.each<[ending: string, leave: (client: Socket) => unknown]>([
    ['is broken off', (client) => client.destroy()],
    ['is reset', (client) => client.resetAndDestroy()],
    ['ends early', (client) => client.end()],
  ])('that %s has no client that waits for an answer', async (_, leave) => {
    const { client, received } = await begin(500)
    await pieces(client, 'x')
    leave(client)
    await expect(received).rejects.toMatchObject({ name: 'ClientGone' })
  })
})
