import { useRef } from 'preact/hooks'
import { readOrder, sortDomains } from '../domains/selection.ts'
import { DomainTable } from '../domains/table.tsx'
import { formatCount, formatNumber, formatShown } from '../formatting.ts'
import { go, Link, parameter, setFilters, subject } from '../place.tsx'
import type { Group } from '../responses.ts'
import { domains, groupByDomain, groups } from '../sources.ts'
import { Button } from '../ui/button.tsx'
import { Detail, ListAndDetail } from '../ui/detail.tsx'
import { SearchField } from '../ui/form.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { findItems, useFirst, useSelection } from '../ui/rows.tsx'
import { addMembers, createGroup, deleteGroup, removeMembers, renameGroup } from './change.tsx'

/** How many members a row of the list names. */
const PREVIEWED = 6

const search = parameter('search')

const sort = parameter('sort')

export function GroupsView() {
  const about = subject.value
  async function create(): Promise<void> {
    // Without the search, the list shows the new group.
    if (await createGroup()) setFilters({ search: '' })
  }
  return (
    <ListAndDetail detail={about !== undefined && <GroupDetail key={about} about={about} />}>
      <h2 class="unseen">Groups</h2>
      <div class="row tools">
        <SearchField label="Search groups" text={search.value} onText={(text) => setFilters({ search: text })} />
        <Button words="New group…" kind="primary" work={create} />
      </div>
      <Loaded of={groups.use()} what="the groups">
        {(all) => <Rows all={all} />}
      </Loaded>
    </ListAndDetail>
  )
}

function Rows({ all }: { all: readonly Group[] }) {
  const found = findItems(all, search.value, ({ id, name }) => [name, id])
  const [first, more] = useFirst(found, search.value)
  return (
    <>
      <p class="soft" role="status">
        {formatShown(found.length, all.length, 'group')}
      </p>
      {found.length === 0 ? (
        <p class="empty">
          {all.length === 0
            ? 'This account has no group. A group is a name for some of its monitored domains.'
            : 'No group matches.'}
        </p>
      ) : (
        <div class="table">
          <table aria-label="Groups">
            <thead>
              <tr>
                <th>Name</th>
                <th class="late">Members</th>
                <th class="rare">Id</th>
                <th class="number">Size</th>
              </tr>
            </thead>
            <tbody>
              {first.map(({ id, name, domains }) => (
                <tr key={id} data-group={name}>
                  <td class="wide">
                    <Link subject={id} current={subject.value === id}>
                      <bdi class="name">{name}</bdi>
                    </Link>
                  </td>
                  <td class="late soft mono">
                    {domains.slice(0, PREVIEWED).join(', ')}
                    {domains.length > PREVIEWED && ', …'}
                  </td>
                  <td class="rare soft mono">{id}</td>
                  <td class="number">{formatCount(domains.length, 'member')}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {more}
        </div>
      )}
    </>
  )
}

/** Everything about one group, of which the address has the id or the name. */
function GroupDetail({ about }: { about: string }) {
  const loaded = groups.use()
  const group = loaded.data?.find(({ id }) => id === about) ?? loaded.data?.find(({ name }) => name === about)
  const last = useRef(about)
  if (group !== undefined) last.current = group.name
  return (
    <Detail title={last.current}>
      <Loaded of={loaded} what="the groups">
        {() =>
          group === undefined ? (
            <p class="empty" role="status">
              This account has no such group. If it was deleted, its members stay monitored.
            </p>
          ) : (
            <Content group={group} />
          )
        }
      </Loaded>
    </Detail>
  )
}

function Content({ group }: { group: Group }) {
  async function remove(): Promise<void> {
    if (await deleteGroup(group)) go({})
  }
  return (
    <>
      <div class="row">
        <Button words="Add members…" kind="primary" work={() => addMembers(group)} />
        <Button words="Rename…" work={() => renameGroup(group)} />
        <Button words="Delete…" kind="danger" work={remove} />
      </div>
      <p class="soft">
        Id <span class="mono">{group.id}</span>
      </p>
      <Members group={group} />
    </>
  )
}

/** The members, with their figures. */
function Members({ group }: { group: Group }) {
  const { id, domains: members } = group
  const loaded = domains.use()
  const all = loaded.data?.filter(({ domain }) => members.includes(domain)) ?? []
  const order = readOrder(sort.value)
  const byDomain = groupByDomain(groups.use().data ?? [])
  const selection = useSelection(members)
  // Another client may have removed some of them.
  const selected = selection.among(members)
  async function remove(): Promise<void> {
    if (await removeMembers(group, selected)) selection.clear()
  }
  return (
    <section class="stack" aria-label="Members">
      <div class="row">
        <h3 class="grow">{formatCount(members.length, 'member')}</h3>
        {selected.length > 0 && (
          <Button words={`Remove ${formatNumber(selected.length)}…`} kind="danger" work={remove} />
        )}
      </div>
      {members.length === 0 && <p class="empty">The group has no member.</p>}
      <Loaded of={loaded} what="the members">
        {() =>
          all.length > 0 && (
            <DomainTable
              domains={sortDomains(all, order, byDomain)}
              groups={byDomain}
              order={order}
              selection={selection}
              label="Members"
              about={id}
            />
          )
        }
      </Loaded>
    </section>
  )
}
