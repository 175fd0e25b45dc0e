import { FACTS } from '../facts.ts'
import { formatNumber, formatShown } from '../formatting.ts'
import { parameter, setFilters, subject } from '../place.tsx'
import type { MonitoredDomain } from '../responses.ts'
import { domains, groupByDomain, groups } from '../sources.ts'
import { Button } from '../ui/button.tsx'
import { ListAndDetail } from '../ui/detail.tsx'
import { SearchField, Select } from '../ui/form.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { useSelection } from '../ui/rows.tsx'
import { addDomains, removeDomains } from './change.tsx'
import { DomainDetail } from './detail.tsx'
import { filterDomains, NO_RECORD, readOrder, sortDomains } from './selection.ts'
import { DomainTable } from './table.tsx'

const search = parameter('search')
const policy = parameter('policy')
const profile = parameter('profile')
const sort = parameter('sort')

export function DomainsView() {
  const name = subject.value
  return (
    <ListAndDetail detail={name !== undefined && <DomainDetail key={name} name={name} />}>
      <h2 class="unseen">Domains</h2>
      <Tools />
      <Loaded of={domains.use()} what="the domains">
        {(all) => <Rows all={all} />}
      </Loaded>
    </ListAndDetail>
  )
}

function Tools() {
  return (
    <div class="row tools">
      <SearchField label="Search domains" text={search.value} onText={(text) => setFilters({ search: text })} />
      <Select
        aria-label="Policy"
        none="All policies"
        values={[...FACTS.policies, NO_RECORD]}
        value={policy.value}
        onChoose={(chosen) => setFilters({ policy: chosen }, 'push')}
      />
      <Select
        aria-label="Profile"
        title="A profile is the kind of domain for which this stand-in makes the figures."
        none="All profiles"
        values={FACTS.profiles}
        value={profile.value}
        onChoose={(chosen) => setFilters({ profile: chosen }, 'push')}
      />
      <Button words="Add domains…" kind="primary" work={addDomains} />
    </div>
  )
}

function Rows({ all }: { all: readonly MonitoredDomain[] }) {
  const byDomain = groupByDomain(groups.use().data ?? [])
  const order = readOrder(sort.value)
  const wanted = { search: search.value, policy: policy.value, profile: profile.value }
  const matching = sortDomains(filterDomains(all, wanted), order, byDomain)
  const selection = useSelection(matching.map(({ domain }) => domain))
  const selected = new Set(selection.among(all.map(({ domain }) => domain)))
  async function remove(): Promise<void> {
    if (await removeDomains(all.filter(({ domain }) => selected.has(domain)))) selection.clear()
  }
  return (
    <>
      <div class="row">
        <span class="soft" role="status">
          {formatShown(matching.length, all.length, 'domain')}
        </span>
        {selected.size > 0 && (
          <>
            <strong>{formatNumber(selected.size)} selected</strong>
            <Button words="Remove…" kind="danger" work={remove} />
          </>
        )}
      </div>
      {all.length === 0 && <p class="empty">This account monitors no domain.</p>}
      {all.length > 0 && matching.length === 0 && <p class="empty">No domain matches.</p>}
      {matching.length > 0 && (
        <DomainTable
          domains={matching}
          groups={byDomain}
          order={order}
          selection={selection}
          label="Monitored domains"
          about={JSON.stringify([wanted, order])}
        />
      )}
    </>
  )
}
