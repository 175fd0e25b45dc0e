import type { ComponentChildren } from 'preact'
import { refreshShown } from '../data.ts'
import { formatCount } from '../formatting.ts'
import { chosenAccount } from '../place.tsx'
import type { Group } from '../responses.ts'
import { changeAsService } from '../service-change.ts'
import { openDialog } from '../ui/dialog.tsx'
import { TextField, textOf } from '../ui/form.tsx'
import { askForNames, readNames } from '../ui/names.tsx'

/** Asks for a name and members, and creates the group by the rules of the service. */
export function createGroup(): Promise<boolean> {
  const account = chosenAccount.peek()
  const content = (
    <>
      <NameField />
      <label>
        Members, one in each line, which can also be added later
        <textarea name="domains" rows={6} class="mono" spellcheck={false} autocapitalize="none" />
      </label>
    </>
  )
  return askForChange('New group', content, 'Create', async (fields) => {
    const domains = readNames(textOf(fields, 'domains')).map(({ name }) => name)
    const body = { name: textOf(fields, 'name'), ...(domains.length > 0 && { domains }) }
    await changeAsService('createGroup', { account, body })
    return 'The group was created.'
  })
}

export function renameGroup({ id, name }: Group): Promise<boolean> {
  const account = chosenAccount.peek()
  return askForChange('Rename the group', <NameField name={name} />, 'Rename', async (fields) => {
    const next = textOf(fields, 'name')
    if (next === name) return 'The name is the same as before.'
    await changeAsService('updateGroup', { account, group: id, body: { name: next } })
    return 'The group was renamed.'
  })
}

export function addMembers({ id }: Group): Promise<boolean> {
  const account = chosenAccount.peek()
  return askForNames({
    ...{ title: 'Add members', submit: 'Add', word: 'member' },
    about: <p class="soft">Monitored domains, which may be members of other groups, too.</p>,
    send: (names) => changeAsService('updateGroup', { account, group: id, body: { add_domains: names } }),
  })
}

/** Asks for confirmation, and removes the members. */
export function removeMembers({ id }: Group, members: readonly string[]): Promise<boolean> {
  const account = chosenAccount.peek()
  return askForNames({
    ...{ title: `Remove ${formatCount(members.length, 'member')} from the group?`, submit: 'Remove', word: 'member' },
    names: members,
    about: <p>They stay monitored.</p>,
    send: (names) => changeAsService('updateGroup', { account, group: id, body: { remove_domains: names } }),
  })
}

/** Asks for confirmation, and deletes the group. */
export function deleteGroup({ id, name, domains }: Group): Promise<boolean> {
  const account = chosenAccount.peek()
  const content = (
    <p>
      The group <bdi class="name">{name}</bdi> is deleted.{' '}
      {domains.length > 0 &&
        `Its ${formatCount(domains.length, 'member')} ${domains.length === 1 ? 'stays' : 'stay'} monitored.`}
    </p>
  )
  return askForChange('Delete the group?', content, 'Delete', async () => {
    await changeAsService('deleteGroup', { account, group: id })
    return 'The group was deleted.'
  })
}

/** Shows a form. `work` makes the change, and resolves to the note about it. Resolves to false if the user closes the form. */
async function askForChange(
  title: string,
  content: ComponentChildren,
  submit: 'Create' | 'Rename' | 'Delete',
  work: (fields: FormData) => Promise<string>,
): Promise<boolean> {
  const note = await openDialog(title, content, {
    submit,
    danger: submit === 'Delete',
    async work(fields) {
      try {
        return await work(fields)
      } finally {
        // A refusal also reloads: another client may have changed the group first.
        await refreshShown()
      }
    },
    note: (words) => words,
  })
  return note !== undefined
}

function NameField({ name = '' }: { name?: string }) {
  return <TextField label="Name" name="name" class="name" defaultValue={name} dir="auto" spellcheck={false} autofocus />
}
