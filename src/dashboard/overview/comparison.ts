import { effect, signal } from '@preact/signals'
import type { Overview, PolicyOrMissing } from '../responses.ts'
import { chosenAccount } from '../selection.ts'
import { overview } from './overview.ts'

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
}

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
  }
}

/** The day of the refresh that an overview shows. */
function dateOf({ refreshed_at }: Overview): string {
  return refreshed_at.slice(0, 10)
}

/** The overview with which the present one is compared; `undefined` while there is nothing to compare. */
export const before = signal<Overview | undefined>(undefined)

/** Ends the comparison. The next refresh begins another one. */
export function closeComparison(): void {
  before.value = undefined
}

/**
 * Begins a comparison when the clock of the chosen account has passed a refresh, whoever has moved it. It goes on until
 * somebody closes it, so that several refreshes are compared as a whole. An account that was set back has no past.
 */
export function followRefreshes(): void {
  let account: string | undefined
  let shown: Overview | undefined
  effect(() => {
    const chosen = chosenAccount.value
    const present = overview.data.value
    if (chosen !== account) {
      account = chosen
      shown = undefined
      before.value = undefined
    }
    if (present === undefined) return
    const [first, last] = [before.peek() ?? shown, shown].map((each) => each && Date.parse(each.refreshed_at))
    const now = Date.parse(present.refreshed_at)
    if (last !== undefined && now > last) before.value = before.peek() ?? shown
    else if (first !== undefined && now <= first && before.peek() !== undefined) before.value = undefined
    shown = present
  })
}
