import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Contract } from '../../src/contract/contract.ts'
import type { ServerOptions } from '../../src/server/options.ts'
import type { Understudy } from '../../src/server/understudy.ts'
import { freshPrefix, sharedRedis } from '../support/redis-server.ts'
import { startPatient } from '../support/replicas.ts'
import { type Received, sendRequest } from '../support/request.ts'

/** After a loss, a server starts with what was kept at that moment, and with nothing of what a stop does. */
export type Event = 'stop' | 'loss'

/** One or several servers that are one service, and where they keep its accounts. */
export interface Place {
  name: string
  /** Whether journal, verdict and snapshots end with a server. */
  forgets: boolean
  /** Whether several servers answer, so that one may count a request first and another one decide first. */
  isShared: boolean
  /** The status of the answer is 0 where none came. */
  ask(asked: Asked): Promise<Received>
  /** Ends a server and starts it again. */
  restart(event: Event): Promise<void>
  stop(): Promise<void>
}

export interface Asked {
  method: string
  /** What follows `/api/v1` or `/__admin`. */
  target: string
  isControl: boolean
  body?: unknown
  headers?: Record<string, string | null>
  /** Whether a fault may cut the connection. */
  isLost?: boolean
}

interface Start {
  options: ServerOptions
  contract: Contract
  /** A folder of this run. */
  scratch: string
}

export type OpenPlace = (start: Start) => Promise<Place>

/** Never restarted, so what it answers is what everybody has to answer after a restart. */
export const inMemory: OpenPlace = (start) => openPlace('memory', false, start, [{}], async () => {})

export const inFolder: OpenPlace = (start) => {
  let data = join(start.scratch, 'data')
  return openPlace('folder', true, start, [{ data }], async (event, servers, open) => {
    const [former] = servers.splice(0)
    if (event === 'loss') copyAtOnce(data, `${data}-`)
    await former?.stop()
    if (event === 'loss') data = `${data}-`
    rmSync(join(data, '.lock'), { force: true })
    servers.push(await open({ data }))
  })
}

/** As it is on the disk at this moment, which is what a kill would leave, also in the middle of a write. */
function copyAtOnce(from: string, to: string): void {
  try {
    cpSync(from, to, { recursive: true })
  } catch {
    // A file has got its final name just now.
    rmSync(to, { recursive: true })
    copyAtOnce(from, to)
  }
}

/** Two servers, which are asked in turn. They have the clock of the store, so the clocks of all accounts must stand. */
export const onRedis: OpenPlace = async ({ options: { clock: _, ...options }, ...start }) => {
  const shared = { store: (await sharedRedis()).url, storePrefix: freshPrefix() }
  return openPlace('Redis', false, { ...start, options }, [shared, shared], async (event, servers, open) => {
    const [former] = servers.splice(0, 1)
    if (event === 'stop') await former?.stop()
    servers.push(await open(shared))
    if (event === 'loss') await former?.stop()
  })
}

type Open = (changes: ServerOptions) => Promise<Understudy>

async function openPlace(
  name: string,
  forgets: boolean,
  { options, contract }: Start,
  each: readonly ServerOptions[],
  restart: (event: Event, servers: Understudy[], open: Open) => Promise<void>,
): Promise<Place> {
  const problems: string[] = []
  const error = (fields: object, message: string) => void problems.push(`${message} ${JSON.stringify(fields)}`)
  const log = { info() {}, warn() {}, error }
  // A start with a key would add it again if it was deleted.
  const { apiKey: _, ...later } = options
  const servers: Understudy[] = []
  const open = (changes: ServerOptions, given = later) =>
    startPatient({ ...given, ...changes, log }, { hurries: true, contract })
  for (const changes of each) servers.push(await open(changes, servers.length === 0 ? options : later))
  let turn = 0
  return {
    name,
    forgets,
    isShared: each.length > 1,
    restart: (event) => restart(event, servers, open),
    async ask(asked) {
      const server = servers[turn++ % servers.length] as Understudy
      const answer = await askAt(server.baseUrl, asked)
      if (problems.length > 0)
        throw new Error(`${asked.method} ${asked.target} in ${name} logs: ${problems.join('; ')}`)
      // What one server has recorded, the other one reads a moment later.
      if (servers.length > 1 && !asked.isControl) await server.requests.list({ limit: 1 })
      return answer
    },
    stop: async () => void (await Promise.all(servers.map((server) => server.stop()))),
  }
}

async function askAt(baseUrl: string, { method, target, body, headers, isControl, isLost }: Asked): Promise<Received> {
  const url = isControl ? `${new URL(baseUrl).origin}/__admin${target}` : `${baseUrl}${target}`
  try {
    return await sendRequest(method, url, body, headers)
  } catch (error) {
    const { code } = error as Error & { code?: string }
    if (isLost) return { status: 0, headers: {}, text: '', body: undefined }
    // The server has closed a connection that was idle for long, which a busy machine may notice late. Nothing was done.
    if (code !== 'ECONNRESET') throw error
    return sendRequest(method, url, body, headers)
  }
}
