import { type Signal, signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { groups, summary } from '../account-data.ts'
import { openDialog, type Question } from '../controls/dialog.tsx'
import { Checkbox, filterBy, NameBox, SearchField, TextField, textOf } from '../controls/form.tsx'
import { Loaded } from '../controls/loaded.tsx'
import { LongList } from '../controls/long-list.tsx'
import { FirstNames } from '../controls/marks.tsx'
import { ServiceWay } from '../controls/service-way.tsx'
import { monitored } from '../domains/monitored.ts'
import { formatCount, formatDeed } from '../formatting.ts'
import { Refused } from '../refusals.ts'
import type { Group, MonitoredDomain } from '../responses.ts'
import { chosenAccount } from '../selection.ts'
import { callService, type ServiceRequest } from '../service-calls.ts'

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
  return askForChange('New group', content, {
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

export async function renameGroup({ id, name }: Group): Promise<void> {
  const account = chosenAccount.peek()
  await askForChange('Rename the group', <NameField name={name} />, {
    submit: 'Rename',
    async work(fields) {
      const next = textOf(fields, 'name')
      if (next !== name) await change('updateDomainGroup', { account, query: { id }, body: { name: next } })
      return next
    },
    note: (next) => (next === name ? 'The name is the same as before.' : 'The group was renamed.'),
  })
}

export async function addMembers({ id, domains }: Group): Promise<void> {
  const account = chosenAccount.peek()
  const chosen = signal<ReadonlySet<string>>(new Set())
  const content = <DomainPicker chosen={chosen} without={new Set(domains)} label="Domains that are no members yet" />
  await askForChange('Add members', content, {
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
  const removed = await askForChange(`Remove ${formatCount(members.length, 'member')} from the group?`, content, {
    submit: 'Remove',
    danger: true,
    async work() {
      await change('updateDomainGroup', { account, query: { id }, body: { remove_domains: members } })
      return true
    },
    note: () => formatDeed(members.length, 'member', 'removed'),
  })
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
  const deleted = await askForChange('Delete the group?', content, {
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

/** Shows a form that also says which way the change goes. */
function askForChange<Result>(title: string, content: ComponentChildren, question: Question<Result>) {
  const whole = (
    <>
      {content}
      <ServiceWay />
    </>
  )
  return openDialog(title, whole, question)
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
          {(name, { tabIndex }) => (
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
