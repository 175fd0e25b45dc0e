// biome-ignore-all lint/a11y/useSemanticElements: a table with a few of its rows, each at a place of its own, is no layout of <table>.
// biome-ignore-all lint/a11y/useFocusableInteractive: the buttons in the cells take the focus.
// biome-ignore-all lint/a11y/useKeyWithClickEvents: a click anywhere in a row is a shorter way to its button.
import { signal } from '@preact/signals'
import { groupsByDomain } from '../account-data.ts'
import { Sparkline } from '../charts/sparkline.tsx'
import { NameBox } from '../controls/form.tsx'
import { Badge, type Tone } from '../controls/marks.tsx'
import { formatNumber, formatShare } from '../formatting.ts'
import type { MonitoredDomain } from '../responses.ts'
import { openDomain } from './monitored.ts'
import { NO_RECORD, policyOf } from './selection.ts'
import { TREND_DAYS, trendOf } from './trends.ts'

const TONES: Readonly<Record<string, Tone>> = { reject: 'good', quarantine: 'warn', none: '', [NO_RECORD]: 'bad' }

export const selected = signal<ReadonlySet<string>>(new Set())

interface RowProps {
  domain: MonitoredDomain
  index: number
  row: number
  /** Whether the tab key reaches this row. The arrow keys reach the others. */
  isActive: boolean
  onFocus(): void
}

export function Row({ domain, index, row, isActive, onFocus }: RowProps) {
  const { domain: name, record, features } = domain
  const tabIndex = isActive ? 0 : -1
  const memberships = groupsByDomain.value.get(name) ?? []
  return (
    <div
      role="row"
      class={selected.value.has(name) ? 'selected' : ''}
      data-domain={name}
      aria-rowindex={index + 2}
      style={{ transform: `translateY(${index * row}px)` }}
      onFocusIn={onFocus}
      onClick={({ target }) => {
        const isControl = target instanceof Element && target.closest('button, label, input') !== null
        // A click that ends a text selection must not open the sheet.
        if (!isControl && getSelection()?.isCollapsed !== false) openDomain(name)
      }}
    >
      <span role="cell" class="select">
        <NameBox name={name} selected={selected} data-kind="select" tabIndex={tabIndex} />
      </span>
      <span role="cell" class="domain">
        <button
          type="button"
          class="link mono truncate"
          data-kind="open"
          tabIndex={tabIndex}
          title={name}
          aria-haspopup="dialog"
          onClick={() => openDomain(name)}
        >
          <span class="truncate">{name}</span>
        </button>
      </span>
      <span role="cell" class="policy">
        <Policy domain={domain} />
      </span>
      <span role="cell" class={`number dmarc ${record && record.count > 0 && record.dmarc < 90 ? 'low' : ''}`}>
        {shareIn(domain, 'dmarc')}
      </span>
      {(['dkim', 'spf'] as const).map((field) => (
        <span key={field} role="cell" class={`number rare ${field}`}>
          {shareIn(domain, field)}
        </span>
      ))}
      <span role="cell" class="number count">
        {record === null ? '–' : formatNumber(record.count)}
      </span>
      <span role="cell" class="trend">
        <Trend domain={domain} />
      </span>
      <span role="cell" class="late features truncate" title={features.join(', ')}>
        {features.map((feature) => (
          <Badge key={feature} tone="warn">
            <bdi>{feature}</bdi>
          </Badge>
        ))}
      </span>
      <span role="cell" class="late groups truncate" title={memberships.map((group) => group.name).join(', ')}>
        {memberships.map((group, place) => [place > 0 && ', ', <bdi key={group.id}>{group.name}</bdi>])}
      </span>
    </div>
  )
}

/** The policy in GET /dmarc. Policies for subdomains are shown only if they differ. */
export function Policy({ domain }: { domain: MonitoredDomain }) {
  const { record } = domain
  const policy = policyOf(domain)
  const { sp, np } = record ?? {}
  const others = [sp && sp !== record?.p && `sp ${sp}`, np && np !== (sp ?? record?.p) && `np ${np}`].filter(Boolean)
  return (
    <>
      <Badge tone={TONES[policy] ?? ''}>{policy}</Badge>
      {record?.testing === 'y' && (
        <Badge tone="odd" title="The record says t=y: receivers are asked not to apply the policy yet.">
          testing
        </Badge>
      )}
      {others.length > 0 && <span class="soft">{others.join(' · ')}</span>}
    </>
  )
}

function shareIn({ record }: MonitoredDomain, field: 'dmarc' | 'dkim' | 'spf'): string {
  return record === null || record.count === 0 ? '–' : formatShare(record[field])
}

function Trend({ domain }: { domain: MonitoredDomain }) {
  const values = trendOf(domain)
  if (values === undefined) return null
  const known = values.filter((value) => value !== null)
  const [oldest, newest] = [known[0], known.at(-1)]
  if (oldest === undefined || newest === undefined) return <span class="soft">no mail</span>
  const label = `DMARC from ${formatShare(oldest)} to ${formatShare(newest)} in ${TREND_DAYS} days`
  return <Sparkline values={values} label={label} />
}
