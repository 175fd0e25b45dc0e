import type { ComponentChildren } from 'preact'
import { overview } from '../account-data.ts'
import { chosenAccount, go } from '../address.ts'
import { HistoryChart } from '../charts/history-chart.tsx'
import { Button } from '../controls/button.tsx'
import { Link } from '../controls/link.tsx'
import { Old, Waiting } from '../controls/loaded.tsx'
import { Badge, Card, type Tone } from '../controls/marks.tsx'
import { ErrorText } from '../controls/notices.tsx'
import { formatCount, formatDay, formatInstant, formatNumber, formatShare, roundToTenth } from '../formatting.ts'
import type { Overview } from '../responses.ts'
import { BeforeAndAfter } from './before-and-after.tsx'
import { nameOfPolicy, POLICIES } from './comparison.ts'

const SEVERITIES: Readonly<Record<Overview['attention'][number]['severity'], readonly [word: string, tone: Tone]>> = {
  high: ['High', 'bad'],
  medium: ['Medium', 'warn'],
  low: ['Low', ''],
}

export function OverviewPanel() {
  const data = overview.data.value
  const failure = overview.failure.value
  if (data === undefined) return failure === undefined ? <Skeleton /> : <Failure error={failure} />
  if (data.domains === 0) return <NoDomains />
  return (
    <>
      <Old of={overview} says="These figures are not the newest." />
      <Heading data={data} />
      <BeforeAndAfter now={data} />
      <Tiles data={data} />
      <div class="overview-body">
        <div class="stack">
          <PolicyMix data={data} />
          <History data={data} />
        </div>
        <AttentionTable data={data} />
      </div>
    </>
  )
}

function Heading({ data: { refreshed_at, next_refresh_at } }: { data: Overview }) {
  return (
    <div class="row overview-head">
      <h2>Refresh of {formatDay(refreshed_at.slice(0, 10))}</h2>
      <span class="print-only">Account {chosenAccount}</span>
      {next_refresh_at !== null && <span class="soft">The next one is at {formatInstant(next_refresh_at)}.</span>}
      <span class="grow" />
      <span class="no-print">
        <Button words="Print" small work={() => print()} />
      </span>
    </div>
  )
}

function History({ data }: { data: Overview }) {
  const { days, days_omitted, period_days, next_refresh_at } = data
  const hasMail = days.some(({ messages }) => messages > 0)
  return (
    <Card id="overview-history" title={days.length === 1 ? 'The newest refresh' : `The last ${days.length} refreshes`}>
      {hasMail ? (
        <HistoryChart
          label="DMARC of all domains"
          unit={`Messages of ${period_days} days`}
          dates={days.map(({ date }) => date)}
          messages={days.map(({ messages }) => messages)}
          shares={[{ name: 'Passes DMARC', values: days.map(({ share }) => share) }]}
        />
      ) : (
        <p class="empty">
          No mail was counted yet. A domain has figures from the first refresh after its addition
          {next_refresh_at === null ? '.' : `; the next refresh is at ${formatInstant(next_refresh_at)}.`}
        </p>
      )}
      {days_omitted > 0 && (
        <p class="soft">
          {`${formatCount(days_omitted, 'earlier day')} ${days_omitted === 1 ? 'is' : 'are'} left out, because `}
          {data.domains > 10_000 ? 'the account has many domains.' : 'the calendar of the service begins in 1970.'}
        </p>
      )}
    </Card>
  )
}

function NoDomains() {
  return (
    <div class="card empty stack">
      <h2>No figures yet</h2>
      <p>This account has no domains. Figures begin at the first daily refresh after a domain is added.</p>
      <p class="row centred">
        <Button words="Add domains" kind="primary" work={() => go({ tab: 'domains' })} />
        <Button words="See the requests" work={() => go({ tab: 'requests' })} />
      </p>
    </div>
  )
}

function Failure({ error }: { error: unknown }) {
  return (
    <div class="card empty stack">
      <h2>The figures could not be loaded</h2>
      <p role="alert">
        <ErrorText error={error} />
      </p>
      <p class="row centred">
        <Button words="Try again" work={() => overview.refresh()} />
      </p>
    </div>
  )
}

/** A placeholder with the final size, so that the layout does not jump. */
function Skeleton() {
  return (
    <Waiting what="the figures of this account">
      <div class="stack overview-loading" role="status" aria-label="The figures are being loaded">
        {['head', 'tiles', 'policies', 'chart', 'table'].map((part) => (
          <div key={part} class={`card skeleton ${part}`} />
        ))}
      </div>
    </Waiting>
  )
}

function AttentionTable({ data: { attention, attention_count, period_days } }: { data: Overview }) {
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
                    <Link to={{ tab: 'domains', subject: domain }}>
                      <bdi>{domain}</bdi>
                    </Link>
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

function Tiles({ data }: { data: Overview }) {
  const { messages, passing, share, domains, attention_count, attention, period_days, testing, days } = data
  const last = days.at(-2)
  const worst = attention.filter(({ severity }) => severity === 'high').length
  return (
    <div class="tiles" id="overview-tiles">
      <Tile name="Passes DMARC" figure={formatShare(share)}>
        {share !== null && last !== undefined && last.share !== null ? (
          <Change value={roundToTenth(share - last.share)} decimals={1} unit="points" good="more" />
        ) : (
          'No refresh to compare it with'
        )}
      </Tile>
      <Tile name={`Messages of ${period_days} days`} figure={formatNumber(messages)}>
        {last === undefined ? `${formatNumber(passing)} pass` : <Change value={messages - last.messages} unit="" />}
      </Tile>
      <Tile name="Messages that fail" figure={formatNumber(messages - passing)}>
        {last === undefined ? (
          'No refresh to compare it with'
        ) : (
          <Change value={messages - passing - (last.messages - last.passing)} unit="" good="less" />
        )}
      </Tile>
      <Tile name="Domains that need attention" figure={formatNumber(attention_count)}>
        {[
          worst > 0 && attention_count <= attention.length && `${worst} urgent`,
          `of ${formatNumber(domains)} monitored`,
          testing > 0 && `${formatNumber(testing)} with a policy in test mode`,
        ]
          .filter(Boolean)
          .join(', ')}
      </Tile>
    </div>
  )
}

function Tile({ name, figure, children }: { name: string; figure: string; children: ComponentChildren }) {
  return (
    <div class="card tile">
      <h3>{name}</h3>
      <p class="figure">{figure}</p>
      <p class="soft">{children}</p>
    </div>
  )
}

interface ChangeProps {
  value: number
  unit: string
  decimals?: number
  /** The direction of a good change, if there is one. */
  good?: 'more' | 'less'
}

/** The change since the previous refresh. An arrow makes it readable without the colour. */
function Change({ value, unit, decimals = 0, good }: ChangeProps) {
  if (value === 0) return <>The same as at the refresh before</>
  const isGood = good === undefined ? undefined : value > 0 === (good === 'more')
  const tone = isGood === undefined ? '' : isGood ? 'is-good' : 'is-bad'
  return (
    <>
      <span class={`change ${tone}`}>
        <span aria-hidden="true">{value > 0 ? '▲ ' : '▼ '}</span>
        {`${formatNumber(Math.abs(value), decimals)}${unit && ` ${unit}`} ${value > 0 ? 'more' : unit === '' ? 'fewer' : 'less'}`}
      </span>
      {' than at the refresh before'}
    </>
  )
}

function PolicyMix({ data: { policies, domains } }: { data: Overview }) {
  const shown = POLICIES.filter((policy) => policies[policy] > 0)
  const words = shown.map((policy) => `${formatNumber(policies[policy])} ${nameOfPolicy(policy)}`)
  return (
    <Card id="overview-policies" title="Policies">
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
    </Card>
  )
}
