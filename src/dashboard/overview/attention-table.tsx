import { Button } from '../controls/button.tsx'
import { Badge, type Tone } from '../controls/marks.tsx'
import { formatNumber } from '../formatting.ts'
import type { Overview } from '../responses.ts'
import { show } from '../selection.ts'

const SEVERITIES: Readonly<Record<Overview['attention'][number]['severity'], readonly [word: string, tone: Tone]>> = {
  high: ['High', 'bad'],
  medium: ['Medium', 'warn'],
  low: ['Low', ''],
}

/** The domains that need attention, with the worst first and with the reasons. */
export function AttentionTable({ data: { attention, attention_count, period_days } }: { data: Overview }) {
  return (
    <section class="stack" aria-labelledby="overview-attention">
      <div class="row">
        <h2 id="overview-attention">Domains that need attention</h2>
        {attention.length < attention_count && (
          <span class="soft">{`the worst ${attention.length} of ${formatNumber(attention_count)}`}</span>
        )}
      </div>
      {attention.length === 0 ? (
        <p class="card empty">None: mail passes, and where it does not, the policy protects the domain.</p>
      ) : (
        <div class="table">
          <table id="overview-rows" aria-labelledby="overview-attention">
            <thead>
              <tr>
                <th class="fit">Severity</th>
                <th class="attention-domain">Domain</th>
                <th>Why</th>
                <th class="fit number">{`Failing in ${period_days} days`}</th>
              </tr>
            </thead>
            <tbody>
              {attention.map(({ domain, severity, reason, messages }) => (
                <tr key={domain} data-domain={domain}>
                  <td class="fit">
                    <Badge tone={SEVERITIES[severity][1]}>{SEVERITIES[severity][0]}</Badge>
                  </td>
                  <td class="attention-domain">
                    <Button words={<bdi>{domain}</bdi>} kind="link" work={() => show({ tab: 'domains', domain })} />
                  </td>
                  <td class="wide">{reason}</td>
                  <td class="number fit">
                    {formatNumber(messages)}
                    <span class="only-narrow"> failing</span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}
