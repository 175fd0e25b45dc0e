import { judge } from '../behaviour/judge.ts'
import type { ConformingRequest, ServiceContract } from '../behaviour/operation.ts'
import type { OperationId } from '../behaviour/operations/operations.ts'
import { hostnamesIn } from '../behaviour/presentation.ts'
import { freshName } from '../behaviour/rehearsal.ts'
import { operationOf } from '../contract/api.ts'
import type { AccountState, DomainGroup } from '../domain/account.ts'
import { nameSome, shorten } from '../ground/show.ts'

/** A request of another client, without its key. */
interface ForeignRequest {
  operation: OperationId
  id?: string | undefined
  body?: { name?: string; domains?: readonly string[]; add_domains?: readonly string[] }
}

/** What another client sends, and what it does by that, as the rest of a sentence. */
interface ForeignRequests {
  requests: readonly ForeignRequest[]
  words: string
}

type Plan = (
  request: ConformingRequest,
  account: AccountState,
  contract: ServiceContract,
) => ForeignRequests | undefined

/** The group and the domain of another client that need a name of their own. */
const GROUP = 'Another client'
const DOMAIN = 'another-client.example'
/** The most domains in a sentence. */
const TOLD = 3

/** By the event of a fault rule: the requests of another client that come just before a request, if any fit it. */
const PLANS = {
  'group-deleted': ({ query }, { groups }) => {
    const group = groups.get(query['id'] ?? '')
    const request = { operation: 'deleteDomainGroup', id: group?.id } as const
    return group && { requests: [request], words: `deleted the group ${shorten(group.name)}` }
  },
  'domains-deleted': (request, { domains }, contract) => {
    const named = namesIn(request, contract).filter((name) => domains.has(name))
    if (named.length === 0) return undefined
    return { requests: [{ operation: 'deleteDomains', body: { domains: named } }], words: `deleted ${tell(named)}` }
  },
  'member-added': (request, account, contract) => {
    const { operation, query } = request
    const group = account.groups.get(query['id'] ?? '')
    if (group !== undefined)
      return operation.method === 'GET' ? undefined : addMember(group, request, account, contract)
    const [name] = operation.id === 'deleteDomains' ? namesIn(request, contract) : []
    if (name === undefined) return undefined
    const body = { name: freshName(account, GROUP, contract.settings), domains: [name] }
    return { requests: [{ operation: 'createDomainGroup', body }], words: `put ${name} into the group ${body.name}` }
  },
  'name-taken': (request, _, contract) => {
    const { name } = request.body
    if (typeof name === 'string') {
      const words = `created a group with the name ${shorten(name)}`
      return { requests: [{ operation: 'createDomainGroup', body: { name } }], words }
    }
    const names = request.operation.id === 'addDomains' ? namesIn(request, contract) : []
    if (names.length === 0) return undefined
    return { requests: [{ operation: 'addDomains', body: { domains: names } }], words: `added ${tell(names)}` }
  },
  'group-added': ({ operation, query }, account, { settings }) => {
    if (operation.id !== 'listDomainGroups' || query['id'] !== undefined) return undefined
    const body = { name: freshName(account, GROUP, settings) }
    return { requests: [{ operation: 'createDomainGroup', body }], words: `created the group ${body.name}` }
  },
} as const satisfies Readonly<Record<string, Plan>>

/** What another client changes just before a request; the name of the event in a fault rule. */
export type ForeignChange = keyof typeof PLANS
export const FOREIGN_CHANGES = Object.keys(PLANS) as ForeignChange[]

function addMember(
  { id, name, domains: members }: DomainGroup,
  request: ConformingRequest,
  { domains }: AccountState,
  contract: ServiceContract,
): ForeignRequests {
  const known = [...members, ...namesIn(request, contract), ...hostnamesIn(request.body, 'remove_domains', contract)]
  const free = [...domains.keys()].find((each) => !known.includes(each))
  const member = free ?? DOMAIN
  const adding = { operation: 'addDomains', body: { domains: [DOMAIN] } } as const
  const joining = { operation: 'updateDomainGroup', id, body: { add_domains: [member] } } as const
  const requests = free === undefined && !domains.has(DOMAIN) ? [adding, joining] : [joining]
  return { requests, words: `put ${member} into the group ${shorten(name)}` }
}

/** The domains that a request names to have them, or to remove them from the account. */
function namesIn({ body }: ConformingRequest, contract: ServiceContract): string[] {
  return ['domains', 'add_domains'].flatMap((field) => hostnamesIn(body, field, contract))
}

function tell(names: readonly string[]): string {
  return nameSome(names, TOLD)
}

/** The effect of such a rule on a request that names nothing that another client could change. */
export const NOTHING_FOREIGN =
  'There was nothing that another client could have changed, so the account stayed as it was.'

/** What another client does just before a request, as it is decided in one state of the account. */
export interface ForeignClient {
  /** A clause, such as `deleted the group Retail`. */
  words: string
  /** The account after its change; `undefined` if the service refuses it in this state. */
  change(account: AccountState): AccountState | undefined
}

/**
 * The other client whose change comes just before this request; `undefined` if there is nothing that it could change.
 * The judge decides, so it does nothing that the service would refuse.
 */
export function foreignClientBefore(
  change: ForeignChange,
  request: ConformingRequest,
  found: AccountState,
  contract: ServiceContract,
  now: number,
): ForeignClient | undefined {
  const plan: Plan = PLANS[change]
  const planned = plan(request, found, contract)
  if (planned === undefined) return undefined
  const client: ForeignClient = {
    words: planned.words,
    change(account) {
      let state: AccountState | undefined = account
      for (const { operation: name, id, body } of planned.requests) {
        const operation = operationOf(contract, name)
        if (state === undefined || operation === undefined) return undefined
        const query = id === undefined ? {} : { id }
        const received = { operation, query, body: body && { ok: true as const, value: body } }
        const judgement = judge(received, state, contract, now)
        state = judgement.ok ? judgement.state : undefined
      }
      return state
    },
  }
  return client.change(found) === undefined ? undefined : client
}
