import { groups } from './data.ts'
import { formatMessages, formatShare } from './formatting.ts'
import { Link, openView, subject } from './place.tsx'
import type { Schemas } from './responses.ts'
import { Badge, type Tone } from './ui/elements.tsx'
import { type Column, type Selection, Table } from './ui/lists.tsx'

type Domain = Schemas['MonitoredDomain']

export const NO_RECORD = 'no record'
const TONES: Readonly<Record<string, Tone>> = { [NO_RECORD]: 'bad', none: '', quarantine: 'warn', reject: 'good' }
const RANKS = Object.keys(TONES)

/** The policy that GET /dmarc shows for a domain, or `NO_RECORD`. */
export function policyOf({ record, policy, inherits_from: source, pinned }: Domain): string {
  const isPublished = policy !== null || source !== null || pinned.p !== undefined
  return (isPublished && record?.p) || NO_RECORD
}

/** The policy in GET /dmarc. Policies for subdomains are shown only if they differ. */
export function Policy({ domain }: { domain: Domain }) {
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

/** A column with figures. Nothing is known about the mail of a domain without reports, so it has no value to sort by. */
function figure(title: string, field: 'dmarc' | 'dkim' | 'spf' | 'count', look = ''): Column<Domain> {
  const has = ({ record, reports }: Domain) =>
    record !== null && reports !== 'none' && (field === 'count' || record.count > 0)
  return {
    ...{ title, class: `number ${look}` },
    by: ({ record, reports }) => (reports === 'none' ? undefined : record?.[field]),
    cell(domain) {
      const value = domain.record?.[field] ?? null
      if (field === 'count') return formatMessages(domain.reports === 'none' ? null : value)
      if (!has(domain)) return '–'
      return field === 'dmarc' && value !== null && value < 90 ? (
        <b class="is-bad">{formatShare(value)}</b>
      ) : (
        formatShare(value)
      )
    },
  }
}

interface DomainTableProps {
  label: string
  domains: readonly Domain[]
  select: Selection
}

export function DomainTable({ label, domains, select }: DomainTableProps) {
  const memberships = groupByDomain(groups.use().data ?? [])
  const groupsOf = ({ domain }: Domain) => memberships.get(domain) ?? []
  const columns: readonly Column<Domain>[] = [
    {
      ...{ title: 'Domain', class: 'name mono', by: ({ domain }) => domain },
      cell: ({ domain }) => (
        <Link
          {...(openView.value !== 'domains' && { view: 'domains' })}
          subject={domain}
          current={subject.value === domain}
        >
          {domain}
        </Link>
      ),
    },
    {
      title: 'Policy',
      // The protection by each policy; in test mode, it is below that of the same policy.
      by: (domain) => RANKS.indexOf(policyOf(domain)) * 2 - (domain.record?.testing === 'y' ? 1 : 0),
      cell: (domain) => <Policy domain={domain} />,
    },
    figure('DMARC', 'dmarc'),
    figure('DKIM', 'dkim', 'rare'),
    figure('SPF', 'spf', 'rare'),
    figure('Messages', 'count'),
    {
      ...{ title: 'In use', class: 'late', by: ({ features }) => -features.length },
      about: 'Monitoring features that use the domain, such as mta-sts (encrypted delivery). It cannot be removed.',
      cell: ({ features }) => features.map((feature) => <Badge key={feature}>{feature}</Badge>),
    },
    {
      ...{ title: 'Groups', class: 'late', by: (domain) => -groupsOf(domain).length },
      cell: (domain) => groupsOf(domain).map(({ id, name }, place) => [place > 0 && ', ', <bdi key={id}>{name}</bdi>]),
    },
  ]
  return <Table {...{ label, columns, select, items: domains }} keyOf={({ domain }) => domain} />
}

function groupByDomain(all: readonly Schemas['Group'][]): ReadonlyMap<string, readonly Schemas['Group'][]> {
  const found = new Map<string, Schemas['Group'][]>()
  for (const group of all) {
    for (const domain of group.domains) found.set(domain, [...(found.get(domain) ?? []), group])
  }
  return found
}
