import type { ComponentChildren } from 'preact'
import { Card } from '../controls/marks.tsx'
import { formatNumber, formatShare, roundToTenth } from '../formatting.ts'
import type { Overview, PolicyOrMissing } from '../responses.ts'
import { POLICIES } from './comparison.ts'

export function Tiles({ data }: { data: Overview }) {
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

export function nameOfPolicy(policy: PolicyOrMissing): string {
  return policy === 'missing' ? 'no record' : policy
}

export function PolicyMix({ data: { policies, domains } }: { data: Overview }) {
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
