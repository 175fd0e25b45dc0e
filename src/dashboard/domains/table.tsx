import { formatMessages, formatShare, NO_REPORTS } from '../formatting.ts'
import { hrefOf, Link, openView, subject } from '../place.tsx'
import type { Group, MonitoredDomain } from '../responses.ts'
import { Badge, type Tone } from '../ui/marks.tsx'
import { useFirst, type useSelection } from '../ui/rows.tsx'
import { type Column, type GroupsByDomain, NO_RECORD, type Order, policyOf, writeOrder } from './selection.ts'

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

const COLUMNS: readonly SortingColumn[] = [
  { by: 'domain', title: 'Domain' },
  { by: 'policy', title: 'Policy' },
  { by: 'dmarc', title: 'DMARC', numeric: true, class: 'number' },
  { by: 'dkim', title: 'DKIM', numeric: true, class: 'number rare' },
  { by: 'spf', title: 'SPF', numeric: true, class: 'number rare' },
  { by: 'count', title: 'Messages', numeric: true, class: 'number' },
  { by: 'features', title: 'In use', numeric: true, class: 'late', about: IN_USE },
  { by: 'groups', title: 'Groups', numeric: true, class: 'late' },
]

interface TableProps {
  domains: readonly MonitoredDomain[]
  groups: GroupsByDomain
  order: Order
  selection: ReturnType<typeof useSelection>
  /** The name of the table. */
  label: string
  /** What is listed: the filters. */
  about: string
}

export function DomainTable({ domains, groups, order, selection, label, about }: TableProps) {
  const [first, more] = useFirst(domains, about)
  return (
    <div class="table">
      <table class="domains" aria-label={label}>
        <thead>
          <tr>
            <th class="select">{selection.all}</th>
            {COLUMNS.map((column) => (
              <SortingHeader key={column.by} column={column} order={order} />
            ))}
          </tr>
        </thead>
        <tbody>
          {first.map((domain) => (
            <tr key={domain.domain} data-domain={domain.domain}>
              <td class="select">{selection.box(domain.domain)}</td>
              <Cells domain={domain} groups={groups.get(domain.domain) ?? []} />
            </tr>
          ))}
        </tbody>
      </table>
      {more}
    </div>
  )
}

/** The first click sorts by a column, the second reverses the order, the third restores the order of addition. */
function SortingHeader({ column, order }: { column: SortingColumn; order: Order }) {
  const { by, title, numeric = false, class: kind, about } = column
  const isCurrent = by === order.by
  const next: Order = !isCurrent
    ? { by, descending: numeric }
    : order.descending === numeric
      ? { by, descending: !numeric }
      : { by: 'added', descending: false }
  return (
    <th class={kind} aria-sort={isCurrent ? (order.descending ? 'descending' : 'ascending') : 'none'} title={about}>
      <a href={hrefOf({ subject: subject.value, query: { sort: writeOrder(next) } })}>
        {title}
        <span aria-hidden="true">{isCurrent ? (order.descending ? ' ▼' : ' ▲') : ''}</span>
      </a>
    </th>
  )
}

const TONES: Readonly<Record<string, Tone>> = { reject: 'good', quarantine: 'warn', none: '', [NO_RECORD]: 'bad' }

function Cells({ domain, groups }: { domain: MonitoredDomain; groups: readonly Group[] }) {
  const { domain: name, record, features, reports } = domain
  const low = record !== null && record.count > 0 && record.dmarc < 90 ? 'low' : ''
  return (
    <>
      <td class="wide mono">
        <Link
          {...(openView.value !== 'domains' && { view: 'domains' })}
          subject={name}
          current={subject.value === name}
        >
          {name}
        </Link>
      </td>
      <td class="policy">
        <Policy domain={domain} />
      </td>
      <td class={`number ${low}`}>{shareIn(domain, 'dmarc')}</td>
      <td class="number rare">{shareIn(domain, 'dkim')}</td>
      <td class="number rare">{shareIn(domain, 'spf')}</td>
      <td class="number">
        {reports === 'none' ? <span class="soft">{NO_REPORTS}</span> : record ? formatMessages(record.count) : '–'}
      </td>
      <td class="late">
        {features.map((feature) => (
          <Badge key={feature} tone="warn">
            <bdi>{feature}</bdi>
          </Badge>
        ))}
      </td>
      <td class="late">{groups.map((group, place) => [place > 0 && ', ', <bdi key={group.id}>{group.name}</bdi>])}</td>
    </>
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
      <Badge tone={TONES[policy] ?? ''}>{policy}</Badge>{' '}
      {record?.testing === 'y' && (
        <Badge tone="odd" title="The record says t=y: receivers are asked not to apply the policy yet.">
          testing
        </Badge>
      )}{' '}
      {others.length > 0 && <span class="soft">{others.join(' · ')}</span>}
    </>
  )
}

function shareIn({ record }: MonitoredDomain, field: 'dmarc' | 'dkim' | 'spf'): string {
  return record === null || record.count === 0 ? '–' : formatShare(record[field])
}
