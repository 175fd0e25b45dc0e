import { useEffect } from 'preact/hooks'
import { chosenAccount, subject } from '../address.ts'
import { Button } from '../controls/button.tsx'
import { ListAndDetail } from '../controls/detail.tsx'
import { type Choice, SearchField, Select } from '../controls/form.tsx'
import { Loaded, Loading } from '../controls/loaded.tsx'
import { FACTS } from '../facts.ts'
import { formatNumber, formatShown } from '../formatting.ts'
import type { MonitoredDomain } from '../responses.ts'
import { addDomains, removeDomains } from './change.tsx'
import { filter, monitored, order, progress, shown, sortBy } from './monitored.ts'
import { type Column, NO_RECORD } from './selection.ts'
import { DomainDetail } from './sheet.tsx'
import { COLUMNS, DomainTable, selected } from './table.tsx'

function selectNone(): void {
  selected.value = new Set()
}

export function DomainsPanel() {
  const account = chosenAccount.value
  const name = subject.value
  // The selection does not apply to another account.
  useEffect(() => selectNone, [account])
  return (
    <ListAndDetail detail={name !== undefined && <DomainDetail key={name} name={name} />}>
      <h2 class="unseen">Domains</h2>
      <Tools />
      <Loaded of={monitored} loading={<Loading>The domains are being loaded…</Loading>}>
        {(domains) => <Rows domains={domains} />}
      </Loaded>
    </ListAndDetail>
  )
}

function Tools() {
  return (
    <div class="row domain-tools">
      <SearchField id="domain-filter" label="Search domains" text={filter.search} />
      <Select
        id="domain-policy"
        aria-label="Policy"
        none="All policies"
        values={[...FACTS.policies, NO_RECORD]}
        chosen={filter.policy}
      />
      <Select
        id="domain-profile"
        aria-label="Profile"
        title="A profile is the kind of domain for which this stand-in makes the figures."
        none="All profiles"
        values={FACTS.profiles}
        chosen={filter.profile}
      />
      <PhoneOrder />
      <Button words="Add domains…" kind="primary" work={addDomains} />
    </div>
  )
}

const PHONE_ORDERS: readonly Choice[] = [
  ['added false', 'As added'],
  ['added true', 'Newest first'],
  ...COLUMNS.flatMap(({ by, title }): Choice[] => [
    [`${by} false`, `${title} ▲`],
    [`${by} true`, `${title} ▼`],
  ]),
]

/** The sort order on screens that are too narrow for column headers. */
function PhoneOrder() {
  const { by, descending } = order.value
  return (
    <Select
      class="phone-order"
      aria-label="Order"
      value={`${by} ${descending}`}
      values={PHONE_ORDERS}
      onChoose={(chosen) => {
        const [column = 'added', down] = chosen.split(' ')
        sortBy({ by: column as Column, descending: down === 'true' })
      }}
    />
  )
}

function Rows({ domains }: { domains: readonly MonitoredDomain[] }) {
  const matching = shown.value
  const chosen = domains.filter(({ domain }) => selected.value.has(domain))
  return (
    <>
      <div class="row">
        <span id="domain-count" class="soft" role="status">
          {formatShown(matching.length, domains.length, 'domain')}
        </span>
        <Progress />
        {chosen.length > 0 && (
          <>
            <strong>{formatNumber(chosen.length)} selected</strong>
            <Button
              words="Remove…"
              kind="danger"
              work={async () => {
                if (await removeDomains(chosen)) selectNone()
              }}
            />
            <Button words="Select none" work={selectNone} />
          </>
        )}
      </div>
      {domains.length === 0 && <p class="empty">This account monitors no domain.</p>}
      {domains.length > 0 && matching.length === 0 && <p class="empty">No domain matches.</p>}
      {matching.length > 0 && <DomainTable domains={matching} />}
    </>
  )
}

/** How much of a long list is there, while the rest is still being loaded. */
function Progress() {
  const { done, total } = progress.value ?? {}
  if (done === undefined || total === undefined) return null
  return (
    <span id="domain-progress" class="soft" role="status">
      {`${formatNumber(done)} of ${formatNumber(total)} loaded… Search, filters and sorting cover these until all are there.`}
    </span>
  )
}
