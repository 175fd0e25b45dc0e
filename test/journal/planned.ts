import { vi } from 'vitest'
import type { AccountState } from '../../src/domain/account.ts'
import type { Problem } from '../../src/domain/errors.ts'
import { addKey, isInGrace } from '../../src/domain/keys.ts'
import { NO_KEY, type Observation } from '../../src/journal/coverage/observation.ts'
import type { PlannedRequest } from '../../src/journal/planned-request.ts'
import { hashKey, identityOf } from '../../src/seeding/secrets.ts'
import { changeAccount } from '../http/account.ts'
import { API_KEY, operationAt, type TestResponse, type TestService } from '../service.ts'

/** Something that sends planned requests to a service, and says what is to be observed of them. */
export interface Runner {
  /** Observations of the requests to the service, in their order. */
  run(requests: readonly PlannedRequest[]): Promise<Observation[]>
  /** Begins a new window of every quota. */
  refill(): void
}

const WINDOW = 3_600_000
/** Reasons for which a body is refused unread. */
const UNREAD = ['content-type', 'coding', 'absent', 'bytes']

export function runnerFor(service: TestService): Runner {
  const answer = vi.spyOn(service.contract.catalogue, 'answer')

  async function run(requests: readonly PlannedRequest[]): Promise<Observation[]> {
    const observations: Observation[] = []
    for (const request of requests) {
      if (request.plane === 'admin') await administer(service, request)
      else for (let time = 0; time < (request.times ?? 1); time++) observations.push(await send(request))
    }
    return observations
  }

  async function send(request: PlannedRequest): Promise<Observation> {
    const { method, path, key = 'valid', headers = {}, body, padTo = 0 } = request
    const authorization = { valid: `Bearer ${API_KEY}`, wrong: 'Bearer no-such-key', none: null }[key]
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    const before = await service.store.read('default')
    answer.mockClear()
    const sent = { authorization, ...headers }
    const response = await service.send(method, path, text?.padEnd(padTo), sent)
    const problem = answer.mock.lastCall?.[0]
    return observationOf(service, before, request, text?.padEnd(padTo), response, problem)
  }

  return { run, refill: () => service.advance(WINDOW) }
}

function observationOf(
  { contract }: TestService,
  before: AccountState,
  { method, path, key = 'valid', headers = {} }: PlannedRequest,
  text: string | undefined,
  { status, headers: answered, body }: TestResponse,
  problem: Problem<string> | undefined,
): Observation {
  const code: string | undefined = body.error?.code
  const now = Date.parse(answered['date'] ?? '')
  const secret = headers['Authorization']?.slice('Bearer '.length) ?? (key === 'valid' ? API_KEY : '')
  const ordinal = before.keys.findIndex(({ hash }) => hash === hashKey(secret)) + 1
  const used = before.keys[ordinal - 1]
  const query = Object.fromEntries(new URL(path, 'http://localhost').searchParams)
  const remaining = answered['x-ratelimit-remaining']
  return {
    operation: operationAt(contract, method, path),
    status,
    code,
    reason: problem?.reason,
    injected: false,
    query,
    body: UNREAD.includes(problem?.reason ?? '') ? undefined : parse(text),
    bodyBytes: Buffer.byteLength(text ?? ''),
    allowance:
      remaining === undefined
        ? undefined
        : { allowed: code !== 'rate_limited', limit: 0, remaining: Number(remaining), resetAt: 0 },
    now,
    key:
      used === undefined
        ? NO_KEY
        : { ordinal, disabled: used.disabled, inGrace: isInGrace(used, now, contract.settings.gracePeriod) },
    group: before.groups.get(query['id'] ?? ''),
  }
}

function parse(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}

/** What the control plane would do. */
async function administer(service: TestService, { method, path, body }: PlannedRequest): Promise<void> {
  const [, , , kind, name = '', detail] = path.split('/')
  // biome-ignore lint/suspicious/noExplicitAny: the control plane would hold it to a schema
  const given = body as any
  switch ([method, kind, detail].filter((part) => part !== undefined).join(' ')) {
    case 'PATCH':
      return changeAccount(service, (state) => ({ ...state, plan: given.plan }))
    case 'POST keys': {
      // Until a request tells otherwise, an account's clock shows what it did at the beginning of the test.
      const { headers } = await service.get('/domains')
      const createdAt = Date.parse(headers['date'] ?? '')
      const key = { ...identityOf(given.key), createdAt, label: given.label, disabled: false }
      return changeAccount(service, (state) => addKey(state, key))
    }
    case 'PATCH keys':
      return changeAccount(service, (state) => ({
        ...state,
        keys: state.keys.map((key) => (key.id === name ? { ...key, disabled: given.disabled } : key)),
      }))
    case 'DELETE keys':
      return changeAccount(service, (state) => ({ ...state, keys: state.keys.filter(({ id }) => id !== name) }))
    case 'PUT domains features':
      return changeAccount(service, (state) => {
        const domain = state.domains.get(decodeURIComponent(name))
        if (domain === undefined) throw new Error(`${name} is not monitored.`)
        return { ...state, domains: state.domains.with([[domain.name, { ...domain, features: given.features }]]) }
      })
    case 'PATCH quotas':
      return exhaust(service, `/${given.bucket}`, given.remaining)
    default:
      throw new Error(`There is nothing at ${method} ${path}.`)
  }
}

/** Brings the quota of a path to so many requests that are left, in a new window. */
async function exhaust(service: TestService, path: string, remaining: number): Promise<void> {
  const quota = service.contract.operations.find((operation) => operation.path === path)?.quota
  service.advance(WINDOW)
  for (let left = quota?.limit ?? 0; left > remaining; left--) await service.get(path)
}
