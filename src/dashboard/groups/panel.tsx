import { computed, useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { groups, summary } from '../account-data.ts'
import { chosenAccount, createParameter, go, subject } from '../address.ts'
import { call } from '../client.ts'
import { Button } from '../controls/button.tsx'
import { Detail, ListAndDetail } from '../controls/detail.tsx'
import { Checkbox, filterBy, NameBox, SearchField } from '../controls/form.tsx'
import { Link } from '../controls/link.tsx'
import { Loaded, useAnswer } from '../controls/loaded.tsx'
import { LongList } from '../controls/long-list.tsx'
import { Part } from '../controls/marks.tsx'
import { ErrorText } from '../controls/notices.tsx'
import { refreshDate } from '../domains/monitored.ts'
import { formatCount, formatNumber, formatShare, formatShown } from '../formatting.ts'
import { AttentionList, History, PolicyMix } from '../overview/parts.tsx'
import type { Group, Overview } from '../responses.ts'
import { addMembers, createGroup, deleteGroup, removeMembers, renameGroup } from './change.tsx'

const PREVIEWED = 6
const DAYS = 90

/** The number of members from which a search is shown. */
const MANY = 8

const search = createParameter({ tab: 'groups', name: 'search', history: 'replace' })

const shown = computed(() => filterBy(groups.data.value ?? [], search.value, ({ id, name }) => [name, id]))

function close(): void {
  go({})
}

export function GroupsPanel() {
  const about = subject.value
  return (
    <ListAndDetail detail={about !== undefined && <GroupDetail key={about} about={about} />}>
      <h2 class="unseen">Groups</h2>
      <div class="row">
        <SearchField id="group-filter" label="Search groups" text={search} />
        <Button words="New group…" kind="primary" work={create} />
      </div>
      <Loaded of={groups}>{(all) => <Rows list={all} />}</Loaded>
    </ListAndDetail>
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
    <Link class="group" tabIndex={tabIndex} to={{ subject: id }} current={subject.value === id}>
      <bdi class="name truncate" title={name}>
        {name}
      </bdi>
      <span class="members soft mono truncate" aria-hidden="true">
        {domains.slice(0, PREVIEWED).join(', ')}
        {domains.length > PREVIEWED && ', …'}
      </span>
      <span class="id soft mono">{id}</span>
      <span class="number">{formatCount(domains.length, 'member')}</span>
    </Link>
  )
}

/** Everything about one group, of which the address has the id or the name. */
function GroupDetail({ about }: { about: string }) {
  const list = groups.data.value
  const group = list?.find(({ id }) => id === about) ?? list?.find(({ name }) => name === about)
  const last = useRef(about)
  if (group !== undefined) last.current = group.name
  return (
    <Detail title={last.current} id="group-sheet" onClose={close}>
      {group === undefined ? (
        <p class="empty" role="status">
          {list === undefined
            ? 'The groups are being loaded…'
            : 'This account has no such group. If it was deleted, its members stay monitored.'}
        </p>
      ) : (
        <Content group={group} />
      )}
    </Detail>
  )
}

function Content({ group }: { group: Group }) {
  return (
    <>
      <div class="row">
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
      <Figures group={group} />
      <Members group={group} />
    </>
  )
}

/** The figures of all members together. */
function Figures({ group }: { group: Group }) {
  const { id, domains } = group
  const account = chosenAccount.value
  const now = summary.data.value?.account.now
  const { data, failure } = useAnswer(
    [JSON.stringify([account, id]), domains.join(), now && refreshDate(now)],
    domains.length === 0
      ? undefined
      : (signal) => call('getGroupOverview', { parameters: { account, group: id }, query: { days: DAYS }, signal }),
  )
  if (domains.length === 0) return null
  return (
    <Part title="Figures of the group">
      {failure !== undefined && (
        <p class="refusal bad">
          <ErrorText error={failure} />
        </p>
      )}
      {data === undefined && failure === undefined && <p class="soft">The figures are being loaded…</p>}
      {data !== undefined && (
        <>
          <p>{describeFigures(data)}</p>
          <PolicyMix data={data} />
          <History data={data} label={`DMARC of the group ${group.name}`} />
          <h4>Members that need attention</h4>
          <AttentionList data={data} label="Members that need attention" />
        </>
      )}
    </Part>
  )
}

function describeFigures({ domains, messages, passing, share, period_days }: Overview): string {
  const members = formatCount(domains, 'member')
  if (messages === null) return `There are no reports about the ${members} of the group.`
  if (messages === 0) return `Receivers reported no mail of its ${members} in ${period_days} days.`
  const passed = `${formatNumber(passing ?? 0)} of them (${formatShare(share)})`
  return `Its ${members} sent ${formatCount(messages, 'message')} in ${period_days} days, and ${passed} pass DMARC.`
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
        <div class="row">
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
              <Link class="mono truncate" tabIndex={tabIndex} title={member} to={{ tab: 'domains', subject: member }}>
                {member}
              </Link>
            </div>
          )}
        </LongList>
      )}
    </section>
  )
}
