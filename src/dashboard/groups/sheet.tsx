import { useSignal } from '@preact/signals'
import { Button } from '../controls/button.tsx'
import { Checkbox, filterBy, SearchField, toggleName } from '../controls/fields.tsx'
import { LongList } from '../controls/long-list.tsx'
import { Sheet } from '../controls/modal.tsx'
import { formatCount, formatNumber } from '../formatting.ts'
import type { Group } from '../responses.ts'
import { show } from '../selection.ts'
import { addMembers, deleteGroup, removeMembers, renameGroup } from './change.tsx'

/** The number of members from which a search is shown. */
const MANY = 8

interface SheetProps {
  /** `undefined` if it no longer exists. */
  group: Group | undefined
  /** Its last known name. */
  name: string
  onClose(): void
}

/** Everything about one group. */
export function GroupSheet({ group, name, onClose }: SheetProps) {
  return (
    <Sheet title={group?.name ?? name} id="group-sheet" onClose={onClose}>
      {group === undefined ? (
        <p class="empty" role="status">
          This group does not exist any more. Its members stay monitored.
        </p>
      ) : (
        <Content group={group} onClose={onClose} />
      )}
    </Sheet>
  )
}

function Content({ group, onClose }: { group: Group; onClose(): void }) {
  const { id, domains } = group
  const search = useSignal('')
  const selected = useSignal<ReadonlySet<string>>(new Set())
  const found = filterBy(domains, search.value, (member) => [member])
  // Another client may have removed some of them.
  const chosen = domains.filter((member) => selected.value.has(member))
  const all = found.length > 0 && found.every((member) => selected.value.has(member))
  return (
    <>
      <div class="row no-print">
        <Button words="Add members…" kind="primary" work={() => addMembers(group)} />
        <Button words="Rename…" work={() => renameGroup(group)} />
        <Button
          words="Delete…"
          kind="danger"
          work={async () => {
            if (await deleteGroup(group)) onClose()
          }}
        />
      </div>
      <p class="soft">
        Id <span class="mono">{id}</span>
      </p>
      <section class="stack" aria-label="Members">
        <div class="row">
          <h3 class="grow">{formatCount(domains.length, 'member')}</h3>
        </div>
        {domains.length === 0 && <p class="empty">The group has no member.</p>}
        {domains.length > 0 && (
          <div class="row no-print">
            {domains.length >= MANY && <SearchField id="member-filter" label="Search members" text={search} />}
            <Checkbox
              words={search.value.trim() === '' ? 'Select all' : 'Select all that match'}
              checked={all}
              disabled={found.length === 0}
              onChange={() => {
                selected.value = new Set(all ? [] : found)
              }}
            />
            {chosen.length > 0 && (
              <Button
                words={`Remove ${formatNumber(chosen.length)}…`}
                kind="danger"
                work={async () => {
                  if (await removeMembers(group, chosen)) selected.value = new Set()
                }}
              />
            )}
          </div>
        )}
        {domains.length > 0 && found.length === 0 && <p class="empty">No member matches.</p>}
        {found.length > 0 && (
          <LongList
            id="group-members"
            label="Members"
            items={found}
            keyOf={(member) => member}
            attributesOf={(member) => ({ 'data-domain': member })}
          >
            {(member, { tabIndex }) => (
              <div class="member">
                <Checkbox
                  words={<span class="unseen">Select {member}</span>}
                  tabIndex={tabIndex}
                  checked={selected.value.has(member)}
                  onChange={() => {
                    selected.value = toggleName(selected.peek(), member)
                  }}
                />
                <button
                  type="button"
                  class="link mono truncate"
                  tabIndex={tabIndex}
                  title={member}
                  onClick={() => show({ tab: 'domains', domain: member })}
                >
                  {member}
                </button>
              </div>
            )}
          </LongList>
        )}
      </section>
    </>
  )
}
