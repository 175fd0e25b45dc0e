import type { ComponentChildren } from 'preact'
import { addDomains } from '../domains/change.tsx'
import { formatCount, formatDay, formatInstant, formatMessages, formatNumber, formatShare } from '../formatting.ts'
import { Link } from '../place.tsx'
import type { Overview, PolicyOrMissing } from '../responses.ts'
import { overview } from '../sources.ts'
import { Button } from '../ui/button.tsx'
import { HistoryChart } from '../ui/chart.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Badge, Card, type Tone } from '../ui/marks.tsx'

export function OverviewView() {
  return (
    <Loaded of={overview.use()} what="the figures of this account">
      {(data) => (data.domains === 0 ? <NoDomains /> : <Figures data={data} />)}
    </Loaded>
  )
}

function Figures({ data }: { data: Overview }) {
  return (
    <>
      <Heading data={data} />
      <Tiles data={data} />
      <div class="halves">
        <div class="stack">
          <Card id="overview-policies" title="Policies">
            <PolicyMix data={data} />
          </Card>
          <Card
            id="overview-history"
            title={data.days.length === 1 ? 'The newest refresh' : `The last ${data.days.length} refreshes`}
          >
            <History data={data} />
          </Card>
        </div>
        <section class="stack" aria-labelledby="overview-attention">
          <h2 id="overview-attention">Domains that need attention</h2>
          <AttentionList data={data} />
        </section>
      </div>
    </>
  )
}

function Heading({ data: { refreshed_at, next_refresh_at } }: { data: Overview }) {
  return (
    <div class="row overview-head">
      <h2>Refresh of {formatDay(refreshed_at.slice(0, 10))}</h2>
      {next_refresh_at !== null && <span class="soft">The next one is at {formatInstant(next_refresh_at)}.</span>}
    </div>
  )
}

function NoDomains() {
  return (
    <div class="card empty stack">
      <h2>No figures yet</h2>
      <p>This account has no domains. Figures begin at the first daily refresh after a domain is added.</p>
      <p class="row">
        <Button words="Add domains…" kind="primary" work={addDomains} />
        <Link class="button" view="requests">
          See the requests
        </Link>
      </p>
    </div>
  )
}

function Tiles({ data }: { data: Overview }) {
  const { messages, passing, share, domains, attention_count, attention, period_days, testing, days } = data
  const last = days.at(-2)
  const failing = failingOf(data)
  const lastFailing = last && failingOf(last)
  const worst = attention.filter(({ severity }) => severity === 'high').length
  return (
    <div class="tiles">
      <Tile name="Passes DMARC" figure={formatShare(share, messages)}>
        {share !== null && last !== undefined && last.share !== null ? (
          <Change value={Math.round((share - last.share) * 10) / 10} decimals={1} unit="points" good="more" />
        ) : (
          'No refresh to compare it with'
        )}
      </Tile>
      <Tile name={`Messages of ${period_days} days`} figure={formatMessages(messages)}>
        {last?.messages == null || messages === null ? (
          passing !== null && `${formatNumber(passing)} pass`
        ) : (
          <Change value={messages - last.messages} unit="" />
        )}
      </Tile>
      <Tile name="Messages that fail" figure={formatMessages(failing)}>
        {lastFailing == null || failing === null ? (
          'No refresh to compare it with'
        ) : (
          <Change value={failing - lastFailing} unit="" good="less" />
        )}
      </Tile>
      <Tile name="Domains that need attention" figure={formatNumber(attention_count)}>
        {[
          worst > 0 && attention_count <= attention.length && `${worst} of high severity`,
          `of ${formatNumber(domains)} monitored`,
          testing > 0 && `${formatNumber(testing)} with a policy in test mode`,
        ]
          .filter(Boolean)
          .join(', ')}
      </Tile>
    </div>
  )
}

function failingOf({ messages, passing }: Pick<Overview, 'messages' | 'passing'>): number | null {
  return messages === null || passing === null ? null : messages - passing
}

function Tile({ name, figure, children }: { name: string; figure: ComponentChildren; children: ComponentChildren }) {
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

const POLICIES = ['reject', 'quarantine', 'none', 'missing'] as const satisfies readonly PolicyOrMissing[]

function nameOfPolicy(policy: PolicyOrMissing): string {
  return policy === 'missing' ? 'no record' : policy
}

const SEVERITIES: Readonly<Record<Overview['attention'][number]['severity'], readonly [word: string, tone: Tone]>> = {
  high: ['High', 'bad'],
  medium: ['Medium', 'warn'],
  low: ['Low', ''],
}

/** The refreshes as a chart. */
function History({ data }: { data: Overview }) {
  const { days, days_omitted, period_days, next_refresh_at } = data
  const hasMail = days.some(({ messages }) => messages !== null && messages > 0)
  return (
    <>
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
function AttentionList({ data }: { data: Overview }) {
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
        <table class="cards attention" aria-label="Domains that need attention">
          <thead>
            <tr>
              <th class="fit">Severity</th>
              <th>Domain</th>
              <th>Why</th>
              <th class="fit number">{`In ${period_days} days`}</th>
            </tr>
          </thead>
          <tbody>
            {attention.map(({ domain, severity, reason, since, messages }) => (
              <tr key={domain} data-domain={domain}>
                <td class="fit">
                  <Badge tone={SEVERITIES[severity][1]}>{SEVERITIES[severity][0]}</Badge>
                </td>
                <td class="wide">
                  <Link view="domains" subject={domain}>
                    <bdi>{domain}</bdi>
                  </Link>
                </td>
                <td class="words">
                  {reason}
                  {since !== null && ` Since ${formatDay(since)}.`}
                </td>
                <td class="number fit">
                  {formatMessages(messages)}
                  {messages !== null && ' failing'}
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
function PolicyMix({ data: { policies, domains } }: { data: Overview }) {
  const shown = POLICIES.filter((policy) => policies[policy] > 0)
  const words = shown.map((policy) => `${formatNumber(policies[policy])} ${nameOfPolicy(policy)}`)
  return (
    <>
      <div class="policy-bar" role="img" aria-label={`Domains by policy: ${words.join(', ')}`}>
        {shown.map((policy) => (
          <span key={policy} class={`policy-${policy}`} style={{ flexGrow: policies[policy] }} />
        ))}
      </div>
      <ul class="row">
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
