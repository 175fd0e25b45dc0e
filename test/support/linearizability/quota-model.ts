import type { Specification } from './checker.ts'

/** One window of one quota: how many requests it has counted. */
export interface QuotaCall {
  limit: number
}

/** What the headers of a response say is left; a request that was refused was not counted. */
export type QuotaOutcome = { remaining: number; refused: boolean }

export const QUOTA_MODEL: Specification<number, QuotaCall, QuotaOutcome> = {
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
