// biome-ignore-all lint/a11y/useKeyWithClickEvents: a click anywhere in a row is a shorter way to its button.
// biome-ignore-all lint/a11y/useFocusableInteractive: the buttons in the cells take the focus.
// biome-ignore-all lint/a11y/useSemanticElements: a table with a few of its rows, each at a place of its own, is no layout of <table>.

import { signal } from '@preact/signals'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { groupsByDomain } from '../account-data.ts'
import { subject } from '../address.ts'
import { Amount } from '../controls/amount.tsx'
import { Checkbox, NameBox } from '../controls/form.tsx'
import { Link } from '../controls/link.tsx'
import { useRows } from '../controls/long-list.tsx'
import { Badge, type Tone } from '../controls/marks.tsx'
import { formatShare, NO_REPORTS } from '../formatting.ts'
import type { MonitoredDomain } from '../responses.ts'
import { openDomain, order, sortBy } from './monitored.ts'
import { type Column, NO_RECORD, policyOf } from './selection.ts'

interface SortingColumn {
  by: Column
  title: string
  /** Whether the first click sorts in descending order. */
  numeric?: boolean
  class?: string
  /** What the column means, if its title does not say it. */
  about?: string
}

/** What it means that a domain is in use. */
export const IN_USE =
  'Monitoring features that use the domain, such as mta-sts (encrypted delivery). It cannot be removed.'

export const COLUMNS: readonly SortingColumn[] = [
  { by: 'domain', title: 'Domain' },
  { by: 'policy', title: 'Policy' },
  { by: 'dmarc', title: 'DMARC', numeric: true, class: 'number' },
  { by: 'dkim', title: 'DKIM', numeric: true, class: 'number rare' },
  { by: 'spf', title: 'SPF', numeric: true, class: 'number rare' },
  { by: 'count', title: 'Messages', numeric: true, class: 'number' },
  { by: 'features', title: 'In use', numeric: true, class: 'late', about: IN_USE },
  { by: 'groups', title: 'Groups', numeric: true, class: 'late' },
]
export const selected = signal<ReadonlySet<string>>(new Set())

/** The domains as a table with rows of equal height. Only visible rows are rendered. */
export function DomainTable({ domains }: { domains: readonly MonitoredDomain[] }) {
  const place = useRef<HTMLDivElement>(null)
  const rows = useRows(place, domains.length)
  const [active, setActive] = useActive(domains)
  const focus = useFocus(place, active)

  function onKeyDown(event: KeyboardEvent): void {
    const { target } = event
    if (!(target instanceof HTMLElement) || target.closest('[data-domain]') === null) return
    const next = rows.moveByKey(event, active)
    if (next === undefined) return
    setActive(next)
    focus.move(target)
  }

  return (
    <div
      class="table domains"
      role="table"
      aria-label="Monitored domains"
      aria-rowcount={domains.length + 1}
      ref={place}
      style={{ '--row': `${rows.row}px` }}
      onScroll={rows.onScroll}
      onKeyDown={onKeyDown}
    >
      <TableHead domains={domains} />
      <div role="rowgroup" id="domain-rows" style={{ height: `${domains.length * rows.row}px` }}>
        {rows.indexesWith(active).map((index) => {
          const domain = domains[index]
          return (
            domain && (
              <Row
                key={domain.domain}
                domain={domain}
                index={index}
                row={rows.row}
                isActive={index === active}
                onFocus={() => setActive(index)}
              />
            )
          )
        })}
      </div>
    </div>
  )
}

function TableHead({ domains }: { domains: readonly MonitoredDomain[] }) {
  const chosen = selected.value
  const count = chosen.size === 0 ? 0 : domains.filter(({ domain }) => chosen.has(domain)).length
  return (
    <div role="rowgroup" class="head">
      <div role="row" aria-rowindex={1}>
        <span role="columnheader" class="select">
          <Checkbox
            words={<span class="unseen">Select all that match</span>}
            id="select-all"
            checked={count > 0 && count === domains.length}
            indeterminate={count > 0 && count < domains.length}
            onChange={() => {
              selected.value = new Set(count === domains.length ? [] : domains.map(({ domain }) => domain))
            }}
          />
        </span>
        {COLUMNS.map((column) => (
          <SortingHeader key={column.by} {...column} />
        ))}
      </div>
    </div>
  )
}

function SortingHeader({ by, title, numeric = false, class: kind = '', about }: SortingColumn) {
  const { by: current, descending } = order.value
  const isCurrent = by === current
  const state = isCurrent ? (descending ? 'descending' : 'ascending') : 'none'
  return (
    <span role="columnheader" class={`${kind} ${by}`} aria-sort={state}>
      <button type="button" title={about} onClick={() => stepOrder(by, numeric)}>
        {title}
        <span aria-hidden="true" class="arrow">
          {isCurrent ? (descending ? '▼' : '▲') : ''}
        </span>
      </button>
    </span>
  )
}

/** The first click sorts by a column, the second reverses the order, the third restores the order of addition. */
function stepOrder(by: Column, numeric: boolean): void {
  const { by: current, descending } = order.value
  if (by !== current) sortBy({ by, descending: numeric })
  else if (descending === numeric) sortBy({ by, descending: !numeric })
  else sortBy({ by: 'added', descending: false })
}

/** The index of the row that the tab key reaches. It follows its domain when rows are added, removed or sorted. */
function useActive(domains: readonly MonitoredDomain[]): [active: number, setActive: (index: number) => void] {
  const [active, setActive] = useState({ index: 0, name: domains[0]?.domain })
  const index = useMemo(() => {
    if (domains[active.index]?.domain === active.name) return active.index
    const found = domains.findIndex(({ domain }) => domain === active.name)
    return found >= 0 ? found : Math.max(0, Math.min(active.index, domains.length - 1))
  }, [domains, active])
  return [index, (next) => setActive({ index: next, name: domains[next]?.domain })]
}

/** Moves the focus to the active row. The focus stays in the table when its row is no longer rendered. */
function useFocus(place: { readonly current: HTMLElement | null }, active: number) {
  const kind = useRef('open')
  const moving = useRef(false)
  const had = place.current?.querySelector('#domain-rows')?.contains(document.activeElement) ?? false
  useLayoutEffect(() => {
    const rows = place.current?.querySelector('#domain-rows')
    const isLost = had && !rows?.contains(document.activeElement)
    if (!moving.current && !isLost) return
    moving.current = false
    rows
      ?.querySelector<HTMLElement>(`[aria-rowindex="${active + 2}"] [data-kind="${kind.current}"]`)
      ?.focus({ preventScroll: true })
  })
  return {
    /** Focuses the active row after the next render, at the same control as `from`. */
    move(from: HTMLElement) {
      kind.current = from.dataset['kind'] ?? 'open'
      moving.current = true
    },
  }
}

const TONES: Readonly<Record<string, Tone>> = { reject: 'good', quarantine: 'warn', none: '', [NO_RECORD]: 'bad' }

interface RowProps {
  domain: MonitoredDomain
  index: number
  row: number
  /** Whether the tab key reaches this row. The arrow keys reach the others. */
  isActive: boolean
  onFocus(): void
}

function Row({ domain, index, row, isActive, onFocus }: RowProps) {
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
        const isControl = target instanceof Element && target.closest('a, button, label, input') !== null
        // A click that ends a text selection must not open the sheet.
        if (!isControl && getSelection()?.isCollapsed !== false) openDomain(name)
      }}
    >
      <span role="cell" class="select">
        <NameBox name={name} selected={selected} data-kind="select" tabIndex={tabIndex} />
      </span>
      <span role="cell" class="domain">
        <Link
          to={{ subject: name }}
          class="mono truncate"
          kind="open"
          tabIndex={tabIndex}
          title={name}
          current={subject.value === name}
        >
          <span class="truncate">{name}</span>
        </Link>
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
        {domain.reports === 'none' ? (
          <span class="soft">{NO_REPORTS}</span>
        ) : record === null ? (
          '–'
        ) : (
          <Amount count={record.count} />
        )}
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
