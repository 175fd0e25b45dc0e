const LONG = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })
const SHORT = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

export const NO_REPORTS = 'no reports'

/** Formats an RFC 3339 instant without fractions of a second. */
export function formatInstant(text: string): string {
  return text.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC')
}

/** Formats a day such as 2026-01-15 as `15 January 2026` or `15 Jan`. */
export function formatDay(day: string, form: 'long' | 'short' = 'long'): string {
  const instant = Date.parse(`${day}T00:00:00Z`)
  return Number.isNaN(instant) ? day : (form === 'long' ? LONG : SHORT).format(instant)
}

export function formatNumber(count: number, decimals = 0): string {
  return count.toLocaleString('en', { minimumFractionDigits: decimals })
}

/** Formats a number in a short form: `1.2M`. */
export function formatCompact(count: number): string {
  return COMPACT.format(count)
}

/** Formats a count: `1 domain`, `1,200 domains`. */
export function formatCount(count: number, word: string): string {
  return `${formatNumber(count)} ${word}${count === 1 ? '' : 's'}`
}

/** Formats the visible part of a list: `1,200 domains`, or `3 of 1,200 domains`. */
export function formatShown(shown: number, count: number, word: string): string {
  return shown === count ? formatCount(count, word) : `${formatNumber(shown)} of ${formatCount(count, word)}`
}

/** Formats the messages that receivers report; null if they report nothing, which is not the same as no mail. */
export function formatMessages(messages: number | null): string {
  return messages === null ? NO_REPORTS : formatNumber(messages)
}

/** Formats a share with one decimal like the service: `93.0 %`. Without a share, it says why, by the `messages`. */
export function formatShare(share: number | null, messages: number | null = 0): string {
  return share === null ? (messages === null ? NO_REPORTS : 'no mail') : `${share.toFixed(1)} %`
}

export function formatDuration(milliseconds: number): string {
  return `${milliseconds < 10 ? milliseconds.toFixed(1) : formatNumber(Math.round(milliseconds))} ms`
}

export function formatJson(value: unknown): string {
  return JSON.stringify(value, null, 2)
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
