import { type Signal, signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { groups, summary } from '../account-data.ts'
import { chosenAccount } from '../address.ts'
import { openDialog } from '../controls/dialog.tsx'
import { Checkbox, filterBy, NameBox, SearchField, TextField, textOf } from '../controls/form.tsx'
import { Loaded } from '../controls/loaded.tsx'
import { LongList } from '../controls/long-list.tsx'
import { FirstNames } from '../controls/marks.tsx'
import { monitored } from '../domains/monitored.ts'
import { formatCount, formatDeed } from '../formatting.ts'
import { Refused } from '../refusals.ts'
import type { Group, MonitoredDomain } from '../responses.ts'
import { changeAsService } from '../service-change.ts'

/** Asks for a name and members, and creates the group by the rules of the service. */
export function createGroup(): Promise<boolean> {
  const chosen = signal<ReadonlySet<string>>(new Set())
  const content = (
    <>
      <NameField />
      <DomainPicker chosen={chosen} label="Members, which can also be added later" />
    </>
  )
  return askForChange('New group', content, 'Create', async (change, fields) => {
    const domains = [...chosen.peek()]
    const body = { name: textOf(fields, 'name'), ...(domains.length > 0 && { domains }) }
    await change('createGroup', { body })
    return 'The group was created.'
  })
}

export function renameGroup({ id, name }: Group): Promise<boolean> {
  return askForChange('Rename the group', <NameField name={name} />, 'Rename', async (change, fields) => {
    const next = textOf(fields, 'name')
    if (next === name) return 'The name is the same as before.'
    await change('updateGroup', { group: id, body: { name: next } })
    return 'The group was renamed.'
  })
}

export function addMembers({ id, domains }: Group): Promise<boolean> {
  const chosen = signal<ReadonlySet<string>>(new Set())
  const content = <DomainPicker chosen={chosen} without={new Set(domains)} label="Domains that are no members yet" />
  return askForChange('Add members', content, 'Add', async (change) => {
    const names = [...chosen.peek()]
    if (names.length === 0) throw new Error('Choose at least one domain.')
    await change('updateGroup', { group: id, body: { add_domains: names } })
    return formatDeed(names.length, 'member', 'added')
  })
}

/** Asks for confirmation, and removes the members. */
export function removeMembers({ id }: Group, members: readonly string[]): Promise<boolean> {
  const title = `Remove ${formatCount(members.length, 'member')} from the group?`
  const content = (
    <>
      <FirstNames names={members} />
      <p>They stay monitored.</p>
    </>
  )
  return askForChange(title, content, 'Remove', async (change) => {
    await change('updateGroup', { group: id, body: { remove_domains: members } })
    return formatDeed(members.length, 'member', 'removed')
  })
}

/** Asks for confirmation, and deletes the group. */
export function deleteGroup({ id, name, domains }: Group): Promise<boolean> {
  const content = (
    <p>
      The group <bdi class="name">{name}</bdi> is deleted.{' '}
      {domains.length > 0 &&
        `Its ${formatCount(domains.length, 'member')} ${domains.length === 1 ? 'stays' : 'stay'} monitored.`}
    </p>
  )
  return askForChange('Delete the group?', content, 'Delete', async (change) => {
    await change('deleteGroup', { group: id })
    return 'The group was deleted.'
  })
}

type Change = (
  operation: 'createGroup' | 'updateGroup' | 'deleteGroup',
  request: { group?: string; body?: object },
) => Promise<void>

/**
 * Shows a form. `work` makes the change in the account that is chosen now, and resolves to the note about it. Resolves to
 * false if the user closes the form.
 */
async function askForChange(
  title: string,
  content: ComponentChildren,
  submit: 'Create' | 'Rename' | 'Add' | 'Remove' | 'Delete',
  work: (change: Change, fields: FormData) => Promise<string>,
): Promise<boolean> {
  const account = chosenAccount.peek()
  const note = await openDialog(title, content, {
    submit,
    danger: submit === 'Remove' || submit === 'Delete',
    work: (fields) => work((operation, request) => change(account, operation, request), fields),
    note: (words) => words,
  })
  return note !== undefined
}

/** Changes a group and reloads the data. A refusal also reloads: another client may have changed the group first. */
async function change(account: string, ...[operation, request]: Parameters<Change>): Promise<void> {
  try {
    await changeAsService(operation, { ...request, account })
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

interface PickerProps {
  chosen: Signal<ReadonlySet<string>>
  /** Domains that cannot be selected, because they are already members. */
  without?: ReadonlySet<string> | undefined
  label: string
}

function DomainPicker({ chosen, without, label }: PickerProps) {
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
          {(name, tabIndex) => (
            <NameBox
              class="choice"
              words={
                <span class="mono truncate" title={name}>
                  {name}
                </span>
              }
              name={name}
              selected={chosen}
              tabIndex={tabIndex}
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
