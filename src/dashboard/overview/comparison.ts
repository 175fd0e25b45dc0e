import type { Overview, PolicyOrMissing } from '../responses.ts'

export const POLICIES = ['reject', 'quarantine', 'none', 'missing'] as const satisfies readonly PolicyOrMissing[]

const NAMED = 5

/** The differences from an earlier refresh. Pairs are the values before and after. */
export function compareOverviews(before: Overview, after: Overview) {
  const pairOf = <Value>(read: (overview: Overview) => Value) => [read(before), read(after)] as const
  const [listed, now] = pairOf(({ attention }) => attention.map(({ domain }) => domain))
  return {
    dates: pairOf(({ refreshed_at }) => refreshed_at.slice(0, 10)),
    messages: pairOf(({ messages }) => messages),
    share: pairOf(({ share }) => share),
    /** The policies whose number of domains has changed. */
    policies: POLICIES.flatMap((policy) => {
      const domains = pairOf(({ policies }) => policies[policy])
      return domains[0] === domains[1] ? [] : [{ policy, domains }]
    }),
    /** The domains that newly need attention, and those that no longer need it. */
    joined: now.filter((domain) => !listed.includes(domain)),
    left: listed.filter((domain) => !now.includes(domain)),
    attention: pairOf(({ attention_count }) => attention_count),
    /** The domains on both lists with the largest changes of failing messages, with these numbers. */
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

function differenceOf([before, after]: readonly [number | null, number | null]): number {
  return Math.abs((after ?? 0) - (before ?? 0))
}

export function nameOfPolicy(policy: PolicyOrMissing): string {
  return policy === 'missing' ? 'no record' : policy
}
