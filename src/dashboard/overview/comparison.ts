import type { Overview, PolicyOrMissing } from '../responses.ts'

export const POLICIES = ['reject', 'quarantine', 'none', 'missing'] as const satisfies readonly PolicyOrMissing[]

/** What is different between two refreshes. Numbers are pairs: before and after. */
export interface Comparison {
  dates: readonly [string, string]
  messages: readonly [number, number]
  share: readonly [number | null, number | null]
  /** The policies of which the number of domains has changed. */
  policies: readonly { policy: PolicyOrMissing; domains: readonly [number, number] }[]
  /** The domains that came on the list of those that need attention, and those that left it. */
  joined: readonly string[]
  left: readonly string[]
  attention: readonly [number, number]
  /** The domains on both lists whose failing messages changed most, with these messages. */
  changed: readonly { domain: string; messages: readonly [number, number] }[]
}

/** How many domains are named whose messages have changed. */
const NAMED = 5

/** What has changed since an earlier refresh. */
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

/** The day of the refresh that an overview shows. */
function dateOf({ refreshed_at }: Overview): string {
  return refreshed_at.slice(0, 10)
}
