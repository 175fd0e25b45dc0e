import { signal, useSignalEffect } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Button } from '../controls/button.tsx'
import { Options } from '../controls/form.tsx'
import { Loaded, Loading } from '../controls/loaded.tsx'
import { FACTS } from '../facts.ts'
import { formatNumber, formatShown } from '../formatting.ts'
import type { MonitoredDomain } from '../responses.ts'
import { chosenAccount, lookedAt, openTab, takeLook } from '../selection.ts'
import { addDomains } from './add.tsx'
import { monitored, order, progress, shown, wanted } from './monitored.ts'
import { removeDomains } from './remove.tsx'
import { selected } from './row.tsx'
import { type Column, NO_RECORD } from './selection.ts'
import { DomainSheet } from './sheet.tsx'
import { COLUMNS, DomainTable } from './table.tsx'

/** The domain whose sheet is open, and its account. */
const opened = signal<{ account: string; domain: string } | undefined>(undefined)

function open(domain: string): void {
  opened.value = { account: chosenAccount.peek(), domain }
}

function selectNone(): void {
  selected.value = new Set()
}

/** The view Domains. */
export function DomainsPanel() {
  const account = chosenAccount.value
  useSignalEffect(() => {
    const look = lookedAt.value
    // Another view may be about to open.
    if (look === undefined || openTab.peek() !== 'domains') return
    takeLook()
    wanted.value = { search: look.search ?? '', policy: '', profile: '' }
    opened.value = look.domain === undefined ? undefined : { account: chosenAccount.peek(), domain: look.domain }
  })
  // The selection and the open sheet do not apply to another account.
  useEffect(() => selectNone, [account])
  const sheet = opened.value
  return (
    <>
      <h2 class="unseen">Domains</h2>
      <Tools />
      <Loaded of={monitored} loading={<Progress />}>
        {(domains) => <Rows domains={domains} />}
      </Loaded>
      {sheet !== undefined && sheet.account === account && (
        <DomainSheet
          name={sheet.domain}
          onClose={() => {
            opened.value = undefined
          }}
          onOpen={open}
        />
      )}
    </>
  )
}

function Tools() {
  const { search, policy, profile } = wanted.value
  return (
    <div class="row domain-tools no-print">
      <input
        id="domain-filter"
        type="search"
        class="grow"
        placeholder="Search domains"
        aria-label="Search domains"
        autocomplete="off"
        spellcheck={false}
        value={search}
        onInput={({ currentTarget }) => {
          wanted.value = { ...wanted.peek(), search: currentTarget.value }
        }}
      />
      <select
        id="domain-policy"
        aria-label="Policy"
        value={policy}
        onChange={({ currentTarget }) => {
          wanted.value = { ...wanted.peek(), policy: currentTarget.value }
        }}
      >
        <option value="">All policies</option>
        <Options values={[...FACTS.policies, NO_RECORD]} />
      </select>
      <select
        id="domain-profile"
        aria-label="Profile"
        value={profile}
        onChange={({ currentTarget }) => {
          wanted.value = { ...wanted.peek(), profile: currentTarget.value }
        }}
      >
        <option value="">All profiles</option>
        <Options values={FACTS.profiles} />
      </select>
      <PhoneOrder />
      <Button words="Add domains…" kind="primary" work={addDomains} />
    </div>
  )
}

/** The sort order on screens that are too narrow for column headers. */
function PhoneOrder() {
  const { by, descending } = order.value
  return (
    <select
      class="phone-order"
      aria-label="Order"
      value={`${by} ${descending}`}
      onChange={({ currentTarget }) => {
        const [column = 'added', down] = currentTarget.value.split(' ')
        order.value = { by: column as Column, descending: down === 'true' }
      }}
    >
      <option value="added false">As added</option>
      <option value="added true">Newest first</option>
      {COLUMNS.map(({ by: column, title }) => [
        <option key={`${column} up`} value={`${column} false`}>
          {title} ▲
        </option>,
        <option key={`${column} down`} value={`${column} true`}>
          {title} ▼
        </option>,
      ])}
    </select>
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
      {matching.length > 0 && <DomainTable domains={matching} onOpen={open} />}
    </>
  )
}

function Progress() {
  const { done = 0, total = 0 } = progress.value ?? {}
  return (
    <Loading>The domains are being loaded… {total > 0 && `${formatNumber(done)} of ${formatNumber(total)}`}</Loading>
  )
}
