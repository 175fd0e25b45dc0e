import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { DEVIATIONS, type Wrong } from './deviations.ts'
import { type Account, type Answer, type Call, type Fields, Parts, Refusal, SHAPES } from './parts.ts'

export interface IndependentOptions {
  /** What it does wrong; without this, it is right. */
  wrong?: Wrong | undefined
  domains?: readonly string[]
  clock?: () => number
}

const BASE = '/api/v1'
const HOUR = 3_600_000
const MONTH = 30 * 24 * HOUR
const LARGEST_BODY = 1_048_576
const KEY = 'key_Independ.222222222222222222222222222222222222222222222222'
const METHODS: Record<string, string[]> = {
  '/dmarc': ['GET', 'HEAD'],
  '/domains': ['GET', 'HEAD', 'POST', 'DELETE'],
  '/domaingroups': ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
}

/** Starts the whole service for one account with one key, on a free port. */
export async function startIndependentService(options: IndependentOptions = {}) {
  const { clock = Date.now } = options
  const parts = partsOf(options.wrong)
  const account = accountOf(options, clock())
  const spent = new Map<string, number>()

  /** The headers about the quota. @throws Refusal, which has them too */
  function spend(key: string, path: string, method: string, headers: Answer['headers']): void {
    const limit = parts.limits[path] ?? 0
    const window = Math.floor(clock() / HOUR)
    const bucket = `${parts.bucketOf(key, path, method)} ${window}`
    const ordinal = (spent.get(bucket) ?? 0) + 1
    const isOver = parts.exceeds(ordinal, limit)
    if (!isOver) spent.set(bucket, ordinal)
    headers['X-RateLimit-Limit'] = `${limit}`
    headers['X-RateLimit-Remaining'] = `${Math.max(0, limit - ordinal)}`
    headers['X-RateLimit-Reset'] = `${((window + 1) * HOUR) / 1000}`
    if (isOver) throw new Refusal('rate_limited')
  }

  async function answer(request: IncomingMessage, headers: Answer['headers']): Promise<Answer> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
    const path = pathname.startsWith(`${BASE}/`) ? pathname.slice(BASE.length) : ''
    const methods = METHODS[path]
    const sent = request.method ?? ''
    const body = await buffer(request)
    if (methods === undefined) throw new Refusal('not_found')
    if (!methods.includes(sent)) {
      return { status: 405, headers: { ...headers, Allow: methods.join(', ') }, body: failure('not_found') }
    }
    const key = parts.keyOf(request.headers.authorization, new Set([KEY]))
    if (key === undefined) throw new Refusal('unauthorized')
    const method = sent === 'HEAD' ? 'GET' : sent
    spend(key, path, method, headers)
    const id = searchParams.get('id') ?? undefined
    const call: Call = { account, now: clock(), method, path, id, fields: {} }
    const needsId = path === '/domaingroups' && (method === 'PATCH' || method === 'DELETE')
    if (needsId && (id === undefined || id === '')) parts.refuseMissingId(call)
    if (SHAPES[`${method} ${path}`] !== undefined) {
      call.fields = readFields(request, body)
      parts.checkFields(call)
    }
    return { status: 200, headers, body: { success: true, data: operate(parts, call) } }
  }

  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://localhost')
    const headers: Answer['headers'] = {
      Date: new Date(clock()).toUTCString(),
      'Content-Type': 'application/json',
      'X-Request-Id': randomUUID(),
    }
    answer(request, headers)
      .catch((error: unknown): Answer => {
        if (!(error instanceof Refusal)) throw error
        const status = parts.statuses[error.code] ?? 400
        if (status === 401) headers['WWW-Authenticate'] = 'Bearer'
        return { status, headers, body: failure(error.code) }
      })
      .then((right) => {
        const path = pathname.slice(BASE.length)
        const { status, headers: fields, body } = parts.finish(right, { method: request.method ?? '', path })
        const text = typeof body === 'string' ? body : withDecimals(JSON.stringify(body))
        response.writeHead(status, fields).end(text)
      })
      // A mistake of this file: the client sees a connection that is cut off, and a test fails.
      .catch((error: unknown) => response.destroy(error as Error))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}${BASE}`,
    apiKey: KEY,
    /** What it holds, for proofs that somebody left it as it was. */
    account,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function partsOf(wrong: Wrong | undefined): Parts {
  const parts = new Parts()
  if (wrong === undefined) return parts
  const { change } = DEVIATIONS[wrong]
  return Object.assign(parts, typeof change === 'function' ? change(new Parts()) : change)
}

function operate(parts: Parts, call: Call): unknown {
  const { method } = call
  if (call.path === '/dmarc') return parts.listDmarc(call)
  if (call.path === '/domains') {
    if (method === 'GET') return parts.listDomains(call)
    return method === 'POST' ? parts.addDomains(call) : parts.deleteDomains(call)
  }
  if (method === 'GET') return parts.listGroups(call)
  if (method === 'POST') return parts.createGroup(call)
  return method === 'PATCH' ? parts.updateGroup(call) : parts.deleteGroup(call)
}

function accountOf({ domains = [] }: IndependentOptions, now: number): Account {
  return { domains: new Map(domains.map((domain) => [domain, now - 2 * MONTH])), groups: [], created: 0 }
}

function readFields({ headers }: IncomingMessage, bytes: Buffer): Fields {
  const isJson = /^application\/json *(?:; *charset="?utf-8"?)?$/i.test(headers['content-type'] ?? '')
  if (!isJson || headers['content-encoding'] !== undefined) throw new Refusal('invalid_request_body')
  if (bytes.length > LARGEST_BODY) throw new Refusal('request_too_large')
  if (bytes.length === 0) throw new Refusal('invalid_request_body')
  const value = parse(bytes)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Refusal('invalid_request_body')
  return value as Fields
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch {
    throw new Refusal('invalid_json')
  }
}

function failure(code: string): Fields {
  return { success: false, error: { code, message: `Refused: ${code.replaceAll('_', ' ')}.` } }
}

/** Percentages have one decimal, which JSON.stringify leaves out where it is zero. */
function withDecimals(json: string): string {
  return json.replaceAll(/"(dmarc|dkim|spf)":(\d+)(?=[,}])/g, '"$1":$2.0')
}
