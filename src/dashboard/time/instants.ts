const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })
const TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' })

/** Formats an instant in milliseconds as `17:00`, or as `16 January 2026, 17:00` if its day is not that of `now`. */
export function formatMoment(instant: number, now?: number): string {
  const [day, time] = [DAY.format(instant), TIME.format(instant)]
  return now !== undefined && day === DAY.format(now) ? time : `${day}, ${time}`
}

/** Formats an instant in milliseconds as an editable text: in UTC, to the minute. */
export function writeMinute(instant: number): string {
  return new Date(instant).toISOString().slice(0, 16).replace('T', ' ')
}

/** A day, perhaps a time, and perhaps an offset from UTC. */
const WRITTEN = /^(\d{4,}-\d\d-\d\d)(?:[T ]+(\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?\s*(?:Z|UTC|([+-]\d\d:\d\d))?$/i

/** Converts the text of the user to RFC 3339. The control plane explains the error in any other text. */
export function readWritten(text: string): string {
  const [, day, time = '00:00', offset = 'Z'] = WRITTEN.exec(text.trim()) ?? []
  return day === undefined ? text : `${day}T${time}${offset}`
}
