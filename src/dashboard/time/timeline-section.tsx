import type { ComponentChildren } from 'preact'
import { snapshots } from '../account-data.ts'
import { call } from '../client.ts'
import { Button } from '../controls/button.tsx'
import { confirmed } from '../controls/dialog.tsx'
import { Checkbox, Form, TextField, textOf } from '../controls/form.tsx'
import { Loaded } from '../controls/loaded.tsx'
import { Badge, Card } from '../controls/marks.tsx'
import { showNote } from '../controls/notices.tsx'
import { formatCount, formatInstant } from '../formatting.ts'
import { rewind } from '../requests/explanation.tsx'
import { targetOf } from '../requests/listed-request.ts'
import { StatusBadge } from '../requests/marks.tsx'
import { createResource, refreshShown } from '../resource.ts'
import type { JournalEntry, Snapshot } from '../responses.ts'
import { layTimeline, type Moment } from './timeline.ts'

const REQUESTS = 300
/** The requests come with their bodies, which may be large, so they are loaded at most this often. */
const MILLISECONDS_OF_REST = 3_000
const BODY = 120
const BROUGHT_BACK = 'State, keys, clock, quotas and fault rules go back to those of then. The journal stays.'

const requests = createResource({
  tabs: ['time'],
  afterRequests: 500,
  restOf: () => MILLISECONDS_OF_REST,
  load: (account) => call('listRequests', { parameters: { account }, query: { limit: REQUESTS } }),
})

/** The snapshots and requests on one line: all states that the account can return to. */
export function TimelineSection() {
  return (
    <Card id="timeline-title" title="Timeline">
      <p class="soft">
        A restore sets the account back to a snapshot, a rewind to just before a request: state, keys, clock, quotas and
        fault rules. The journal, the coverage and the snapshots stay.
      </p>
      <SnapshotForm />
      <Loaded of={snapshots}>
        {(taken) => (
          <Loaded of={requests}>
            {({ requests: shown, count }) => (
              <Moments moments={layTimeline(shown, taken)} shown={shown.length} count={count} />
            )}
          </Loaded>
        )}
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
    <Form id="snapshot-form" class="inline-form" submit="Take a snapshot" work={take}>
      <TextField label="Name" name="name" required maxLength={100} />
      <Checkbox name="replace" words="Replace an old one" />
    </Form>
  )
}

function Moments({ moments, shown, count }: { moments: readonly Moment[]; shown: number; count: number }) {
  if (moments.length === 0) {
    return (
      <p class="empty" id="snapshots">
        There is neither a snapshot nor a request yet. Take a snapshot before a change that you may want to undo.
      </p>
    )
  }
  return (
    <>
      <p class="soft">
        {count > shown
          ? `The latest ${shown} of ${formatCount(count, 'request')}, newest first.`
          : `All of ${formatCount(count, 'request')}, newest first.`}{' '}
        {moments.some(({ kind }) => kind === 'setback') &&
          'Requests are in the order in which they came. The clock went back in between, and of a snapshot only its time on the clock is known, so it may have been taken earlier or later than it stands here.'}
      </p>
      <ol class="timeline" id="snapshots">
        {moments.map((moment) => {
          const [key, line] = lineOf(moment)
          return (
            <li key={key} class={moment.kind}>
              {line}
            </li>
          )
        })}
      </ol>
    </>
  )
}

function lineOf(moment: Moment): [key: string, line: ComponentChildren] {
  switch (moment.kind) {
    case 'snapshot':
      return [`snapshot ${moment.snapshot.name}`, <SnapshotLine snapshot={moment.snapshot} />]
    case 'change':
      return [`request ${moment.request.ordinal}`, <ChangeLine request={moment.request} />]
    case 'rest':
      return [`rest ${moment.requests.at(-1)?.ordinal}`, <RestLine requests={moment.requests} />]
    case 'setback': {
      const [from, to] = [formatInstant(moment.from), formatInstant(moment.to)]
      const text = `Here the clock went back, from ${from} or later to ${to} or earlier.`
      return [`setback ${moment.from} ${moment.to}`, <span class="soft grow">{text}</span>]
    }
  }
}

function Instant({ at }: { at: string }) {
  return (
    <time class="mono" dateTime={at}>
      {formatInstant(at)}
    </time>
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
    <>
      <Instant at={taken_at} />
      <span class="grow">
        <Badge tone="odd">snapshot</Badge> <strong>{name}</strong>{' '}
        <span class="soft">
          {formatCount(domains, 'domain')} · {formatCount(groups, 'group')}
        </span>
      </span>
      <span class="row">
        <Button words="Restore" small work={restore} aria-label={`Restore ${name}`} />
        <Button words="Delete" small kind="danger" work={remove} aria-label={`Delete ${name}`} />
      </span>
    </>
  )
}

function ChangeLine({ request: exchange }: { request: JournalEntry }) {
  const { account, at, method, status, request } = exchange
  const line = `${method} ${targetOf(exchange)}`
  const body = request.body ?? ''
  return (
    <>
      <Instant at={at} />
      <span class="grow">
        <StatusBadge status={status} /> <strong class="mono">{line}</strong>{' '}
        <code class="soft">{body.length > BODY ? `${body.slice(0, BODY)}…` : body}</code>
      </span>
      {account !== null && (
        <Button
          words="Rewind to here…"
          small
          work={() => rewind(account, exchange)}
          aria-label={`Rewind to here…, just before ${line} at ${formatInstant(at)}`}
        />
      )}
    </>
  )
}

function RestLine({ requests: rest }: { requests: readonly JournalEntry[] }) {
  const [newest, oldest] = [rest[0], rest.at(-1)]
  if (newest === undefined || oldest === undefined) return null
  const refused = rest.filter(({ status }) => status === null || status >= 400).length
  return (
    <>
      <Instant at={newest.at} />
      <span class="grow soft">
        {rest.length === 1
          ? `${newest.method} ${newest.path}`
          : `${formatCount(rest.length, 'request')} that changed nothing${newest.at === oldest.at ? '' : `, since ${formatInstant(oldest.at)}`}`}
        {refused > 0 && (rest.length === 1 ? ', not a success' : `, ${refused} without success`)}
      </span>
    </>
  )
}
