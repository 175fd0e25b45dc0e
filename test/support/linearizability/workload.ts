import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { createRandom } from '../random.ts'
import type { AccountCall } from './account-model.ts'
import type { Exchange } from './history.ts'

/** Where a client may ask, and for what. */
export interface WorkloadTarget {
  /** The base URLs of all replicas, as they are now; `undefined` for one that does not run. */
  baseUrls(): readonly (string | undefined)[]
  accounts: readonly { id: string; key: string }[]
}

export interface Workload {
  clients: number
  /** Requests of each client. */
  requests: number
  seed: number
  /** How long a client rests at most between two requests, in milliseconds. */
  rest: number
  /** How long a client waits for a response, in milliseconds. */
  patience: number
  /** When the run began, by `performance.now`. */
  start: number
}

/** The names are few, so that requests meet each other. */
export const GROUP_NAMES = ['Web', 'Mail', 'Shop'] as const
const SPELLINGS = ['Web', 'WEB', 'Mail', 'mail', 'Shop']
const DOMAINS = ['a.example', 'b.example', 'c.example', 'd.example', 'e.example']

function choose<Value>(values: readonly Value[], random: () => number): Value {
  return values[Math.floor(random() * values.length)] as Value
}

/** Runs all clients to their ends, each request to a random replica, and resolves to the history. */
export async function runWorkload(target: WorkloadTarget, workload: Workload): Promise<Exchange[]> {
  const exchanges: Exchange[] = []
  const known = new Map(target.accounts.map(({ id }) => [id, new Set<string>()]))
  const { start, patience } = workload
  const clients = Array.from({ length: workload.clients }, async (_, client) => {
    const random = createRandom(workload.seed * 1000 + client)
    const agent = new Agent({ keepAlive: true })
    for (let sent = 0; sent < workload.requests; sent++) {
      const account = choose(target.accounts, random)
      const ids = known.get(account.id) as Set<string>
      const call = chooseCall([...ids].slice(-4), random)
      const baseUrls = target.baseUrls()
      const replica = Math.floor(random() * baseUrls.length)
      const made = { account, client, replica, call, start, patience, agent }
      const exchange = await carryOut(baseUrls[replica], made)
      if (exchange !== undefined) {
        exchanges.push(exchange)
        for (const id of idsIn(exchange)) ids.add(id)
      }
      await pause(random() * workload.rest)
    }
    agent.destroy()
  })
  await Promise.all(clients)
  return exchanges
}

/** Looks at everything through each replica, one after the other. */
export async function lookAtEverything(target: WorkloadTarget, start: number): Promise<Exchange[]> {
  const exchanges: Exchange[] = []
  const agent = new Agent({ keepAlive: true })
  for (const account of target.accounts) {
    for (const [replica, baseUrl] of target.baseUrls().entries()) {
      for (const call of [{ do: 'list domains' }, { do: 'list groups' }] as const) {
        const exchange = await carryOut(baseUrl, { account, client: -1, replica, call, start, patience: 5000, agent })
        if (exchange !== undefined) exchanges.push(exchange)
      }
    }
  }
  agent.destroy()
  return exchanges
}

function chooseCall(ids: readonly string[], random: () => number): AccountCall {
  const id = ids.length === 0 ? 'unknown0' : choose(ids, random)
  const members = () => DOMAINS.filter(() => random() < 0.3)
  const some = () => [choose(DOMAINS, random), ...(random() < 0.3 ? ['f.example'] : [])]
  const kind = random()
  if (kind < 0.16) return { do: 'create group', name: choose(SPELLINGS, random), domains: members() }
  if (kind < 0.22) return { do: 'update group', id, changes: { name: choose(SPELLINGS, random) } }
  if (kind < 0.32) return { do: 'update group', id, changes: { add_domains: some() } }
  if (kind < 0.38) return { do: 'update group', id, changes: { remove_domains: some() } }
  if (kind < 0.42) return { do: 'update group', id, changes: { domains: members() } }
  if (kind < 0.5) return { do: 'delete group', id }
  if (kind < 0.58) return { do: 'add domains', domains: some() }
  if (kind < 0.63) return { do: 'delete domains', domains: some() }
  // Many looks, because each of them leaves fewer orders that may be.
  if (kind < 0.83) return { do: 'list groups' }
  if (kind < 0.87) return { do: 'read group', id }
  return { do: 'list domains' }
}

function idsIn({ told }: Exchange): string[] {
  const groups: { id: string }[] = told?.groups ?? (told?.group === undefined ? [] : [told.group])
  return groups.map(({ id }) => id)
}

interface Made {
  account: { id: string; key: string }
  client: number
  replica: number
  call: AccountCall
  start: number
  patience: number
  agent: Agent
}

/** Makes one call; `undefined` where nobody listened, so that it cannot have had an effect. */
async function carryOut(
  baseUrl: string | undefined,
  { account, call, start, patience, agent, ...made }: Made,
): Promise<Exchange | undefined> {
  if (baseUrl === undefined) return undefined
  const { method, path, body } = requestOf(call)
  const invoked = performance.now() - start
  const base = { ...made, account: account.id, call, invoked }
  try {
    const { status, headers, text } = await ask(baseUrl + path, { method, key: account.key, body, patience, agent })
    const returned = performance.now() - start
    const parsed = JSON.parse(text)
    const number = (name: string) => Number(headers[`x-ratelimit-${name}`])
    const hasQuota = headers['x-ratelimit-limit'] !== undefined
    return {
      ...base,
      returned,
      status,
      told: parsed.success ? parsed.data : parsed.error,
      quota: hasQuota ? { limit: number('limit'), remaining: number('remaining'), reset: number('reset') } : undefined,
      requestId: `${headers['x-request-id']}`,
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return undefined
    return { ...base, returned: undefined, status: undefined, told: undefined, quota: undefined, requestId: undefined }
  }
}

function requestOf(call: AccountCall): { method: string; path: string; body?: object } {
  switch (call.do) {
    case 'list domains':
      return { method: 'GET', path: '/domains' }
    case 'add domains':
      return { method: 'POST', path: '/domains', body: { domains: call.domains } }
    case 'delete domains':
      return { method: 'DELETE', path: '/domains', body: { domains: call.domains } }
    case 'list groups':
      return { method: 'GET', path: '/domaingroups' }
    case 'read group':
      return { method: 'GET', path: `/domaingroups?id=${call.id}` }
    case 'create group':
      return { method: 'POST', path: '/domaingroups', body: { name: call.name, domains: call.domains } }
    case 'update group':
      return { method: 'PATCH', path: `/domaingroups?id=${call.id}`, body: call.changes }
    case 'delete group':
      return { method: 'DELETE', path: `/domaingroups?id=${call.id}` }
  }
}

interface Asked {
  method: string
  key: string
  body: object | undefined
  patience: number
  agent: Agent
}

/** Node.js sends a request on a kept connection once only, so that no retry of the client's own is in the history. */
function ask(
  url: string,
  { method, key, body, patience, agent }: Asked,
): Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; text: string }> {
  const content = body === undefined ? undefined : JSON.stringify(body)
  const headers = {
    authorization: `Bearer ${key}`,
    ...(content !== undefined && {
      'content-type': 'application/json',
      'content-length': `${Buffer.byteLength(content)}`,
    }),
  }
  return new Promise((resolve, reject) => {
    const sending = request(url, { method, headers, agent, signal: AbortSignal.timeout(patience) }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.once('error', reject)
      response.once('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString() })
      })
    })
    sending.once('error', reject)
    sending.end(content)
  })
}
