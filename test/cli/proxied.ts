import { createServer, type Socket } from 'node:net'
import { listenOn } from '../support/listening.ts'
import type { RunningProgram } from '../support/running-program.ts'
import { API_KEY } from '../support/service.ts'

/** Where the proxy listens, read from its greeting. */
export async function listens(running: RunningProgram): Promise<string> {
  const [, baseUrl = ''] = await running.prints(/Base URL {3}(\S+)[\s\S]*Try it:\n {2}curl .+\n/)
  return baseUrl
}

export function ask(url: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json', ...init.headers }
  return fetch(url, { ...init, headers })
}

/** A service that does with each connection what the test says. */
export async function startRaw(serve: (socket: Socket) => void): Promise<string> {
  return `http://127.0.0.1:${await listenOn(createServer(serve))}`
}
