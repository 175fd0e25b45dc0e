const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })
const TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' })

/** Writes an instant, in milliseconds, as `17:00`, or as `16 January 2026, 17:00` if it is on another day than `now`. */
export function formatMoment(instant: number, now?: number): string {
  const [day, time] = [DAY.format(instant), TIME.format(instant)]
  return now !== undefined && day === DAY.format(now) ? time : `${day}, ${time}`
}

/** How a person writes an instant, in milliseconds: in UTC, to the minute. */
export function writeMinute(instant: number): string {
  return new Date(instant).toISOString().slice(0, 16).replace('T', ' ')
}

/** A day, perhaps a time, and perhaps an offset from UTC. */
const WRITTEN = /^(\d{4,}-\d\d-\d\d)(?:[T ]+(\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?\s*(?:Z|UTC|([+-]\d\d:\d\d))?$/i

/** What a person has written as an instant, in RFC 3339; any other text stays as it is, and the control plane says why. */
export function readWritten(text: string): string {
  const [, day, time = '00:00', offset = 'Z'] = WRITTEN.exec(text.trim()) ?? []
  return day === undefined ? text : `${day}T${time}${offset}`
}
