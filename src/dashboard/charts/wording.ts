const LONG = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })
const SHORT = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** Writes a day such as 2026-01-15 as `15 January 2026`, or `15 Jan`. */
export function formatDay(day: string, form: 'long' | 'short' = 'long'): string {
  const instant = Date.parse(`${day}T00:00:00Z`)
  return Number.isNaN(instant) ? day : (form === 'long' ? LONG : SHORT).format(instant)
}

/** Writes a share with one decimal, as the service does: `93.0 %`. */
export function formatShare(share: number | null): string {
  return share === null ? 'no mail' : `${share.toFixed(1)} %`
}

export function formatNumber(count: number, decimals = 0): string {
  return count.toLocaleString('en', { minimumFractionDigits: decimals })
}

/** Writes a number in the room of a few letters: `1.2M`. */
export function formatCompact(count: number): string {
  return COMPACT.format(count)
}
