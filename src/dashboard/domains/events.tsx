import { formatDay } from '../formatting.ts'
import type { DomainEvent } from '../responses.ts'

/** What changes the figures of a domain. What has not begun by the clock of the account stands apart as planned. */
export function Events({ events }: { events: readonly DomainEvent[] }) {
  if (events.length === 0) return <p class="soft">Nothing changes its figures but weekdays and seasons.</p>
  const planned = events.filter(({ state }) => state === 'planned')
  const begun = events.filter(({ state }) => state !== 'planned')
  return (
    <>
      {begun.length > 0 && <List id="domain-events" events={begun} />}
      {planned.length > 0 && (
        <>
          <h4>Planned</h4>
          <p class="soft">By the clock of this account, none of this has begun yet.</p>
          <List id="planned-events" events={planned} />
        </>
      )}
    </>
  )
}

function List({ id, events }: { id: string; events: readonly DomainEvent[] }) {
  return (
    <ul class="list stack" id={id}>
      {events.map((event) => (
        <li key={`${event.from} ${event.description}`}>
          <span class="soft">{describePeriod(event)}</span>
          <div>{event.description}</div>
        </li>
      ))}
    </ul>
  )
}

function describePeriod({ state, from, until }: DomainEvent): string {
  const [begin, end] = [from, until].map((day) => (day === null ? '' : formatDay(day)))
  if (state === 'past') return from === null ? `Until ${end}` : `${begin} to ${end}`
  if (state === 'planned') return until === null ? `From ${begin}` : `From ${begin} to ${end}`
  const since = from === null ? 'Always' : `Since ${begin}`
  return until === null ? since : `${since}, planned until ${end}`
}
