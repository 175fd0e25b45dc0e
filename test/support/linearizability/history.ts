import { type AccountCall, type AccountOutcome, accountModel, isLook } from './account-model.ts'
import { checkHistory, type Operation, type Specification } from './checker.ts'

/** A request of a concurrent run and what came of it. Times are milliseconds since the run began. */
export interface Exchange {
  account: string
  call: AccountCall
  invoked: number
  /** When the response was there; `undefined` where none came. */
  returned: number | undefined
  status: number | undefined
  /** The `data` of a success, or the `error` of a refusal. */
  // biome-ignore lint/suspicious/noExplicitAny: whose shape the contract has proved
  told: any
  /** The headers of the quota, where there are any. */
  quota: { limit: number; remaining: number; reset: number } | undefined
  requestId: string | undefined
}

/** Whether the client knows what came of it: not without a response, and not with a 5xx. */
export function isKnown({ status }: Exchange): boolean {
  return status !== undefined && status < 500
}

/** What is wrong with a run; nothing where it is as one server would do. `isDecided`: whether all orders were looked at. */
export function judgeRun(exchanges: readonly Exchange[]): { faults: string[]; isDecided: boolean } {
  const faults = ['requestId', 'group'].flatMap((kind) =>
    repeats(idsOf(exchanges, kind)).map((id) => `${kind} ${id} was given twice.`),
  )
  let isDecided = true
  function judge<State, Call, Outcome>(
    what: string,
    history: readonly Operation<Call, Outcome>[],
    model: Specification<State, Call, Outcome>,
  ) {
    const verdict = checkHistory(history, model)
    if (verdict.linearizable === undefined) isDecided = false
    if (verdict.linearizable !== false) return
    const blocked = verdict.blocked.map((operation) => `\n  ${JSON.stringify(operation)}`).join('')
    faults.push(
      `${what}: no order explains it. At the furthest, ${JSON.stringify(verdict.state)} is followed by none of:${blocked}`,
    )
  }
  for (const account of new Set(exchanges.map((each) => each.account))) {
    const own = exchanges.filter((each) => each.account === account)
    judge(`domains and groups of ${account}`, accountHistory(own), accountModel({ domains: [], groups: [] }))
    for (const bucket of ['domains', 'domaingroups']) {
      for (const [reset, counted] of windowsOf(own, bucket)) judge(`quota of ${bucket} until ${reset}`, counted, QUOTA)
    }
  }
  return { faults, isDecided }
}

function idsOf(exchanges: readonly Exchange[], kind: string): string[] {
  if (kind === 'requestId') return exchanges.flatMap(({ requestId }) => requestId ?? [])
  const created = exchanges.filter((each) => each.call.do === 'create group' && isKnown(each))
  return created.flatMap(({ told }) => told.group?.id ?? [])
}

function repeats(ids: readonly string[]): string[] {
  const seen = new Set<string>()
  return ids.filter((id) => seen.size === seen.add(id).size)
}

/** What happened to domains and groups; requests over the quota, and looks that nobody saw, did not happen. */
function accountHistory(exchanges: readonly Exchange[]): Operation<AccountCall, AccountOutcome>[] {
  return exchanges.flatMap((exchange): Operation<AccountCall, AccountOutcome>[] => {
    const { call, invoked, status, told, returned } = exchange
    if (status === 429) return []
    if (isKnown(exchange)) return [{ call, invoked, returned: returned ?? 0, outcome: outcomeOf(call, told) }]
    return isLook(call) ? [] : [{ call, invoked, returned: Number.POSITIVE_INFINITY, outcome: undefined }]
  })
}

function outcomeOf(call: AccountCall, told: Exchange['told']): AccountOutcome {
  if (told.code !== undefined) return { refused: told.code }
  if (call.do.endsWith('domains')) return { domains: told.domains }
  if (call.do === 'list groups') return { groups: told.groups }
  return call.do === 'delete group' ? { done: true } : { group: told.group }
}

/** What the headers of a response say is left; a request that was refused was not counted. */
type QuotaOutcome = { remaining: number; refused: boolean }

type QuotaOperation = Operation<{ limit: number }, QuotaOutcome>

/** One window of one quota: how many requests it has counted. */
const QUOTA: Specification<number, { limit: number }, QuotaOutcome> = {
  initial: 0,
  step(used, { limit }, outcome) {
    if (outcome === undefined) return [used < limit ? used + 1 : used]
    if (outcome.refused) return used >= limit && outcome.remaining === 0 ? [used] : []
    return used < limit && outcome.remaining === limit - used - 1 ? [used + 1] : []
  },
  changesNothing: (_, { refused }) => refused,
  keyOf: (used) => `${used}`,
  keyOfCall: ({ limit }) => `${limit}`,
}

/** What each window of the quota of a path has counted. One whose response was lost may have been counted in each. */
function windowsOf(exchanges: readonly Exchange[], bucket: string) {
  const counted = exchanges.filter(({ call }) => (call.do.endsWith('domains') ? 'domains' : 'domaingroups') === bucket)
  const resets = new Set(counted.flatMap(({ quota }) => quota?.reset ?? []))
  return [...resets].map((reset): [number, QuotaOperation[]] => {
    const limit = counted.find(({ quota }) => quota?.reset === reset)?.quota?.limit ?? 0
    const operations = counted.flatMap(({ quota, invoked, returned, status }): QuotaOperation[] => {
      if (quota === undefined || returned === undefined) {
        return [{ call: { limit }, invoked, returned: Number.POSITIVE_INFINITY, outcome: undefined }]
      }
      const outcome = { remaining: quota.remaining, refused: status === 429 }
      return quota.reset === reset ? [{ call: { limit: quota.limit }, invoked, returned, outcome }] : []
    })
    return [reset, operations]
  })
}
