import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Deviation } from './deviations/deviation.ts'
import { deviationOf } from './deviations.ts'
import { type Account, type Answer, type Call, type Fields, idOf, Parts, Refusal, SHAPES } from './parts.ts'

export interface IndependentOptions {
  /** The id of what it does wrong; without one, it is right. */
  deviation?: Deviation['id'] | undefined
  /** The keys of its only account. By default, one. */
  keys?: readonly string[]
  domains?: readonly string[]
  /** Which of them a monitoring feature uses. */
  inUse?: readonly string[]
  groups?: readonly { name: string; domains?: readonly string[] }[]
  /** Whether the plan of the account includes the API. */
  hasPlan?: boolean
  clock?: () => number
  port?: number
}

export interface IndependentService {
  baseUrl: string
  apiKey: string
  /** What the account holds, for proofs that somebody left it as it was. */
  account: Account
  /** How many requests there were. */
  requests(): number
  stop(): Promise<void>
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

/** Starts the whole service for one account, on a free port. */
export async function startIndependentService(options: IndependentOptions = {}): Promise<IndependentService> {
  const { keys = [KEY], hasPlan = true, clock = Date.now } = options
  const parts = new Parts()
  if (options.deviation !== undefined) deviationOf(options.deviation).change(parts)
  const account = accountOf(options, clock())
  const spent = new Map<string, number>()
  let requests = 0

  /** The headers about the quota. @throws Refusal, which has them too */
  function spend(key: string, path: string, method: string, headers: Answer['headers']): void {
    const limit = parts.limits[path] ?? 0
    const window = Math.floor(clock() / HOUR)
    const bucket = `${parts.bucketOf(key, path, method)} ${window}`
    const ordinal = (spent.get(bucket) ?? 0) + 1
    const isOver = parts.exceeds(ordinal, limit)
    if (!isOver) spent.set(bucket, ordinal)
    headers['X-RateLimit-Limit'] = `${limit}`
    headers['X-RateLimit-Remaining'] = `${parts.leftOf(ordinal, limit)}`
    headers['X-RateLimit-Reset'] = `${((window + 1) * HOUR) / 1000}`
    if (isOver) throw new Refusal('rate_limited')
  }

  async function answer(request: IncomingMessage, headers: Answer['headers']): Promise<Answer> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
    const path = pathname.startsWith(`${BASE}/`) ? pathname.slice(BASE.length) : ''
    const methods = METHODS[path]
    const sent = request.method ?? ''
    const body = await readBody(request)
    if (methods === undefined) throw new Refusal('not_found')
    if (!methods.includes(sent)) {
      return { status: 405, headers: { ...headers, Allow: methods.join(', ') }, body: failure('not_found') }
    }
    const key = parts.keyOf(request.headers.authorization, new Set(keys))
    if (key === undefined) throw new Refusal('unauthorized')
    if (!hasPlan) return { status: 403, headers, body: failure('unauthorized') }
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
    requests++
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
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}${BASE}`,
    apiKey: keys[0] ?? '',
    account,
    requests: () => requests,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function operate(parts: Parts, call: Call): unknown {
  switch (`${call.method} ${call.path}`) {
    case 'GET /dmarc':
      return parts.listDmarc(call)
    case 'GET /domains':
      return parts.listDomains(call)
    case 'POST /domains':
      return parts.addDomains(call)
    case 'DELETE /domains':
      return parts.deleteDomains(call)
    case 'GET /domaingroups':
      return parts.listGroups(call)
    case 'POST /domaingroups':
      return parts.createGroup(call)
    case 'PATCH /domaingroups':
      return parts.updateGroup(call)
    default:
      return parts.deleteGroup(call)
  }
}

function accountOf({ domains = [], inUse = [], groups = [] }: IndependentOptions, now: number): Account {
  return {
    domains: new Map(domains.map((domain) => [domain, now - 2 * MONTH])),
    inUse: new Set(inUse),
    groups: groups.map(({ name, domains: members = [] }, index) => ({
      id: idOf(index + 1),
      name,
      domains: [...members],
    })),
    created: groups.length,
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
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
