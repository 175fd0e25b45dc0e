import { computed, signal, useSignal } from '@preact/signals'
import { groups } from '../account-data.ts'
import { Button } from '../controls/button.tsx'
import { Sheet } from '../controls/dialog.tsx'
import { Checkbox, filterBy, NameBox, SearchField } from '../controls/form.tsx'
import { Loaded } from '../controls/loaded.tsx'
import { LongList } from '../controls/long-list.tsx'
import { formatCount, formatNumber, formatShown } from '../formatting.ts'
import type { Group } from '../responses.ts'
import { chosenAccount, show, useLook } from '../selection.ts'
import { addMembers, createGroup, deleteGroup, removeMembers, renameGroup } from './change.tsx'

const PREVIEWED = 6

/** The number of members from which a search is shown. */
const MANY = 8

const opened = signal<{ account: string; id: string; name: string } | undefined>(undefined)
const search = signal('')

const shown = computed(() => filterBy(groups.data.value ?? [], search.value, ({ id, name }) => [name, id]))

function open({ id, name }: Group): void {
  opened.value = { account: chosenAccount.peek(), id, name }
}

function close(): void {
  opened.value = undefined
}

export function GroupsPanel() {
  const list = groups.data.value
  useLook(
    (look) => {
      search.value = look.search ?? ''
      const group = groups.data.peek()?.find(({ name }) => name === look.group)
      if (group === undefined) close()
      else open(group)
    },
    // Only the list can say which group it is.
    (look) => look.group === undefined || groups.data.value !== undefined,
  )
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
        <GroupSheet key={sheet.id} name={sheet.name} group={list.find(({ id }) => id === sheet.id)} />
      )}
    </>
  )
}

/** Creates a group, and clears the search so that the list shows it. */
async function create(): Promise<void> {
  if (await createGroup()) search.value = ''
}

function Rows({ list }: { list: readonly Group[] }) {
  const found = shown.value
  return (
    <>
      <p id="group-count" class="soft" role="status">
        {formatShown(found.length, list.length, 'group')}
      </p>
      {found.length === 0 ? (
        <p class="empty">
          {list.length === 0
            ? 'This account has no group. A group is a name for some of its monitored domains.'
            : 'No group matches.'}
        </p>
      ) : (
        <LongList
          id="group-rows"
          label="Groups"
          items={found}
          keyOf={({ id }) => id}
          attributesOf={({ name }) => ({ 'data-group': name })}
        >
          {(group, tabIndex) => <Row group={group} tabIndex={tabIndex} />}
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

/** Everything about one group. `group` is `undefined` if it no longer exists, and `name` its last known name. */
function GroupSheet({ group, name }: { group: Group | undefined; name: string }) {
  return (
    <Sheet title={group?.name ?? name} id="group-sheet" onClose={close}>
      {group === undefined ? (
        <p class="empty" role="status">
          This group does not exist any more. Its members stay monitored.
        </p>
      ) : (
        <Content group={group} />
      )}
    </Sheet>
  )
}

function Content({ group }: { group: Group }) {
  return (
    <>
      <div class="row no-print">
        <Button words="Add members…" kind="primary" work={() => addMembers(group)} />
        <Button words="Rename…" work={() => renameGroup(group)} />
        <Button
          words="Delete…"
          kind="danger"
          work={async () => {
            if (await deleteGroup(group)) close()
          }}
        />
      </div>
      <p class="soft">
        Id <span class="mono">{group.id}</span>
      </p>
      <Members group={group} />
    </>
  )
}

function Members({ group }: { group: Group }) {
  const { domains } = group
  const search = useSignal('')
  const selected = useSignal<ReadonlySet<string>>(new Set())
  const found = filterBy(domains, search.value, (member) => [member])
  // Another client may have removed some of them.
  const chosen = domains.filter((member) => selected.value.has(member))
  const all = found.length > 0 && found.every((member) => selected.value.has(member))
  return (
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
            onChange={() => (selected.value = new Set(all ? [] : found))}
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
          {(member, tabIndex) => (
            <div class="member">
              <NameBox name={member} selected={selected} tabIndex={tabIndex} />
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
  )
}
