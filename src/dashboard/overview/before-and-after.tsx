import { effect, signal } from '@preact/signals'
import { overview } from '../account-data.ts'
import { chosenAccount } from '../address.ts'
import { Button } from '../controls/button.tsx'
import { Link } from '../controls/link.tsx'
import { formatDay, formatMessages, formatNumber, formatShare } from '../formatting.ts'
import type { Overview } from '../responses.ts'
import { compareOverviews, nameOfPolicy } from './comparison.ts'

/** The earlier overview of the comparison; `undefined` without a comparison. */
const before = signal<Overview | undefined>(undefined)

export function BeforeAndAfter({ now }: { now: Overview }) {
  const past = before.value
  // A screen reader announces the text only if the region exists before the text.
  return (
    <div role="status" class="before-after">
      {past !== undefined && <Changes past={past} now={now} />}
    </div>
  )
}

function Changes({ past, now }: { past: Overview; now: Overview }) {
  const { dates, messages, share, policies, joined, left, attention, changed } = compareOverviews(past, now)
  const rows: (readonly [string, string, string])[] = [
    ['Passes DMARC', formatShare(share[0], messages[0]), formatShare(share[1], messages[1])],
    [`Messages of ${now.period_days} days`, formatMessages(messages[0]), formatMessages(messages[1])],
    ...policies.map(
      ({ policy, domains: [one, other] }) =>
        [`Domains with ${nameOfPolicy(policy)}`, formatNumber(one), formatNumber(other)] as const,
    ),
    ['Domains that need attention', formatNumber(attention[0]), formatNumber(attention[1])],
  ]
  return (
    <section class="card stack" id="before-after" aria-label="Before and after">
      <div class="row">
        <h2 class="grow">Before and after</h2>
        <span class="no-print">
          <Button words="Close" small work={() => (before.value = undefined)} />
        </span>
      </div>
      <div class="comparison">
        <table>
          <thead>
            <tr>
              <th>
                <span class="unseen">Figure</span>
              </th>
              <th class="number">{formatDay(dates[0])}</th>
              <th class="number">{formatDay(dates[1])}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, one, other]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td class="number">{one}</td>
                <td class={`number ${one === other ? '' : 'changed'}`}>
                  <span class="only-narrow" aria-hidden="true">
                    {'→ '}
                  </span>
                  {other}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        <div class="stack">
          <Names title="New among those that need attention" domains={joined.map((domain) => ({ domain }))} />
          <Names title="No longer among them" domains={left.map((domain) => ({ domain }))} />
          <Names
            title="Failing messages that changed most"
            domains={changed.map(({ domain, messages: [one, other] }) => {
              return { domain, text: `${formatMessages(one)} → ${formatMessages(other)}` }
            })}
          />
        </div>
      </div>
    </section>
  )
}

function Names({ title, domains }: { title: string; domains: readonly { domain: string; text?: string }[] }) {
  if (domains.length === 0) return null
  return (
    <div>
      <h3>{title}</h3>
      <ul class="names">
        {domains.map(({ domain, text }) => (
          <li key={domain} data-domain={domain}>
            <Link to={{ tab: 'domains', subject: domain }}>
              <bdi>{domain}</bdi>
            </Link>
            {text !== undefined && <span class="number">{text}</span>}
          </li>
        ))}
      </ul>
    </div>
  )
}

/**
 * Begins a comparison when the clock of the chosen account passes a refresh, whichever client moved it. It continues
 * until the user closes it, so it can cover several refreshes. It ends if the account is set back.
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
