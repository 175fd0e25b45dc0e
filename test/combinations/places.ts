import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Contract } from '../../src/contract/contract.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import type { Understudy } from '../../src/start/server.ts'
import { LOCK } from '../../src/store/folder/folder-lock.ts'
import { freshPrefix, sharedRedis } from '../support/redis-server.ts'
import { startPatient } from '../support/replicas.ts'
import { type Received, sendRequest } from '../support/request.ts'
import type { Asked } from './steps.ts'

/** After a loss, a server starts with what was kept at that moment, and with nothing of what a stop does. */
export type Event = 'restart' | 'loss'

/** One or several servers that are one service, and where they keep its accounts. */
export interface Place {
  name: string
  /** Whether journal and snapshots end with a server, and whether nothing at all outlives one. */
  keeps: 'everything' | 'accounts' | 'nothing'
  /** The status of the answer is 0 where none came. */
  ask(asked: Asked): Promise<Received>
  /** Stops it and starts it again. */
  restart(event: Event): Promise<void>
  /** Internal errors that nobody asked for. */
  problems: string[]
  stop(): Promise<void>
}

/** What every place is opened with. */
interface Start {
  options: ServerOptions
  /** The contract that the overlays make. */
  contract: Contract
  /** A folder of this world. */
  scratch: string
}

export type OpenPlace = (start: Start) => Promise<Place>

/** Never restarted, so that what it answers is what everybody has to answer after a restart. */
export const inMemory: OpenPlace = (start) => openPlace('memory', 'nothing', start, [start.options], async () => {})

export const inFolder: OpenPlace = (start) => {
  let data = join(start.scratch, 'data')
  return openPlace('folder', 'accounts', start, [{ ...start.options, data }], async (event, servers, openAgain) => {
    const [former] = servers.splice(0)
    if (event === 'loss') copyAtOnce(data, `${data}-`)
    await former?.stop()
    if (event === 'loss') data = `${data}-`
    rmSync(join(data, LOCK), { force: true })
    servers.push(await openAgain({ data }))
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

/** Two servers, which are asked in turn. */
export const onRedis: OpenPlace = async (start) => {
  const { durability: _, clock: __, ...shared } = start.options
  const first = { ...shared, store: (await sharedRedis()).url, storePrefix: freshPrefix() }
  return openPlace('Redis', 'everything', start, [first, withoutKey(first)], async (event, servers, openAgain) => {
    const [former] = servers.splice(0, 1)
    if (event === 'restart') await former?.stop()
    servers.push(await openAgain({}))
    if (event === 'loss') await former?.stop()
  })
}

/** A start would add the key again that it is given, if a request has deleted it. */
function withoutKey({ apiKey: _, ...options }: ServerOptions): ServerOptions {
  return options
}

type Reopen = (changes: ServerOptions) => Promise<Understudy>

/** Opens a server with each of these options. */
async function openPlace(
  name: string,
  keeps: Place['keeps'],
  { contract }: Start,
  all: readonly ServerOptions[],
  restart: (event: Event, servers: Understudy[], openAgain: Reopen) => Promise<void>,
): Promise<Place> {
  const problems: string[] = []
  function error(fields: object, message: string): void {
    const texts = Object.values(fields).map((value) => (value instanceof Error ? value.stack : JSON.stringify(value)))
    problems.push(`${message} ${texts.join(' ').slice(0, 1500)}`)
  }
  const log = { info() {}, warn() {}, error }
  const open = (options: ServerOptions) => startPatient({ ...options, log }, { hurries: true, contract })
  const servers: Understudy[] = []
  for (const options of all) servers.push(await open(options))
  let turn = 0
  return {
    name,
    keeps,
    problems,
    restart: (event) => restart(event, servers, (changes) => open({ ...withoutKey(all[0] ?? {}), ...changes })),
    async ask(asked) {
      const server = servers[turn++ % servers.length] as Understudy
      const answer = await askAt(server.baseUrl, asked)
      // Requests that two servers answer at once are in the journal in any order.
      if (servers.length > 1 && !asked.isControl) await server.requests.list({ limit: 1 })
      return answer
    },
    stop: async () => void (await Promise.all(servers.map((server) => server.stop()))),
  }
}

async function askAt(baseUrl: string, { method, path, body, key, isControl }: Asked): Promise<Received> {
  const url = isControl ? `${new URL(baseUrl).origin}/__admin${path}` : `${baseUrl}${path}`
  const authorization = key === undefined ? null : `Bearer ${key}`
  try {
    return await sendRequest(method, url, body, { authorization, connection: 'close' })
  } catch (error) {
    // A fault has cut the connection, or has made something else of the body.
    const { name, code = name } = error as Error & { code?: string }
    return { status: 0, headers: {}, text: `no answer: ${code}`, body: undefined }
  }
}
