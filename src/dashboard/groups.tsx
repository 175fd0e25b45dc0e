import { useRef } from 'preact/hooks'
import { change, domains, groups } from './data.ts'
import { askForNames } from './domain-changes.tsx'
import { DomainTable } from './domain-table.tsx'
import { formatCount, formatNumber, formatShown } from './formatting.ts'
import { chosenAccount, go, Link, parameter, setFilters, subject } from './place.tsx'
import type { BodyOf, Schemas } from './responses.ts'
import { Button, showNote } from './ui/elements.tsx'
import { ask, confirmed, type Field, SearchField } from './ui/forms.tsx'
import { type Column, Detail, findItems, ListAndDetail, Table, useSelection } from './ui/lists.tsx'
import { Loaded } from './ui/loaded.tsx'

type Group = Schemas['Group']

/** How many members a row of the list names. */
const PREVIEWED = 6

const search = parameter('search')

const COLUMNS: readonly Column<Group>[] = [
  {
    ...{ title: 'Name', class: 'name', by: ({ name }) => name.toLowerCase() },
    cell: ({ id, name }) => (
      <Link subject={id} current={subject.value === id}>
        <bdi>{name}</bdi>
      </Link>
    ),
  },
  {
    ...{ title: 'Members', class: 'late soft' },
    cell: ({ domains }) => domains.slice(0, PREVIEWED).join(', ') + (domains.length > PREVIEWED ? ' …' : ''),
  },
  { title: 'Id', class: 'rare soft mono', cell: ({ id }) => id },
  {
    ...{ title: 'Size', class: 'number', by: ({ domains }) => domains.length },
    cell: ({ domains }) => formatCount(domains.length, 'member'),
  },
]

export function GroupsView() {
  const about = subject.value
  return (
    <ListAndDetail title="Groups" detail={about !== undefined && <GroupDetail key={about} about={about} />}>
      <div class="row tools">
        <SearchField label="Search groups" text={search.value} onText={(text) => setFilters({ search: text })} />
        <Button words="New group…" kind="primary" work={createGroup} />
      </div>
      <Loaded of={groups.use()} what="the groups">
        {(all) => {
          const found = findItems(all, search.value, ({ id, name }) => [name, id])
          return (
            <>
              <p class="soft" role="status">
                {formatShown(found.length, all.length, 'group')}
              </p>
              {found.length > 0 && <Table label="Groups" columns={COLUMNS} items={found} keyOf={({ id }) => id} />}
              {found.length === 0 && (
                <p class="empty">
                  {all.length > 0
                    ? 'No group matches.'
                    : 'This account has no group. A group is a name for some of its monitored domains.'}
                </p>
              )}
            </>
          )
        }}
      </Loaded>
    </ListAndDetail>
  )
}

const nameField = (value = ''): Field => ({ name: 'name', label: 'Name', value })

async function createGroup(): Promise<void> {
  const account = chosenAccount.peek()
  await ask('New group', {
    fields: [nameField(), { name: 'domains', label: 'Members, one in each line, or none yet', as: 'names' }],
    submit: 'Create',
    async work(body: BodyOf<'createGroup'>) {
      await change('createGroup', { account }, body)
      showNote('The group was created.')
    },
  })
}

/** Everything about one group, of which the address has the id or the name. */
function GroupDetail({ about }: { about: string }) {
  const loaded = groups.use()
  const group = loaded.data?.find(({ id }) => id === about) ?? loaded.data?.find(({ name }) => name === about)
  // The name stays after the group was deleted.
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

function Content({ group: { id, name, domains: members } }: { group: Group }) {
  const parameters = { account: chosenAccount.value, group: id }
  const loaded = domains.use()
  const select = useSelection(members)
  // Another client may have removed some of them.
  const selected = select.among(members)
  const rename = () =>
    ask('Rename the group', {
      fields: [nameField(name)],
      submit: 'Rename',
      work: (body: BodyOf<'updateGroup'>) => change('updateGroup', parameters, body),
    })
  const add = () =>
    askForNames({
      ...{ title: 'Add members', submit: 'Add', word: 'member', field: 'add_domains' },
      about: 'Monitored domains, which may be members of other groups, too.',
      send: (names) => change('updateGroup', parameters, { add_domains: names }),
    })
  async function removeMembers(): Promise<void> {
    const isDone = await askForNames({
      title: `Remove ${formatCount(selected.length, 'member')} from the group?`,
      ...{ submit: 'Remove', word: 'member', field: 'remove_domains', names: selected },
      about: 'They stay monitored.',
      send: (names) => change('updateGroup', parameters, { remove_domains: names }),
    })
    if (isDone) select.clear()
  }
  async function remove(): Promise<void> {
    const text = `The group “\u2068${name}\u2069” is deleted. Its members stay monitored.`
    if (!(await confirmed('Delete the group?', text, 'Delete'))) return
    await change('deleteGroup', parameters)
    showNote('The group was deleted.')
    go({})
  }
  return (
    <>
      <div class="row deeds">
        <Button words="Add members…" kind="primary" work={add} />
        <Button words="Rename…" work={rename} />
        <Button words="Delete…" kind="danger" work={remove} />
        {selected.length > 0 && (
          <Button words={`Remove ${formatNumber(selected.length)}…`} kind="danger" work={removeMembers} />
        )}
      </div>
      <h3>{formatCount(members.length, 'member')}</h3>
      <p class="soft">
        Id <code>{id}</code>
      </p>
      <Loaded of={loaded} what="the members">
        {(all) =>
          members.length > 0 && (
            <DomainTable
              label="Members"
              domains={all.filter(({ domain }) => members.includes(domain))}
              select={select}
            />
          )
        }
      </Loaded>
    </>
  )
}
