import type { ComponentChildren } from 'preact'
import { call } from './control.ts'
import { createSource } from './data.ts'
import { addDomains } from './domain-changes.tsx'
import { formatDay, formatInstant, formatMessages, formatNumber, formatShare, NO_REPORTS } from './formatting.ts'
import { Link } from './place.tsx'
import type { Schemas } from './responses.ts'
import { HistoryChart } from './ui/chart.tsx'
import { Badge, Button, Card } from './ui/elements.tsx'
import { Loaded } from './ui/loaded.tsx'

type Overview = Schemas['Overview']

const DAYS = 90

const overview = createSource((account) => call('getOverview', { parameters: { account }, query: { days: DAYS } }))

export function OverviewView() {
  return (
    <Loaded of={overview.use()} what="the figures of this account">
      {(data) => (data.domains === 0 ? <NoDomains /> : <Figures data={data} />)}
    </Loaded>
  )
}

function Figures({ data }: { data: Overview }) {
  const { refreshed_at, next_refresh_at, days } = data
  return (
    <>
      <div class="row">
        <h2>Refresh of {formatDay(refreshed_at.slice(0, 10))}</h2>
        {next_refresh_at !== null && <span class="soft">The next one is at {formatInstant(next_refresh_at)}.</span>}
      </div>
      <Tiles data={data} />
      <div class="halves">
        <div class="stack">
          <Card title="Policies">
            <PolicyMix data={data} />
          </Card>
          <Card title={days.length === 1 ? 'The newest refresh' : `The last ${days.length} refreshes`}>
            <History data={data} />
          </Card>
        </div>
        <Card title="Domains that need attention" class="">
          <Attention data={data} />
        </Card>
      </div>
    </>
  )
}

function NoDomains() {
  return (
    <Card title="No figures yet">
      <p>This account has no domains. Figures begin at the first daily refresh after a domain is added.</p>
      <div class="row">
        <Button words="Add domains…" kind="primary" work={addDomains} />
        <Link class="button" view="requests">
          See the requests
        </Link>
      </div>
    </Card>
  )
}

function Tiles({ data }: { data: Overview }) {
  const { messages, share, domains, attention_count, period_days, testing, days } = data
  const last = days.at(-2)
  const failing = failingOf(data)
  const lastFailing = last === undefined ? null : failingOf(last)
  return (
    <div class="tiles">
      <Tile name="Passes DMARC" figure={formatShare(share, messages)}>
        <Change now={share} before={last?.share} unit="points" good="more" />
      </Tile>
      <Tile name={`Messages of ${period_days} days`} figure={formatMessages(messages)}>
        <Change now={messages} before={last?.messages} />
      </Tile>
      <Tile name="Messages that fail" figure={formatMessages(failing)}>
        <Change now={failing} before={lastFailing} good="less" />
      </Tile>
      <Tile name="Domains that need attention" figure={formatNumber(attention_count)}>
        of {formatNumber(domains)} monitored
        {testing > 0 && `, ${formatNumber(testing)} with a policy in test mode`}
      </Tile>
    </div>
  )
}

function failingOf({ messages, passing }: Pick<Overview, 'messages' | 'passing'>): number | null {
  return messages === null || passing === null ? null : messages - passing
}

function Tile({ name, figure, children }: { name: string; figure: string; children: ComponentChildren }) {
  return (
    <div class="card">
      <h3>{name}</h3>
      <p class="figure">{figure}</p>
      <p class="soft">{children}</p>
    </div>
  )
}

interface ChangeProps {
  now: number | null
  before: number | null | undefined
  unit?: string
  /** The direction of a good change, if there is one. */
  good?: 'more' | 'less'
}

/** The change since the previous refresh. An arrow makes it readable without the colour. */
function Change({ now, before, unit = '', good }: ChangeProps) {
  if (now === null || before === null || before === undefined) return <>No refresh to compare it with</>
  const change = Math.round((now - before) * 10) / 10
  if (change === 0) return <>The same as at the refresh before</>
  const direction = change > 0 ? 'more' : 'less'
  const tone = good === undefined ? '' : good === direction ? 'is-good' : 'is-bad'
  const size = formatNumber(Math.abs(change), unit === '' ? 0 : 1)
  return (
    <>
      <b class={tone}>
        <span aria-hidden="true">{change > 0 ? '▲ ' : '▼ '}</span>
        {[size, unit, direction === 'less' && unit === '' ? 'fewer' : direction].filter(Boolean).join(' ')}
      </b>{' '}
      than at the refresh before
    </>
  )
}

const POLICIES = ['reject', 'quarantine', 'none', 'missing'] as const

/** How many domains have each policy, as a bar and in words. */
function PolicyMix({ data: { policies, domains } }: { data: Overview }) {
  const words = POLICIES.map((policy) => [policy, policy === 'missing' ? 'no record' : policy] as const)
  const label = words.map(([policy, word]) => `${formatNumber(policies[policy])} ${word}`).join(', ')
  return (
    <>
      <div class="policies" role="img" aria-label={`Domains by policy: ${label}`}>
        {POLICIES.map(
          (policy) =>
            policies[policy] > 0 && <span key={policy} class={policy} style={{ flexGrow: policies[policy] }} />,
        )}
      </div>
      <ul class="row">
        {words.map(([policy, word]) => (
          <li key={policy}>
            <span class={`swatch ${policy}`} /> {word} <b>{formatNumber(policies[policy])}</b>{' '}
            <span class="soft">{`${Math.round((policies[policy] / Math.max(1, domains)) * 100)} %`}</span>
          </li>
        ))}
      </ul>
    </>
  )
}

function History({ data: { days, messages } }: { data: Overview }) {
  if (!days.some((day) => day.messages !== null && day.messages > 0))
    return (
      <p class="empty">
        {messages === null ? 'There are no reports yet.' : 'Receivers reported no mail yet.'} A domain has figures from
        the first refresh after its addition, if it has a DMARC record.
      </p>
    )
  return (
    <HistoryChart
      label="DMARC of all domains"
      dates={days.map(({ date }) => date)}
      messages={days.map((day) => day.messages)}
      shares={[{ name: 'Passes DMARC', values: days.map(({ share }) => share) }]}
    />
  )
}

const SEVERITIES = { high: ['High', 'bad'], medium: ['Medium', 'warn'], low: ['Low', ''] } as const

/** The domains that need attention, the worst first, with words for each severity. */
function Attention({ data: { attention, attention_count } }: { data: Overview }) {
  if (attention.length === 0)
    return <p class="card empty">None: each domain has a DMARC record, and nearly all mail passes.</p>
  return (
    <>
      {attention.length < attention_count && (
        <p class="soft">{`The worst ${attention.length} of ${formatNumber(attention_count)} are listed.`}</p>
      )}
      <ul class="table ruled attention" aria-label="Domains that need attention">
        {attention.map(({ domain, severity, reason, since, messages }) => (
          <li key={domain}>
            <div class="row">
              <Badge tone={SEVERITIES[severity][1]}>{SEVERITIES[severity][0]}</Badge>
              <Link class="grow" view="domains" subject={domain}>
                <b>{domain}</b>
              </Link>
              {messages === null ? NO_REPORTS : `${formatNumber(messages)} failing`}
            </div>
            {reason}
            {since !== null && ` Since ${formatDay(since)}.`}
          </li>
        ))}
      </ul>
      <p class="soft">
        High: much mail of the domain is lost, or forged mail reaches people. Medium: some of its mail is lost, or much
        of it fails. Low: receivers stop forged mail, or know of no policy.
      </p>
    </>
  )
}
