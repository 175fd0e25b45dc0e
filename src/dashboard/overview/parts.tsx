import { HistoryChart } from '../charts/history-chart.tsx'
import { Amount } from '../controls/amount.tsx'
import { Link } from '../controls/link.tsx'
import { Badge, type Tone } from '../controls/marks.tsx'
import { formatCount, formatDay, formatInstant, formatNumber, NO_REPORTS } from '../formatting.ts'
import type { Overview, PolicyOrMissing } from '../responses.ts'

const POLICIES = ['reject', 'quarantine', 'none', 'missing'] as const satisfies readonly PolicyOrMissing[]

function nameOfPolicy(policy: PolicyOrMissing): string {
  return policy === 'missing' ? 'no record' : policy
}

// The parts of an overview, which is that of an account or of a group.

const SEVERITIES: Readonly<Record<Overview['attention'][number]['severity'], readonly [word: string, tone: Tone]>> = {
  high: ['High', 'bad'],
  medium: ['Medium', 'warn'],
  low: ['Low', ''],
}

/** The refreshes as a chart. */
export function History({ data, label }: { data: Overview; label: string }) {
  const { days, days_omitted, period_days, next_refresh_at } = data
  const hasMail = days.some(({ messages }) => messages !== null && messages > 0)
  return (
    <>
      {hasMail ? (
        <HistoryChart
          label={label}
          unit={`Messages of ${period_days} days`}
          dates={days.map(({ date }) => date)}
          messages={days.map(({ messages }) => messages)}
          shares={[{ name: 'Passes DMARC', values: days.map(({ share }) => share) }]}
        />
      ) : (
        <p class="empty">
          {data.messages === null ? 'There are no reports yet.' : 'Receivers reported no mail yet.'} A domain has
          figures from the first refresh after its addition, if it has a DMARC record
          {next_refresh_at === null ? '.' : `; the next refresh is at ${formatInstant(next_refresh_at)}.`}
        </p>
      )}
      {days_omitted > 0 && (
        <p class="soft">
          {`${formatCount(days_omitted, 'earlier day')} ${days_omitted === 1 ? 'is' : 'are'} left out, because `}
          {data.domains > 2_000 ? 'the account has many domains.' : 'the calendar of the service begins in 1970.'}
        </p>
      )}
    </>
  )
}

/** The domains that need attention, the worst first, with words for each severity. */
export function AttentionList({ data, label }: { data: Overview; label: string }) {
  const { attention, attention_count, period_days } = data
  if (attention.length === 0) {
    return <p class="card empty">None: each domain has a DMARC record, and nearly all mail passes.</p>
  }
  return (
    <>
      {attention.length < attention_count && (
        <p class="soft">{`The worst ${attention.length} of ${formatNumber(attention_count)} are listed.`}</p>
      )}
      <div class="table">
        <table id="overview-rows" aria-label={label}>
          <thead>
            <tr>
              <th class="fit">Severity</th>
              <th class="attention-domain">Domain</th>
              <th>Why</th>
              <th class="fit number">{`Failing in ${period_days} days`}</th>
            </tr>
          </thead>
          <tbody>
            {attention.map(({ domain, severity, reason, since, messages }) => (
              <tr key={domain} data-domain={domain}>
                <td class="fit">
                  <Badge tone={SEVERITIES[severity][1]}>{SEVERITIES[severity][0]}</Badge>
                </td>
                <td class="attention-domain">
                  <Link to={{ tab: 'domains', subject: domain }}>
                    <bdi>{domain}</bdi>
                  </Link>
                </td>
                <td class="wide">
                  {reason}
                  {since !== null && ` Since ${formatDay(since)}.`}
                </td>
                <td class="number fit">
                  {messages === null ? NO_REPORTS : <Amount count={messages} />}
                  {messages !== null && <span class="only-narrow"> failing</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="soft">
        High: much mail of the domain is lost, or forged mail reaches people. Medium: some of its mail is lost, or much
        of it fails. Low: receivers stop forged mail, or know of no policy.
      </p>
    </>
  )
}

/** How many domains have each policy, as a bar and in words. */
export function PolicyMix({ data: { policies, domains } }: { data: Overview }) {
  const shown = POLICIES.filter((policy) => policies[policy] > 0)
  const words = shown.map((policy) => `${formatNumber(policies[policy])} ${nameOfPolicy(policy)}`)
  return (
    <>
      <div class="policy-bar" role="img" aria-label={`Domains by policy: ${words.join(', ')}`}>
        {shown.map((policy) => (
          <span key={policy} class={`policy-${policy}`} style={{ flexGrow: policies[policy] }} />
        ))}
      </div>
      <ul class="policy-legend" id="overview-policy-legend">
        {POLICIES.map((policy) => (
          <li key={policy}>
            <span class={`policy-swatch policy-${policy}`} aria-hidden="true" />
            {nameOfPolicy(policy)} <b>{formatNumber(policies[policy])}</b>{' '}
            <span class="soft">{`${Math.round((policies[policy] / Math.max(1, domains)) * 100)} %`}</span>
          </li>
        ))}
      </ul>
    </>
  )
}
