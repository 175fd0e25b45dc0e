import { call } from '../client.ts'
import { refreshShown } from '../data.ts'
import { formatCount, formatInstant } from '../formatting.ts'
import type { Snapshot } from '../responses.ts'
import { snapshots } from '../sources.ts'
import { Button } from '../ui/button.tsx'
import { confirmed } from '../ui/dialog.tsx'
import { Checkbox, Form, TextField, textOf } from '../ui/form.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Card } from '../ui/marks.tsx'
import { showNote } from '../ui/notices.tsx'

const BROUGHT_BACK = 'State, keys, clock, quotas and fault rules go back to those of then. The journal stays.'

/** The states of the account that were kept under a name. The details of a request lead back to just before it. */
export function SnapshotSection() {
  return (
    <Card id="snapshots-title" title="Snapshots">
      <p class="soft">
        A restore sets the account back to a snapshot: state, keys, clock, quotas and fault rules. The journal, the
        coverage and the snapshots stay. To go back to just before a request, open it under “Requests”.
      </p>
      <SnapshotForm />
      <Loaded of={snapshots.use()} what="the snapshots">
        {(taken) =>
          taken.length === 0 ? (
            <p class="empty">There is no snapshot yet. Take one before a change that you may want to undo.</p>
          ) : (
            <ul class="ruled">
              {taken.map((snapshot) => (
                <SnapshotLine key={snapshot.name} snapshot={snapshot} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  )
}

function SnapshotForm() {
  async function take(fields: FormData, form: HTMLFormElement): Promise<void> {
    const name = textOf(fields, 'name')
    await call('takeSnapshot', { body: { name, ...(fields.has('replace') && { replace: true as const }) } })
    form.reset()
    await refreshShown()
  }
  return (
    <Form submit="Take a snapshot" work={take}>
      <TextField label="Name" name="name" required maxLength={100} />
      <Checkbox name="replace" words="Replace an old one" />
    </Form>
  )
}

function SnapshotLine({ snapshot: { name, taken_at, domains, groups } }: { snapshot: Snapshot }) {
  async function restore(): Promise<void> {
    if (!(await confirmed(`Restore the snapshot ${name}?`, BROUGHT_BACK, 'Restore'))) return
    await call('restoreSnapshot', { parameters: { snapshot: name } })
    showNote(`The snapshot ${name} was restored.`)
    await refreshShown()
  }
  async function remove(): Promise<void> {
    if (!(await confirmed(`Delete the snapshot ${name}?`, 'The account does not change.', 'Delete'))) return
    await call('deleteSnapshot', { parameters: { snapshot: name } })
    await refreshShown()
  }
  return (
    <li class="row">
      <span class="grow">
        <strong>
          <bdi>{name}</bdi>
        </strong>{' '}
        <span class="soft">
          {formatInstant(taken_at)} · {formatCount(domains, 'domain')} · {formatCount(groups, 'group')}
        </span>
      </span>
      <Button words="Restore" small work={restore} aria-label={`Restore ${name}`} />
      <Button words="Delete" small kind="danger" work={remove} aria-label={`Delete ${name}`} />
    </li>
  )
}
