const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })
const TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' })

/** Writes an instant, in milliseconds, as `17:00`, or as `16 January 2026, 17:00` if it is on another day than `now`. */
export function formatMoment(instant: number, now: number): string {
  const [day, time] = [DAY.format(instant), TIME.format(instant)]
  return day === DAY.format(now) ? time : `${day}, ${time}`
}

/** The value of a field for date and time, in UTC. */
export function toFieldValue(instant: number): string {
  return new Date(instant).toISOString().slice(0, 19)
}

/** The instant in RFC 3339 for the value of such a field, which may lack the seconds. The control plane checks it. */
export function toInstant(value: string): string {
  return `${value}Z`
}
