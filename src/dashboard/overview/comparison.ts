import type { Overview, PolicyOrMissing } from '../responses.ts'

export const POLICIES = ['reject', 'quarantine', 'none', 'missing'] as const satisfies readonly PolicyOrMissing[]

/** The differences between two refreshes. Pairs are the values before and after. */
export interface Comparison {
  dates: readonly [string, string]
  messages: readonly [number, number]
  share: readonly [number | null, number | null]
  /** The policies whose number of domains has changed. */
  policies: readonly { policy: PolicyOrMissing; domains: readonly [number, number] }[]
  /** The domains that newly need attention, and those that no longer need it. */
  joined: readonly string[]
  left: readonly string[]
  attention: readonly [number, number]
  /** The domains on both lists with the largest changes of failing messages, with these numbers. */
  changed: readonly { domain: string; messages: readonly [number, number] }[]
}

/** How many domains with changed messages are named. */
const NAMED = 5

/** The differences from an earlier refresh. */
export function compareOverviews(before: Overview, after: Overview): Comparison {
  const [listed, now] = [before, after].map(({ attention }) => attention.map(({ domain }) => domain))
  return {
    dates: [dateOf(before), dateOf(after)],
    messages: [before.messages, after.messages],
    share: [before.share, after.share],
    policies: POLICIES.flatMap((policy) => {
      const domains = [before.policies[policy], after.policies[policy]] as const
      return domains[0] === domains[1] ? [] : [{ policy, domains }]
    }),
    joined: (now ?? []).filter((domain) => !listed?.includes(domain)),
    left: (listed ?? []).filter((domain) => !now?.includes(domain)),
    attention: [before.attention_count, after.attention_count],
    changed: after.attention
      .flatMap(({ domain, messages }) => {
        const old = before.attention.find((each) => each.domain === domain)
        return old === undefined ? [] : [{ domain, messages: [old.messages, messages] as const }]
      })
      .filter(({ messages: [one, other] }) => one !== other)
      .toSorted((one, other) => differenceOf(other.messages) - differenceOf(one.messages))
      .slice(0, NAMED),
  }
}

function differenceOf([before, after]: readonly [number, number]): number {
  return Math.abs(after - before)
}

function dateOf({ refreshed_at }: Overview): string {
  return refreshed_at.slice(0, 10)
}
