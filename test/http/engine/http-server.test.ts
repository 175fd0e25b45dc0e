import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { type ArrivedRequest, answer, GET, open, POST, send } from './open-server.ts'

it('All requests that have arrived are received before one is handled, and handled before one is answered', async () => {
  const seen: string[] = []
  const responses: ServerResponse[] = []
  const socket = await open((request, response) => {
    const { method, arrived = '' } = request as ArrivedRequest
    seen.push(`${method} ${arrived} ended ${responses.some(({ writableEnded }) => writableEnded)}`)
    responses.push(response)
    answer(response)
  })
  socket.write(`${GET}${POST}abcdef${GET}`)
  await expect.poll(() => responses.filter(({ writableEnded }) => writableEnded)).toHaveLength(3)
  expect(seen).toEqual(['GET  ended false', 'POST abcdef ended false', 'GET  ended false'])
})

it('A connection is not taken for stalled because it is new', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const socket = await open((_, response) => answer(response))
  vi.advanceTimersByTime(30 * 60_000)
  expect(await send(socket)).toContain('200 OK')
})

it('A request that fails in a way that nobody expects takes no other with it', async () => {
  const socket = await open((request, response) => {
    if (request.method === 'POST') throw new Error('a bug')
    answer(response)
  })
  const other = connect(socket.remotePort ?? 0, '127.0.0.1')
  await once(other, 'connect')
  socket.write(`${POST}abcdef`)
  other.write(GET)
  await Promise.all([once(other, 'data'), once(socket, 'close')])
  other.destroy()
})
