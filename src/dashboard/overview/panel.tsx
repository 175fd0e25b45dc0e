import type { ComponentChildren } from 'preact'
import { overview } from '../account-data.ts'
import { go } from '../address.ts'
import { Amount } from '../controls/amount.tsx'
import { Button } from '../controls/button.tsx'
import { Old, Waiting } from '../controls/loaded.tsx'
import { Card } from '../controls/marks.tsx'
import { ErrorText } from '../controls/notices.tsx'
import { formatDay, formatInstant, formatNumber, formatShare, roundToTenth } from '../formatting.ts'
import type { Overview } from '../responses.ts'
import { AttentionList, History, PolicyMix } from './parts.tsx'

export function OverviewPanel() {
  const data = overview.data.value
  const failure = overview.failure.value
  if (data === undefined) return failure === undefined ? <Skeleton /> : <Failure error={failure} />
  if (data.domains === 0) return <NoDomains />
  return (
    <>
      <Old of={overview} says="These figures are not the newest." />
      <Heading data={data} />
      <Tiles data={data} />
      <div class="overview-body">
        <div class="stack">
          <Card id="overview-policies" title="Policies">
            <PolicyMix data={data} />
          </Card>
          <Card
            id="overview-history"
            title={data.days.length === 1 ? 'The newest refresh' : `The last ${data.days.length} refreshes`}
          >
            <History data={data} label="DMARC of all domains" />
          </Card>
        </div>
        <section class="stack" aria-labelledby="overview-attention">
          <h2 id="overview-attention">Domains that need attention</h2>
          <AttentionList data={data} label="Domains that need attention" />
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

function Tiles({ data }: { data: Overview }) {
  const { messages, passing, share, domains, attention_count, attention, period_days, testing, days } = data
  const last = days.at(-2)
  const failing = failingOf(data)
  const lastFailing = last && failingOf(last)
  const worst = attention.filter(({ severity }) => severity === 'high').length
  return (
    <div class="tiles" id="overview-tiles">
      <Tile name="Passes DMARC" figure={formatShare(share, messages)}>
        {share !== null && last !== undefined && last.share !== null ? (
          <Change value={roundToTenth(share - last.share)} decimals={1} unit="points" good="more" />
        ) : (
          'No refresh to compare it with'
        )}
      </Tile>
      <Tile name={`Messages of ${period_days} days`} figure={<Amount count={messages} />}>
        {last?.messages == null || messages === null ? (
          passing !== null && `${formatNumber(passing)} pass`
        ) : (
          <Change value={messages - last.messages} unit="" />
        )}
      </Tile>
      <Tile name="Messages that fail" figure={<Amount count={failing} />}>
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
