import { signal } from '@preact/signals'
import { groups, summary } from '../account-data.ts'
import { openDialog } from '../controls/dialog.tsx'
import { TextField } from '../controls/fields.tsx'
import { textOf } from '../controls/form.tsx'
import { showNote } from '../controls/notices.tsx'
import { ServiceWay } from '../controls/service-way.tsx'
import { formatCount, formatDeed } from '../formatting.ts'
import { Refused } from '../refusals.ts'
import type { Group } from '../responses.ts'
import { chosenAccount } from '../selection.ts'
import { callService, type ServiceRequest } from '../service-calls.ts'
import { DomainPicker } from './picker.tsx'

/** How many members the confirmation lists. */
const LISTED = 10

/** Asks for a name and members, and creates the group by the rules of the service. Resolves to its name. */
export async function createGroup(): Promise<string | undefined> {
  const account = chosenAccount.peek()
  const chosen = signal<ReadonlySet<string>>(new Set())
  const content = (
    <>
      <NameField />
      <DomainPicker chosen={chosen} label="Members, which can also be added later" />
      <ServiceWay />
    </>
  )
  const created = await openDialog('New group', content, {
    submit: 'Create',
    async work(fields) {
      const name = textOf(fields, 'name')
      const domains = [...chosen.peek()]
      await change('createDomainGroup', { account, body: { name, ...(domains.length > 0 && { domains }) } })
      return name
    },
  })
  if (created !== undefined) showNote('The group was created.')
  return created
}

/** Asks for another name of the group. */
export async function renameGroup({ id, name }: Group): Promise<void> {
  const account = chosenAccount.peek()
  const content = (
    <>
      <NameField name={name} />
      <ServiceWay />
    </>
  )
  const renamed = await openDialog('Rename the group', content, {
    submit: 'Rename',
    async work(fields) {
      const next = textOf(fields, 'name')
      if (next === name) return false
      await change('updateDomainGroup', { account, query: { id }, body: { name: next } })
      return true
    },
  })
  if (renamed !== undefined) showNote(renamed ? 'The group was renamed.' : 'The name is the same as before.')
}

/** Asks which domains become members. */
export async function addMembers({ id, domains }: Group): Promise<void> {
  const account = chosenAccount.peek()
  const chosen = signal<ReadonlySet<string>>(new Set())
  const content = (
    <>
      <DomainPicker chosen={chosen} without={new Set(domains)} label="Domains that are no members yet" />
      <ServiceWay />
    </>
  )
  const added = await openDialog('Add members', content, {
    submit: 'Add',
    async work() {
      const names = [...chosen.peek()]
      if (names.length === 0) throw new Error('Choose at least one domain.')
      await change('updateDomainGroup', { account, query: { id }, body: { add_domains: names } })
      return names.length
    },
  })
  if (added !== undefined) showNote(formatDeed(added, 'member', 'added'))
}

/** Asks for confirmation, and removes the members. Resolves to false if it did not. */
export async function removeMembers({ id }: Group, members: readonly string[]): Promise<boolean> {
  const account = chosenAccount.peek()
  const rest = members.length - LISTED
  const content = (
    <>
      <ul class="mono">
        {members.slice(0, LISTED).map((member) => (
          <li key={member}>{member}</li>
        ))}
        {rest > 0 && <li>and {formatCount(rest, 'other')}</li>}
      </ul>
      <p>They stay monitored.</p>
      <ServiceWay />
    </>
  )
  const removed = await openDialog(`Remove ${formatCount(members.length, 'member')} from the group?`, content, {
    submit: 'Remove',
    danger: true,
    async work() {
      await change('updateDomainGroup', { account, query: { id }, body: { remove_domains: members } })
      return true
    },
  })
  if (removed) showNote(formatDeed(members.length, 'member', 'removed'))
  return removed ?? false
}

/** Asks for confirmation, and deletes the group. Resolves to false if it did not. */
export async function deleteGroup({ id, name, domains }: Group): Promise<boolean> {
  const account = chosenAccount.peek()
  const content = (
    <>
      <p>
        The group <bdi class="name">{name}</bdi> is deleted.{' '}
        {domains.length > 0 &&
          `Its ${formatCount(domains.length, 'member')} ${domains.length === 1 ? 'stays' : 'stay'} monitored.`}
      </p>
      <ServiceWay />
    </>
  )
  const deleted = await openDialog('Delete the group?', content, {
    submit: 'Delete',
    danger: true,
    async work() {
      await change('deleteDomainGroup', { account, query: { id } })
      return true
    },
  })
  if (deleted) showNote('The group was deleted.')
  return deleted ?? false
}

/** Changes a group and reloads the data. A refusal also reloads: another client may have changed the group first. */
async function change(operation: string, request: ServiceRequest): Promise<void> {
  try {
    await callService(operation, request)
  } catch (error) {
    if (error instanceof Refused && error.code === 'not_found') await refresh()
    throw error
  }
  await refresh()
}

async function refresh(): Promise<void> {
  await Promise.allSettled([groups.refresh(), summary.refresh()])
}

function NameField({ name = '' }: { name?: string }) {
  return <TextField label="Name" name="name" class="name" defaultValue={name} dir="auto" spellcheck={false} autofocus />
}
