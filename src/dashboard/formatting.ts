const LONG = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })
const SHORT = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
const TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' })
const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** Formats an RFC 3339 instant without fractions of a second. */
export function formatInstant(text: string): string {
  return text.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC')
}

/** Formats a count: `1 domain`, `1,200 domains`. */
export function formatCount(count: number, word: string): string {
  return `${formatNumber(count)} ${word}${count === 1 ? '' : 's'}`
}

/** Formats a count with a verb: `1 domain was added`, `3 domains were added`. */
export function formatDeed(count: number, word: string, deed: string): string {
  return `${formatCount(count, word)} ${count === 1 ? 'was' : 'were'} ${deed}.`
}

/** Formats the visible part of a list: `1,200 domains`, or `3 of 1,200 domains`. */
export function formatShown(shown: number, count: number, word: string): string {
  return shown === count ? formatCount(count, word) : `${formatNumber(shown)} of ${formatCount(count, word)}`
}

export function formatJson(value: unknown): string {
  return JSON.stringify(value, null, 2)
}

/** The value of a JSON text; `undefined` for any other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function formatDuration(milliseconds: number): string {
  return `${milliseconds < 10 ? milliseconds.toFixed(1) : formatNumber(Math.round(milliseconds))} ms`
}

/** Formats a day such as 2026-01-15 as `15 January 2026` or `15 Jan`. */
export function formatDay(day: string, form: 'long' | 'short' = 'long'): string {
  const instant = Date.parse(`${day}T00:00:00Z`)
  return Number.isNaN(instant) ? day : (form === 'long' ? LONG : SHORT).format(instant)
}

/** Formats the messages that receivers report; null if they report nothing, which is not the same as no mail. */
export function formatMessages(messages: number | null): string {
  return messages === null ? NO_REPORTS : formatNumber(messages)
}

export const NO_REPORTS = 'no reports'

/** Formats a share with one decimal like the service: `93.0 %`. Without a share, it says why, by the `messages`. */
export function formatShare(share: number | null, messages: number | null = 0): string {
  return share === null ? (messages === null ? NO_REPORTS : 'no mail') : `${share.toFixed(1)} %`
}

export function formatNumber(count: number, decimals = 0): string {
  return count.toLocaleString('en', { minimumFractionDigits: decimals })
}

/** Formats a number in a short form: `1.2M`. */
export function formatCompact(count: number): string {
  return COMPACT.format(count)
}

/** Formats an instant in milliseconds as `17:00`, or as `16 January 2026, 17:00` if its day is not that of `now`. */
export function formatMoment(instant: number, now?: number): string {
  const [day, time] = [LONG.format(instant), TIME.format(instant)]
  return now !== undefined && day === LONG.format(now) ? time : `${day}, ${time}`
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
