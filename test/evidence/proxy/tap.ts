import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'

/** The bytes of one connection. */
export interface Tapped {
  sent: Buffer[]
  received: Buffer[]
}

/** Passes connections on to a port without any look at what they are, and keeps their bytes. */
export async function openTap(port: number): Promise<{ port: number; connections: Tapped[]; close(): Promise<void> }> {
  const connections: Tapped[] = []
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const tapped: Tapped = { sent: [], received: [] }
    connections.push(tapped)
    const service = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    const sides = [
      { from: client, to: service, kept: tapped.sent },
      { from: service, to: client, kept: tapped.received },
    ]
    for (const { from, to, kept } of sides) {
      from.on('data', (chunk: Buffer) => {
        kept.push(chunk)
        to.write(chunk)
      })
      from.on('end', () => to.end())
      from.on('error', () => to.resetAndDestroy())
      from.on('close', () => to.destroySoon())
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    connections,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

/**
 * What is not alike on both sides of a relay, as sentences. A response may be cut where the client did not wait for it; the
 * Host of a request changes.
 */
export function compareTaps(outside: readonly Tapped[], inside: readonly Tapped[]): string[] {
  const left = inside.map(textsOf)
  const problems: string[] = []
  for (const { sent, received } of outside.map(textsOf)) {
    if (sent === '' && received === '') continue
    const index = left.findIndex(
      (each) => each.received.startsWith(received) && withoutHosts(sent).startsWith(withoutHosts(each.sent)),
    )
    if (index < 0) problems.push(`${sent.slice(0, 300)} → ${received.slice(0, 300)}`)
    else left.splice(index, 1)
  }
  return problems
}

function textsOf({ sent, received }: Tapped) {
  return { sent: Buffer.concat(sent).toString('latin1'), received: Buffer.concat(received).toString('latin1') }
}

function withoutHosts(text: string): string {
  return text.replaceAll(/^host:[^\r\n]*/gim, 'HOST')
}
