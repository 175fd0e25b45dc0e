import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { summary } from '../account-data.ts'
import { Checkbox, filterBy, SearchField, toggleName } from '../controls/fields.tsx'
import { Loaded } from '../controls/loaded.tsx'
import { LongList } from '../controls/long-list.tsx'
import { monitored } from '../domains/monitored.ts'
import { formatCount } from '../formatting.ts'
import type { MonitoredDomain } from '../responses.ts'

interface PickerProps {
  chosen: Signal<ReadonlySet<string>>
  /** Domains that cannot be selected, because they are already members. */
  without?: ReadonlySet<string> | undefined
  label: string
}

/** Lets the user select monitored domains of the account. */
export function DomainPicker({ chosen, without, label }: PickerProps) {
  useEffect(() => {
    const known = monitored.data.peek()?.length
    if (known === undefined || known !== summary.data.peek()?.account.domains) {
      monitored.refresh().catch(() => undefined)
    }
  }, [])
  return (
    <Loaded of={monitored}>
      {(domains) => <Choices domains={domains} chosen={chosen} without={without} label={label} />}
    </Loaded>
  )
}

function Choices({ domains, chosen, without, label }: PickerProps & { domains: readonly MonitoredDomain[] }) {
  const search = useSignal('')
  const names = domains.map(({ domain }) => domain).filter((name) => without?.has(name) !== true)
  const found = filterBy(names, search.value, (name) => [name])
  const all = found.length > 0 && found.every((name) => chosen.value.has(name))
  return (
    <fieldset class="domain-picker stack">
      <legend class="soft">{label}</legend>
      <div class="row">
        <SearchField
          label="Search domains to choose"
          placeholder="Search domains"
          text={search}
          onKeyDown={(event) => {
            // Enter would submit the form around it.
            if (event.key === 'Enter') event.preventDefault()
          }}
        />
        <Checkbox
          words={search.value.trim() === '' ? 'All' : 'All that match'}
          checked={all}
          disabled={found.length === 0}
          onChange={() => {
            const next = new Set(chosen.peek())
            for (const name of found) all ? next.delete(name) : next.add(name)
            chosen.value = next
          }}
        />
      </div>
      {found.length === 0 ? (
        <p class="soft">{names.length === 0 ? 'There is no other monitored domain.' : 'No domain matches.'}</p>
      ) : (
        <LongList id="domain-choices" label="Domains to choose" items={found} keyOf={(name) => name}>
          {(name, { tabIndex }) => (
            <Checkbox
              class="choice"
              words={<Name name={name} />}
              tabIndex={tabIndex}
              checked={chosen.value.has(name)}
              onChange={() => {
                chosen.value = toggleName(chosen.peek(), name)
              }}
            />
          )}
        </LongList>
      )}
      <p class="soft" role="status">
        {formatCount(chosen.value.size, 'domain')} chosen
      </p>
    </fieldset>
  )
}

function Name({ name }: { name: string }) {
  return (
    <span class="mono truncate" title={name}>
      {name}
    </span>
  )
}
