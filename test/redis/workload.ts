import { createRandom } from '../support/random.ts'
import { sendRequest } from '../support/request.ts'
import type { Specification } from './checker.ts'

/** What a client asks of an account. No call names the id of a group, so that all answers follow from the calls. */
export type Call =
  | { do: 'list domains' | 'list groups' }
  | { do: 'add domains' | 'delete domains'; domains: readonly string[] }
  | { do: 'create group'; name: string; domains: readonly string[] }

/** What a client learns: the code of a refusal, or what it was told. */
export type Outcome = { refused: string } | { domains: readonly string[] } | { groups: readonly Group[] }

interface Group {
  name: string
  domains: readonly string[]
}

interface Account {
  domains: readonly string[]
  groups: readonly Group[]
}

/** One account, written from the specification of the service, without any of its code. */
export const ACCOUNT: Specification<Account, Call, Outcome> = {
  initial: { domains: [], groups: [] },
  apply(state, call) {
    const refuse = (refused: string) => ({ state, outcome: { refused } })
    const isMonitored = (domain: string) => state.domains.includes(domain)
    switch (call.do) {
      case 'list domains':
        return { state, outcome: { domains: state.domains } }
      case 'list groups':
        return { state, outcome: { groups: state.groups } }
      case 'add domains': {
        const { domains } = call
        if (domains.some(isMonitored)) return refuse('invalid_domain')
        return { state: { ...state, domains: [...state.domains, ...domains] }, outcome: { domains } }
      }
      case 'delete domains': {
        const { domains } = call
        if (!domains.every(isMonitored)) return refuse('domain_delete_failed')
        const stays = (domain: string) => !domains.includes(domain)
        const groups = state.groups.map((group) => ({ ...group, domains: group.domains.filter(stays) }))
        return { state: { domains: state.domains.filter(stays), groups }, outcome: { domains } }
      }
      case 'create group': {
        const { name, domains } = call
        if (!domains.every(isMonitored)) return refuse('not_monitored')
        const isTaken = state.groups.some((group) => group.name.toLowerCase() === name.toLowerCase())
        if (isTaken) return refuse('duplicate_name')
        const group = { name, domains }
        return { state: { ...state, groups: [...state.groups, group] }, outcome: { groups: [group] } }
      }
    }
  },
  changesNothing: (call, outcome) => isLook(call) || 'refused' in outcome,
}

export function isLook(call: Call): boolean {
  return call.do.startsWith('list ')
}

/** A request of a concurrent run and what came of it. Its beginning and its end have a place in the order of all. */
export interface Exchange {
  account: string
  call: Call
  invoked: number
  returned: number
  /** `undefined` if the client does not know what came of it: without a response, or with a 5xx. */
  outcome: Outcome | undefined
  status: number | undefined
  /** The headers of the quota, where there are any. */
  quota: { limit: number; remaining: number; reset: number } | undefined
  /** The ids that the service has given: of the request, and of a new group. */
  ids: readonly string[]
}

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

/**
 * Runs all clients to their ends, each request to a random server, while something else happens beside, and then looks at
 * everything through each server. Resolves to the history.
 */
export async function runWorkload(
  { baseUrls, accounts, clients, requests, seed, rest }: Workload,
  beside: (isOver: () => boolean) => Promise<void>,
): Promise<Exchange[]> {
  const exchanges: Exchange[] = []
  const ask = async (...asked: Parameters<typeof carryOut>) => exchanges.push(...(await carryOut(...asked)))
  let isOver = false
  const besides = beside(() => isOver)
  const running = Array.from({ length: clients }, async (_, client) => {
    const random = createRandom(seed * 1000 + client)
    for (let sent = 0; sent < requests; sent++) {
      await rest()
      await ask(choose(baseUrls(), random), choose(accounts, random), chooseCall(random))
    }
  })
  await Promise.all(running).finally(() => (isOver = true))
  await besides
  for (const account of accounts) {
    for (const baseUrl of baseUrls()) {
      for (const what of ['list domains', 'list groups'] as const) await ask(baseUrl, account, { do: what })
    }
  }
  return exchanges
}

const DOMAINS = ['a.example', 'b.example', 'c.example', 'd.example', 'e.example']

function choose<Value>(values: readonly Value[], random: () => number): Value {
  return values[Math.floor(random() * values.length)] as Value
}

/** The names are few, so that requests meet each other. Many are looks, each of which leaves fewer orders that may be. */
function chooseCall(random: () => number): Call {
  const kind = random()
  const domains = [choose(DOMAINS, random), ...(random() < 0.3 ? ['f.example'] : [])]
  if (kind < 0.25) return { do: 'list groups' }
  if (kind < 0.5) return { do: 'list domains' }
  if (kind < 0.65) return { do: 'add domains', domains }
  if (kind < 0.75) return { do: 'delete domains', domains }
  const name = `${choose(['Web', 'WEB', 'Mail', 'mail'], random)} ${Math.floor(random() * 6)}`
  return { do: 'create group', name, domains: DOMAINS.filter(() => random() < 0.2) }
}

const REQUESTS: Readonly<Record<Call['do'], readonly [method: string, path: string]>> = {
  'list domains': ['GET', '/domains'],
  'add domains': ['POST', '/domains'],
  'delete domains': ['DELETE', '/domains'],
  'list groups': ['GET', '/domaingroups'],
  'create group': ['POST', '/domaingroups'],
}

/** Numbers the beginnings and the ends of calls in their order, which is all that the checker asks for. */
let moment = 0

/** Makes one call, once; nothing where nobody listened, so that it cannot have had an effect. */
async function carryOut(
  baseUrl: string | undefined,
  { id: account, key }: { id: string; key: string },
  call: Call,
): Promise<Exchange[]> {
  if (baseUrl === undefined) return []
  const { do: what, ...body } = call
  const [method, path] = REQUESTS[what]
  const invoked = ++moment
  const lost = { account, call, invoked, returned: Number.POSITIVE_INFINITY, outcome: undefined, ids: [] }
  try {
    const headers = { authorization: `Bearer ${key}`, connection: 'close' }
    const answer = await sendRequest(method, baseUrl + path, isLook(call) ? undefined : body, headers)
    const { status, body: told } = answer
    const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
      Number(answer.headers[`x-ratelimit-${name}`]),
    ) as [number, number, number]
    const quota = Number.isNaN(limit) ? undefined : { limit, remaining, reset }
    const ids = [answer.headers['x-request-id'] ?? '', told.data?.group?.id].filter((id) => id !== undefined)
    if (status >= 500) return [{ ...lost, status, quota, ids }]
    return [{ ...{ account, call, invoked, status, quota, ids }, returned: ++moment, outcome: outcomeOf(told) }]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return []
    return [{ ...lost, status: undefined, quota: undefined }]
  }
}

// biome-ignore lint/suspicious/noExplicitAny: whose shape the contract has proved
function outcomeOf({ success, data, error }: any): Outcome {
  if (!success) return { refused: error.code }
  const groups: readonly Group[] | undefined = data.groups ?? (data.group && [data.group])
  if (groups === undefined) return { domains: data.domains }
  return { groups: groups.map(({ name, domains }) => ({ name, domains })) }
}
