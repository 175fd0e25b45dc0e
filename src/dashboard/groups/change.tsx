import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { groups, summary } from '../account-data.ts'
import { openDialog } from '../controls/dialog.tsx'
import { TextField } from '../controls/fields.tsx'
import { textOf } from '../controls/form.tsx'
import { FirstNames } from '../controls/marks.tsx'
import { ServiceWay } from '../controls/service-way.tsx'
import { formatCount, formatDeed } from '../formatting.ts'
import { Refused } from '../refusals.ts'
import type { Group } from '../responses.ts'
import { chosenAccount } from '../selection.ts'
import { callService, type ServiceRequest } from '../service-calls.ts'
import { DomainPicker } from './picker.tsx'

/** Asks for a name and members, and creates the group by the rules of the service. Resolves to its name. */
export async function createGroup(): Promise<string | undefined> {
  const account = chosenAccount.peek()
  const chosen = signal<ReadonlySet<string>>(new Set())
  const content = (
    <>
      <NameField />
      <DomainPicker chosen={chosen} label="Members, which can also be added later" />
    </>
  )
  return openDialog('New group', withWay(content), {
    submit: 'Create',
    async work(fields) {
      const name = textOf(fields, 'name')
      const domains = [...chosen.peek()]
      await change('createDomainGroup', { account, body: { name, ...(domains.length > 0 && { domains }) } })
      return name
    },
    note: () => 'The group was created.',
  })
}

/** Asks for another name of the group. */
export async function renameGroup({ id, name }: Group): Promise<void> {
  const account = chosenAccount.peek()
  await openDialog('Rename the group', withWay(<NameField name={name} />), {
    submit: 'Rename',
    async work(fields) {
      const next = textOf(fields, 'name')
      if (next !== name) await change('updateDomainGroup', { account, query: { id }, body: { name: next } })
      return next
    },
    note: (next) => (next === name ? 'The name is the same as before.' : 'The group was renamed.'),
  })
}

/** Asks which domains become members. */
export async function addMembers({ id, domains }: Group): Promise<void> {
  const account = chosenAccount.peek()
  const chosen = signal<ReadonlySet<string>>(new Set())
  const content = <DomainPicker chosen={chosen} without={new Set(domains)} label="Domains that are no members yet" />
  await openDialog('Add members', withWay(content), {
    submit: 'Add',
    async work() {
      const names = [...chosen.peek()]
      if (names.length === 0) throw new Error('Choose at least one domain.')
      await change('updateDomainGroup', { account, query: { id }, body: { add_domains: names } })
      return names.length
    },
    note: (count) => formatDeed(count, 'member', 'added'),
  })
}

/** Asks for confirmation, and removes the members. Resolves to false if it did not. */
export async function removeMembers({ id }: Group, members: readonly string[]): Promise<boolean> {
  const account = chosenAccount.peek()
  const content = (
    <>
      <FirstNames names={members} />
      <p>They stay monitored.</p>
    </>
  )
  const removed = await openDialog(
    `Remove ${formatCount(members.length, 'member')} from the group?`,
    withWay(content),
    {
      submit: 'Remove',
      danger: true,
      async work() {
        await change('updateDomainGroup', { account, query: { id }, body: { remove_domains: members } })
        return true
      },
      note: () => formatDeed(members.length, 'member', 'removed'),
    },
  )
  return removed ?? false
}

/** Asks for confirmation, and deletes the group. Resolves to false if it did not. */
export async function deleteGroup({ id, name, domains }: Group): Promise<boolean> {
  const account = chosenAccount.peek()
  const content = (
    <p>
      The group <bdi class="name">{name}</bdi> is deleted.{' '}
      {domains.length > 0 &&
        `Its ${formatCount(domains.length, 'member')} ${domains.length === 1 ? 'stays' : 'stay'} monitored.`}
    </p>
  )
  const deleted = await openDialog('Delete the group?', withWay(content), {
    submit: 'Delete',
    danger: true,
    async work() {
      await change('deleteDomainGroup', { account, query: { id } })
      return true
    },
    note: () => 'The group was deleted.',
  })
  return deleted ?? false
}

/** Adds which way the change goes. */
function withWay(content: ComponentChildren) {
  return (
    <>
      {content}
      <ServiceWay />
    </>
  )
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
