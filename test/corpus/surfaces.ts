import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { standIn } from '../../src/express.ts'
import { type ServerOptions, startUnderstudy } from '../../src/index.ts'
import { fieldsOf, sendRequest } from '../support/request.ts'
import { START } from '../support/service.ts'
import { receive, type Surface } from './play.ts'

/** A surface of a stand-in, and how it ends. */
export interface OpenSurface extends Surface {
  stop(): Promise<void>
}

export const OPTIONS: ServerOptions = { fixture: 'empty', seed: 42, maxAccounts: 1_000, clock: () => START }

/** Requests on connections to the port. */
export async function openPort(options: ServerOptions = {}): Promise<OpenSurface> {
  const service = await startUnderstudy({ ...OPTIONS, ...options })
  return overPort(service)
}

/** Requests without a connection, in this process. */
export async function openFetch(options: ServerOptions = {}): Promise<OpenSurface> {
  // Where servers share a store, it has the clock.
  const shared = options.store === undefined ? OPTIONS : { ...OPTIONS, clock: undefined }
  const service = await startUnderstudy({ ...shared, ...options, listen: false })
  return {
    service,
    async send(method, target, headers, body) {
      const fields = Object.fromEntries(fieldsOf(body, headers))
      return receive(
        await service.fetch(`http://localhost${target}`, { method, headers: fields, ...(body && { body }) }),
      )
    },
    stop: () => service.stop(),
  }
}

/** Requests to an application of Express, in which the stand-in is mounted. */
export async function openExpress(): Promise<OpenSurface> {
  const service = await startUnderstudy({ ...OPTIONS, listen: false })
  const server = createServer(express().use(standIn(service))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const surface = overPort(service, `http://127.0.0.1:${port}`)
  async function stop() {
    server.close()
    server.closeAllConnections()
    await surface.stop()
  }
  return { ...surface, stop }
}

export function overPort(service: Surface['service'], origin = new URL(service.baseUrl).origin): OpenSurface {
  return {
    service,
    send: (method, target, headers, body) => sendRequest(method, `${origin}${target}`, body, headers),
    stop: () => service.stop(),
  }
}
