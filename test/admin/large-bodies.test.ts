import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { askControl } from '../support/control-plane.ts'
import { startService, type TestService } from '../support/service.ts'

const MANY = { domains: Array.from({ length: 20_000 }, (_, index) => `host-${index}.example`) }

describe('Large bodies at the control plane', () => {
  it('are worked on two at a time, and small ones do not wait for them', async () => {
    const service = await startService()
    const held = await Promise.all([begin(service), begin(service)])
    const third = askControl(service, 'PUT', '/accounts/default/state', MANY)
    const first = await Promise.race([
      third.then(() => 'large'),
      askControl(service, 'PATCH', '/accounts/default', { plan: 'stone' }).then(() => 'small'),
    ])
    expect(first).toBe('small')
    held[0]?.destroy()
    expect((await third).status).toBe(200)
    expect(held[1]?.destroyed).toBe(false)
  })
})

/** A client that sends half of a large body. */
async function begin({ baseUrl }: TestService): Promise<Socket> {
  const { hostname, port, host } = new URL(baseUrl)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  const head = ['PUT /__admin/accounts/default/state HTTP/1.1', `Host: ${host}`, 'Content-Type: application/json']
  const half = [...head, 'Content-Length: 1000000', '', ' '.repeat(500_000)].join('\r\n')
  await new Promise((resolve) => socket.write(half, resolve))
  return socket
}
