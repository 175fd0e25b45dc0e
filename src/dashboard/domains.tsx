import { domains } from './data.ts'
import { addDomains, removeDomains } from './domain-changes.tsx'
import { DomainDetail } from './domain-detail.tsx'
import { DomainTable, NO_RECORD, policyOf } from './domain-table.tsx'
import { FACTS } from './facts.ts'
import { formatNumber, formatShown } from './formatting.ts'
import { parameter, setFilters, subject } from './place.tsx'
import type { Schemas } from './responses.ts'
import { Button } from './ui/elements.tsx'
import { SearchField, Select } from './ui/forms.tsx'
import { ListAndDetail, useSelection } from './ui/lists.tsx'
import { Loaded } from './ui/loaded.tsx'

const search = parameter('search')
const policy = parameter('policy')
const profile = parameter('profile')

export function DomainsView() {
  const name = subject.value
  return (
    <ListAndDetail title="Domains" detail={name !== undefined && <DomainDetail key={name} name={name} />}>
      <div class="row tools">
        <SearchField label="Search domains" text={search.value} onText={(text) => setFilters({ search: text })} />
        <Select
          {...{ 'aria-label': 'Policy', none: 'All policies', values: [...FACTS.policies, NO_RECORD] }}
          value={policy.value}
          onChoose={(chosen) => setFilters({ policy: chosen }, 'push')}
        />
        <Select
          {...{ 'aria-label': 'Profile', none: 'All profiles', values: FACTS.profiles }}
          title="A profile is the kind of domain for which this stand-in makes the figures."
          value={profile.value}
          onChoose={(chosen) => setFilters({ profile: chosen }, 'push')}
        />
        <Button words="Add domains…" kind="primary" work={addDomains} />
      </div>
      <Loaded of={domains.use()} what="the domains">
        {(all) => <Rows all={all} />}
      </Loaded>
    </ListAndDetail>
  )
}

function Rows({ all }: { all: readonly Schemas['MonitoredDomain'][] }) {
  const spellings = spellingsOf(search.value)
  const matching = all.filter(
    (domain) =>
      spellings.some((part) => domain.domain.includes(part)) &&
      (profile.value === '' || domain.profile === profile.value) &&
      (policy.value === '' || policyOf(domain) === policy.value),
  )
  const select = useSelection(matching.map(({ domain }) => domain))
  const selected = new Set(select.among(all.map(({ domain }) => domain)))
  async function remove(): Promise<void> {
    if (await removeDomains(all.filter(({ domain }) => selected.has(domain)))) select.clear()
  }
  return (
    <>
      <div class="row">
        <span class="soft" role="status">
          {formatShown(matching.length, all.length, 'domain')}
        </span>
        {selected.size > 0 && <strong>{formatNumber(selected.size)} selected</strong>}
        {selected.size > 0 && <Button words="Remove…" kind="danger" work={remove} />}
      </div>
      {matching.length > 0 ? (
        <DomainTable label="Monitored domains" domains={matching} select={select} />
      ) : (
        <p class="empty">{all.length === 0 ? 'This account monitors no domain.' : 'No domain matches.'}</p>
      )}
    </>
  )
}

/** The spellings to search for. Names are stored in lower case and ASCII, so `Münch` also means `xn--…`. */
function spellingsOf(text: string): string[] {
  const typed = text.trim().toLowerCase()
  return [typed, ...(typed === '' ? [] : [URL.parse(`ftp://${typed}`)?.hostname ?? typed])]
}
