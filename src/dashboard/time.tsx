import { useEffect, useState } from 'preact/hooks'
import { change, readTimer, snapshots, summary } from './data.ts'
import { formatCount, formatInstant } from './formatting.ts'
import type { BodyOf, Schemas } from './responses.ts'
import { Badge, Button, Card, showNote } from './ui/elements.tsx'
import { confirmed, Form } from './ui/forms.tsx'
import { Loaded } from './ui/loaded.tsx'

const MILLISECONDS_OF_TICK = 1_000

/** The instant that the clock of the chosen account shows, once it is known. It goes on. */
function useClock(): { now: string; frozen: boolean } | undefined {
  const { data } = summary.use()
  const [, tick] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => tick((ticks) => ticks + 1), MILLISECONDS_OF_TICK)
    return () => clearInterval(timer)
  }, [])
  if (data === undefined) return undefined
  const { now, frozen } = data.account
  return { now: new Date(Date.parse(now) + (frozen ? 0 : readTimer() - data.at)).toISOString(), frozen }
}

const changeClock = (body: BodyOf<'updateClock'>) => change('updateClock', {}, body)

const STEPS = [
  ['+1 hour', { advance: 'PT1H' }, 'an hour later'],
  ['+1 day', { advance: 'P1D' }, 'a day later'],
  ['Next window', { to: 'window-end' }, 'a used quota is refilled'],
  ['Next refresh', { to: 'refresh' }, 'GET /dmarc has new figures'],
] as const

export function TimeView() {
  return (
    <>
      <Clock />
      <Snapshots />
    </>
  )
}

function Clock() {
  const clock = useClock()
  if (clock === undefined) return null
  const { now, frozen } = clock
  return (
    <Card title="The clock of this account">
      <div class="row">
        <time dateTime={now} class={`figure ${frozen ? 'frozen' : ''}`}>
          {formatInstant(now)}
        </time>
        <Badge tone={frozen ? 'odd' : 'good'}>{frozen ? 'frozen' : 'running'}</Badge>
        <Button words={frozen ? 'Unfreeze' : 'Freeze'} work={() => changeClock({ frozen: !frozen })} />
      </div>
      <div class="tiles">
        {STEPS.map(([words, step, leads]) => (
          <div key={words} class="stack">
            <Button words={words} work={() => changeClock(step)} />
            <span class="soft">{leads}</span>
          </div>
        ))}
      </div>
      <Form
        fields={[
          {
            name: 'now',
            label: 'To an instant (UTC)',
            type: 'datetime-local',
            value: now.slice(0, 16),
            required: true,
          },
        ]}
        submit="Set the clock"
        work={({ now: minute }: { now: string }) => changeClock({ now: `${minute}:00Z` })}
      />
    </Card>
  )
}

export function ClockLine() {
  const clock = useClock()
  if (clock === undefined) return null
  const { now, frozen } = clock
  return (
    <div class="row">
      <time dateTime={now} class={`mono ${frozen ? 'frozen' : ''}`} title="The clock of this account">
        {formatInstant(now)}
      </time>
      <span class="soft">{frozen ? 'frozen' : 'running'}</span>
      {STEPS.slice(0, 2).map(([words, step]) => (
        <span key={words} class="late">
          <Button
            words={words}
            kind="small"
            aria-label={`${words} on the account's clock`}
            work={() => changeClock(step)}
          />
        </span>
      ))}
    </div>
  )
}

/** The states of the account that were kept under a name. The details of a request lead back to just before it. */
function Snapshots() {
  async function take(body: BodyOf<'takeSnapshot'>, form: HTMLFormElement): Promise<void> {
    await change('takeSnapshot', {}, body)
    form.reset()
  }
  return (
    <Card title="Snapshots">
      <p class="soft">
        A restore sets the account back to a snapshot: state, keys, clock, quotas and fault rules. The journal, the
        coverage and the snapshots stay. To go back to just before a request, open it under “Requests”.
      </p>
      <Form
        fields={[
          { name: 'name', label: 'Name', required: true },
          { name: 'replace', label: 'Replace one that exists', type: 'checkbox', as: 'true or false' },
        ]}
        submit="Take a snapshot"
        work={take}
      />
      <Loaded of={snapshots.use()} what="the snapshots">
        {(taken) => (
          <ul class="ruled">
            {taken.map((snapshot) => (
              <SnapshotLine key={snapshot.name} {...snapshot} />
            ))}
            {taken.length === 0 && <li class="empty">There is no snapshot yet.</li>}
          </ul>
        )}
      </Loaded>
    </Card>
  )
}

function SnapshotLine({ name, taken_at, domains, groups }: Schemas['Snapshot']) {
  async function restore(): Promise<void> {
    const text = 'State, keys, clock, quotas and fault rules go back to those of then. The journal stays.'
    if (!(await confirmed(`Restore the snapshot ${name}?`, text, 'Restore'))) return
    await change('restoreSnapshot', { snapshot: name })
    showNote(`The snapshot ${name} was restored.`)
  }
  async function remove(): Promise<void> {
    if (!(await confirmed(`Delete the snapshot ${name}?`, 'The account does not change.', 'Delete'))) return
    await change('deleteSnapshot', { snapshot: name })
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
      <Button words="Restore" kind="small" work={restore} aria-label={`Restore ${name}`} />
      <Button words="Delete" kind="small danger" work={remove} aria-label={`Delete ${name}`} />
    </li>
  )
}
