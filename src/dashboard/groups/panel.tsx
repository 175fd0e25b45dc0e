import { computed, signal, useSignalEffect } from '@preact/signals'
import { groups } from '../account-data.ts'
import { Button } from '../controls/button.tsx'
import { filterBy, SearchField } from '../controls/fields.tsx'
import { Loaded } from '../controls/loaded.tsx'
import { LongList } from '../controls/long-list.tsx'
import { formatCount, formatShown } from '../formatting.ts'
import type { Group } from '../responses.ts'
import { chosenAccount, lookedAt, takeLook } from '../selection.ts'
import { createGroup } from './change.tsx'
import { GroupSheet } from './sheet.tsx'

/** How many members a row names. */
const PREVIEWED = 6

/** The group whose sheet is open, and its account. */
const opened = signal<{ account: string; id: string; name: string } | undefined>(undefined)
const search = signal('')

const shown = computed(() => filterBy(groups.data.value ?? [], search.value, ({ id, name }) => [name, id]))

function open({ id, name }: Group): void {
  opened.value = { account: chosenAccount.peek(), id, name }
}

/** The view Groups. */
export function GroupsPanel() {
  const list = groups.data.value
  useSignalEffect(() => {
    const look = lookedAt.value
    const known = groups.data.value
    // Only the list can say which group it is.
    if (look === undefined || (look.group !== undefined && known === undefined)) return
    takeLook()
    search.value = look.search ?? ''
    const group = known?.find(({ name }) => name === look.group)
    if (group === undefined) opened.value = undefined
    else open(group)
  })
  const sheet = opened.value
  return (
    <>
      <h2 class="unseen">Groups</h2>
      <div class="row no-print">
        <SearchField id="group-filter" label="Search groups" text={search} />
        <Button words="New group…" kind="primary" work={create} />
      </div>
      <Loaded of={groups}>{(all) => <Rows list={all} />}</Loaded>
      {sheet !== undefined && sheet.account === chosenAccount.value && list !== undefined && (
        <GroupSheet
          key={sheet.id}
          name={sheet.name}
          group={list.find(({ id }) => id === sheet.id)}
          onClose={() => {
            opened.value = undefined
          }}
        />
      )}
    </>
  )
}

/** Creates a group, and clears the search so that the list shows it. */
async function create(): Promise<void> {
  if ((await createGroup()) !== undefined) search.value = ''
}

function Rows({ list }: { list: readonly Group[] }) {
  const found = shown.value
  return (
    <>
      <p id="group-count" class="soft" role="status">
        {formatShown(found.length, list.length, 'group')}
      </p>
      {list.length === 0 && (
        <p class="empty">This account has no group. A group is a name for some of its monitored domains.</p>
      )}
      {list.length > 0 && found.length === 0 && <p class="empty">No group matches.</p>}
      {found.length > 0 && (
        <LongList
          id="group-rows"
          label="Groups"
          items={found}
          keyOf={({ id }) => id}
          attributesOf={({ name }) => ({ 'data-group': name })}
        >
          {(group, { tabIndex }) => <Row group={group} tabIndex={tabIndex} />}
        </LongList>
      )}
    </>
  )
}

function Row({ group, tabIndex }: { group: Group; tabIndex: number }) {
  const { id, name, domains } = group
  return (
    <button type="button" class="group" tabIndex={tabIndex} aria-haspopup="dialog" onClick={() => open(group)}>
      <bdi class="name truncate" title={name}>
        {name}
      </bdi>
      <span class="members soft mono truncate" aria-hidden="true">
        {domains.slice(0, PREVIEWED).join(', ')}
        {domains.length > PREVIEWED && ', …'}
      </span>
      <span class="id soft mono">{id}</span>
      <span class="number">{formatCount(domains.length, 'member')}</span>
    </button>
  )
}
