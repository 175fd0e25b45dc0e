import { createRandom } from '../random.ts'
import { sendRequest } from '../request.ts'
import type { AccountCall } from './account-model.ts'
import type { Exchange } from './history.ts'

/** Who is asked, and for what. */
export interface Workload {
  /** The base URLs of all servers, as they are now; `undefined` for one that does not run. */
  baseUrls(): readonly (string | undefined)[]
  accounts: readonly { id: string; key: string }[]
  clients: number
  /** Requests of each client. */
  requests: number
  seed: number
  /** Called before each request. */
  rest(): Promise<unknown>
}

/** The names are few, so that requests meet each other. */
const SPELLINGS = ['Web', 'WEB', 'Mail', 'mail', 'Shop']
const DOMAINS = ['a.example', 'b.example', 'c.example', 'd.example', 'e.example']

function choose<Value>(values: readonly Value[], random: () => number): Value {
  return values[Math.floor(random() * values.length)] as Value
}

/**
 * Runs all clients to their ends, each request to a random server, while something else happens beside, and then looks at
 * everything through each server. Resolves to the history.
 */
export async function runWorkload(
  workload: Workload,
  beside: (isOver: () => boolean) => Promise<void>,
): Promise<Exchange[]> {
  const exchanges: Exchange[] = []
  const start = performance.now()
  const groups: { account: string; id: string }[] = []
  let isOver = false
  const besides = beside(() => isOver)
  const clients = Array.from({ length: workload.clients }, async (_, client) => {
    const random = createRandom(workload.seed * 1000 + client)
    for (let sent = 0; sent < workload.requests; sent++) {
      await workload.rest()
      const account = choose(workload.accounts, random)
      const ids = groups.filter((group) => group.account === account.id).map(({ id }) => id)
      const call = chooseCall(ids.slice(-4), random)
      const exchange = await carryOut(choose(workload.baseUrls(), random), account, call, start)
      if (exchange !== undefined) exchanges.push(exchange)
      if (exchange?.told?.group !== undefined) groups.push({ account: account.id, id: exchange.told.group.id })
    }
  })
  await Promise.all(clients).finally(() => (isOver = true))
  await besides
  for (const account of workload.accounts) {
    for (const baseUrl of workload.baseUrls()) {
      for (const call of [{ do: 'list domains' }, { do: 'list groups' }] as const) {
        const exchange = await carryOut(baseUrl, account, call, start)
        if (exchange !== undefined) exchanges.push(exchange)
      }
    }
  }
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
  if (kind < 0.38) return { do: 'update group', id, changes: { domains: members() } }
  if (kind < 0.46) return { do: 'delete group', id }
  if (kind < 0.56) return { do: 'add domains', domains: some() }
  if (kind < 0.62) return { do: 'delete domains', domains: some() }
  // Many looks, because each of them leaves fewer orders that may be.
  if (kind < 0.82) return { do: 'list groups' }
  if (kind < 0.87) return { do: 'read group', id }
  return { do: 'list domains' }
}

/** Makes one call, once; `undefined` where nobody listened, so that it cannot have had an effect. */
async function carryOut(
  baseUrl: string | undefined,
  { id: account, key }: { id: string; key: string },
  call: AccountCall,
  start: number,
): Promise<Exchange | undefined> {
  if (baseUrl === undefined) return undefined
  const [method, path, body] = requestOf(call)
  const invoked = performance.now() - start
  try {
    const headers = { authorization: `Bearer ${key}`, connection: 'close' }
    const answer = await sendRequest(method, baseUrl + path, body, headers)
    const number = (name: string) => Number(answer.headers[`x-ratelimit-${name}`])
    const hasQuota = answer.headers['x-ratelimit-limit'] !== undefined
    return {
      ...{ account, call, invoked, returned: performance.now() - start, status: answer.status },
      told: answer.body.success ? answer.body.data : answer.body.error,
      quota: hasQuota ? { limit: number('limit'), remaining: number('remaining'), reset: number('reset') } : undefined,
      requestId: answer.headers['x-request-id'],
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return undefined
    const nothing = { returned: undefined, status: undefined, told: undefined, quota: undefined, requestId: undefined }
    return { account, call, invoked, ...nothing }
  }
}

function requestOf(call: AccountCall): [method: string, path: string, body?: object] {
  switch (call.do) {
    case 'list domains':
      return ['GET', '/domains']
    case 'add domains':
      return ['POST', '/domains', { domains: call.domains }]
    case 'delete domains':
      return ['DELETE', '/domains', { domains: call.domains }]
    case 'list groups':
      return ['GET', '/domaingroups']
    case 'read group':
      return ['GET', `/domaingroups?id=${call.id}`]
    case 'create group':
      return ['POST', '/domaingroups', { name: call.name, domains: call.domains }]
    case 'update group':
      return ['PATCH', `/domaingroups?id=${call.id}`, call.changes]
    case 'delete group':
      return ['DELETE', `/domaingroups?id=${call.id}`]
  }
}
