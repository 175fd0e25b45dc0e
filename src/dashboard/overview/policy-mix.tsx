import { formatNumber } from '../formatting.ts'
import type { Overview, PolicyOrMissing } from '../responses.ts'
import { POLICIES } from './comparison.ts'

const WORDS: Readonly<Record<PolicyOrMissing, string>> = {
  reject: 'reject',
  quarantine: 'quarantine',
  none: 'none',
  missing: 'no record',
}

/** The number of domains with each policy, as one bar. */
export function PolicyMix({ data: { policies, domains } }: { data: Overview }) {
  const shown = POLICIES.filter((policy) => policies[policy] > 0)
  const words = shown.map((policy) => `${formatNumber(policies[policy])} ${WORDS[policy]}`)
  return (
    <section class="card stack" aria-labelledby="overview-policies">
      <h2 id="overview-policies">Policies</h2>
      <div class="policy-bar" role="img" aria-label={`Domains by policy: ${words.join(', ')}`}>
        {shown.map((policy) => (
          <span key={policy} class={`policy-${policy}`} style={{ flexGrow: policies[policy] }} />
        ))}
      </div>
      <ul class="policy-legend" id="overview-policy-legend">
        {POLICIES.map((policy) => (
          <li key={policy}>
            <span class={`policy-swatch policy-${policy}`} aria-hidden="true" />
            {WORDS[policy]} <b>{formatNumber(policies[policy])}</b>{' '}
            <span class="soft">{`${Math.round((policies[policy] / Math.max(1, domains)) * 100)} %`}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

export function nameOfPolicy(policy: PolicyOrMissing): string {
  return WORDS[policy]
}
