import { clamp, LIMITS } from './limits.ts'

/** The class at the first load: a test can replace the global one later. */
const RealDate = Date

// The text is stored as given, so the digits of a fraction and of a duration are limited.
const INSTANT = /^\d{4}-\d\d-(\d\d)T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/
const DURATION = /^P(?:(\d{1,15})W|(?:(\d{1,15})D)?(?:T(?=\d)(?:(\d{1,15})H)?(?:(\d{1,15})M)?(?:(\d{1,15})S)?)?)$/

/**
 * The milliseconds of an ISO 8601 duration of weeks, or of days, hours, minutes and seconds; `undefined` for any other
 * text. Months and years are not accepted, because their length depends on their beginning.
 */
export function parseDuration(text: string): number | undefined {
  const parts = DURATION.exec(text)
  if (parts === null || text === 'P') return undefined
  const [weeks, days, hours, minutes, seconds] = parts.slice(1).map((part) => Number(part ?? 0))
  return ((((weeks ?? 0) * 7 + (days ?? 0)) * 24 + (hours ?? 0)) * 60 + (minutes ?? 0)) * 60_000 + (seconds ?? 0) * 1000
}

/**
 * Milliseconds since the Unix epoch as an RFC 3339 instant. A time outside 1970 to 9999 becomes the nearest one inside.
 */
export function writeInstant(milliseconds: number): string {
  const { firstInstant, lastInstant } = LIMITS
  return new RealDate(clamp(milliseconds, firstInstant, lastInstant)).toISOString().replace('.000Z', 'Z')
}

/** Whether the text is an RFC 3339 instant of an existing day, in UTC from 1970 to 9999. */
export function isInstant(text: string): boolean {
  const day = INSTANT.exec(text)?.[1]
  if (day === undefined) return false
  const instant = RealDate.parse(text)
  if (!(instant >= LIMITS.firstInstant && instant <= LIMITS.lastInstant)) return false
  // `Date.parse` reads 30 February as 2 March.
  return new RealDate(`${text.slice(0, 10)}T00:00Z`).getUTCDate() === Number(day)
}

/** A number of days since 1970 as a calendar day, such as 2026-01-15. */
export function writeDay(day: number): string {
  return writeInstant(day * 86_400_000).slice(0, 10)
}

/** The number of days from 1970 to a calendar day; `undefined` if there is no such day. */
export function readDay(text: string): number | undefined {
  return isInstant(`${text}T00:00Z`) ? RealDate.parse(text) / 86_400_000 : undefined
}
