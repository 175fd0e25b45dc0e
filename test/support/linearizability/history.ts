import type { AccountCall, AccountOutcome } from './account-model.ts'
import type { Operation } from './checker.ts'
import type { QuotaCall, QuotaOutcome } from './quota-model.ts'

/** A request of a concurrent run and what came of it. Times are milliseconds since the run began. */
export interface Exchange {
  account: string
  client: number
  /** Which replica was asked. */
  replica: number
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

/** The path segment whose quota counts the call. */
function bucketOf(call: AccountCall): 'domains' | 'domaingroups' {
  return call.do.endsWith('domains') ? 'domains' : 'domaingroups'
}

/** Whether the client knows what came of it: not without a response, and not with a 5xx. */
export function isKnown({ status }: Exchange): boolean {
  return status !== undefined && status < 500
}

/** What happened to domains and groups; requests over the quota, and looks that nobody saw, did not happen. */
export function accountHistory(exchanges: readonly Exchange[]): Operation<AccountCall, AccountOutcome>[] {
  return exchanges.flatMap((exchange): Operation<AccountCall, AccountOutcome>[] => {
    const { call, invoked, status, told } = exchange
    if (status === 429) return []
    if (isKnown(exchange))
      return [{ call, invoked, returned: exchange.returned as number, outcome: outcomeOf(call, told) }]
    return changesNothing(call) ? [] : [{ call, invoked, returned: Number.POSITIVE_INFINITY, outcome: undefined }]
  })
}

// biome-ignore lint/suspicious/noExplicitAny: as above
function outcomeOf(call: AccountCall, told: any): AccountOutcome {
  if (told.code !== undefined) return { refused: told.code }
  switch (call.do) {
    case 'list domains':
    case 'add domains':
    case 'delete domains':
      return { domains: told.domains }
    case 'list groups':
      return { groups: told.groups }
    case 'delete group':
      return { done: true }
    default:
      return { group: told.group }
  }
}

function changesNothing(call: AccountCall): boolean {
  return /^(list|read) /.test(call.do)
}

/** What each window of the quota of a path has counted. One whose response was lost may have been counted in each. */
export function quotaHistories(
  exchanges: readonly Exchange[],
): Map<string, readonly Operation<QuotaCall, QuotaOutcome>[]> {
  const histories = new Map<string, Operation<QuotaCall, QuotaOutcome>[]>()
  for (const bucket of ['domains', 'domaingroups'] as const) {
    const counted = exchanges.filter(({ call }) => bucketOf(call) === bucket)
    for (const reset of new Set(counted.flatMap(({ quota }) => quota?.reset ?? []))) {
      const limit = counted.find(({ quota }) => quota?.reset === reset)?.quota?.limit ?? 0
      const operations = counted.flatMap(
        ({ quota, invoked, returned, status }): Operation<QuotaCall, QuotaOutcome>[] => {
          if (quota === undefined || returned === undefined) {
            return [{ call: { limit }, invoked, returned: Number.POSITIVE_INFINITY, outcome: undefined }]
          }
          const outcome = { remaining: quota.remaining, refused: status === 429 }
          return quota.reset === reset ? [{ call: { limit: quota.limit }, invoked, returned, outcome }] : []
        },
      )
      histories.set(`${bucket} until ${reset}`, operations)
    }
  }
  return histories
}
