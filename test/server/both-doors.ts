import { onTestFinished } from 'vitest'
import { type ServerOptions, startUnderstudy, type Understudy } from '../../src/index.ts'
import { ACCOUNT } from '../support/account.ts'
import { API_KEY, START } from '../support/service.ts'

/** Fields about the connection, and those of which only a socket has one. */
const OF_CONNECTION = ['connection', 'keep-alive', 'transfer-encoding']

/** What a client gets of a request. */
export interface Outcome {
  status?: number
  statusText?: string
  headers?: Record<string, string>
  body?: string
  /** The error of `fetch`, or that of the body. */
  error?: { name: string; message: string; code: unknown; cause: unknown }
}

/** A stand-in, and how it is asked. */
export interface Door {
  service: Understudy
  ask(path: string, init?: RequestInit): Promise<Outcome>
  /** The same for the control plane, of which `path` is below `/__admin`. */
  control(path: string, init?: RequestInit): Promise<Outcome>
}

/** Two stand-ins with the same data. One is asked on a socket by the global `fetch`, the other by its own. */
export async function openBothDoors(options: ServerOptions = {}): Promise<{ socket: Door; direct: Door }> {
  const listening = await open(options)
  const { host, origin } = new URL(listening.baseUrl)
  // So both control planes tell the same addresses.
  return { socket: doorOf(listening, fetch, {}, origin), direct: await openDirectDoor(options, { host }) }
}

/** A stand-in that is asked by its own `fetch`. */
export async function openDirectDoor(options: ServerOptions = {}, added: Record<string, string> = {}): Promise<Door> {
  const silent = await open({ ...options, listen: false })
  return doorOf(silent, silent.fetch, added, 'https://any.example')
}

async function open(options: ServerOptions): Promise<Understudy> {
  const service = await startUnderstudy({ fixture: ACCOUNT, apiKey: API_KEY, clock: () => START, ...options })
  onTestFinished(() => service.stop())
  return service
}

function doorOf(
  service: Understudy,
  send: (url: string, init?: RequestInit) => Promise<Response>,
  added: Record<string, string>,
  origin: string,
): Door {
  const withFields = (init: RequestInit | undefined, fields: Record<string, string>): RequestInit => {
    const headers = new Headers(init?.headers)
    for (const [name, value] of Object.entries(fields)) if (!headers.has(name)) headers.set(name, value)
    return { ...init, headers, ...(init?.body instanceof ReadableStream && { duplex: 'half' }) }
  }
  const key = { authorization: `Bearer ${API_KEY}` }
  return {
    service,
    ask: (path, init) => outcomeOf(send(`${origin}${path}`, withFields(init, key))),
    async control(path, init) {
      const { headers, ...outcome } = await outcomeOf(send(`${origin}/__admin${path}`, withFields(init, added)))
      // It is the time of the machine.
      const { date: _, ...others } = headers ?? {}
      return { ...outcome, headers: others }
    },
  }
}

export async function outcomeOf(sent: Promise<Response>): Promise<Outcome> {
  try {
    const response = await sent
    const { status, statusText } = response
    const headers = Object.fromEntries([...response.headers].filter(([name]) => !OF_CONNECTION.includes(name)))
    try {
      return { status, statusText, headers, body: Buffer.from(await response.arrayBuffer()).toString('latin1') }
    } catch (error) {
      return { status, statusText, headers, error: describeError(error) }
    }
  } catch (error) {
    return { error: describeError(error) }
  }
}

function describeError(error: unknown): NonNullable<Outcome['error']> {
  if (!(error instanceof Error)) return { name: typeof error, message: `${error}`, code: undefined, cause: undefined }
  const cause = error.cause as NodeJS.ErrnoException | undefined
  return { name: error.name, message: error.message, code: cause?.code, cause: cause?.message }
}

/**
 * What a stand-in has recorded, without what depends on its address, on time and on fields that a client adds. Only with
 * a port are there pages.
 */
export async function recordOf({ service }: Door): Promise<unknown> {
  const { origin } = new URL(service.baseUrl)
  const requests = (await service.requests.list()).map(({ duration_ms: _, request, ...entry }) => {
    return { ...entry, request: { ...request, headers: undefined } }
  })
  const record = { requests, verdict: await service.verdict(), coverage: await service.coverage() }
  // The ids of entries begin with the name of the run.
  const isOwn = (name: string, value: unknown) => name === 'page' || (name === 'id' && /^\w{8}-\d+$/.test(`${value}`))
  const shared = JSON.stringify(record, (name, value) => (isOwn(name, value) ? undefined : value))
  return JSON.parse(shared.replaceAll(origin, 'http://stand-in'))
}
