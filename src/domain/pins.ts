import type { MonitoredDomain } from './account.ts'
import { type FormerPin, type RecordPin, refreshDay } from './dmarc.ts'
import { LIMITS } from './limits.ts'

/** A domain's fixed values, now and before. */
export type Pinned = Pick<MonitoredDomain, 'pin' | 'pinnedAt' | 'formerPins'>

/** Fixed values, with the refresh days of their first record and of the first record without them. */
export interface PinSpan {
  pin: RecordPin
  from: number | undefined
  until: number | undefined
}

/** The fixed values of the record at the refresh `day`; a change counts from the refresh whose record it changed. */
export function pinOn(domain: Pinned, day: number, refresh: string): RecordPin | undefined {
  const { pin, pinnedAt, formerPins } = domain
  if (formerPins === undefined && pinnedAt === undefined) return pin
  return pinSpans(domain, refresh).find(({ from = day, until = day + 1 }) => from <= day && day < until)?.pin
}

/** The fixed values of all days, the oldest first. */
export function pinSpans({ pin, pinnedAt, formerPins = [] }: Pinned, refresh: string): PinSpan[] {
  const dayOf = (instant: number | undefined) => (instant === undefined ? undefined : refreshDay(instant, refresh))
  const former = formerPins.map((each) => ({ pin: each.pin, from: dayOf(each.from), until: dayOf(each.until) }))
  return pin === undefined ? former : [...former, { pin, from: dayOf(pinnedAt), until: undefined }]
}

/**
 * The domain with other fixed values from `now` on, or with none. Its record of earlier days stays as it was. Values
 * that no refresh has shown leave no trace.
 */
export function changePin(domain: MonitoredDomain, pin: RecordPin | undefined, now: number, refresh: string) {
  const { pin: last, pinnedAt, formerPins = [], ...rest } = domain
  if (JSON.stringify(last) === JSON.stringify(pin)) return domain
  const today = refreshDay(now, refresh)
  const wasShown = last !== undefined && (pinnedAt === undefined || refreshDay(pinnedAt, refresh) < today)
  const ended: FormerPin[] = wasShown
    ? [{ pin: last, ...(pinnedAt !== undefined && { from: pinnedAt }), until: now }]
    : []
  const former = [...formerPins, ...ended].slice(-LIMITS.formerPins)
  const changed: MonitoredDomain = { ...rest, ...(former.length > 0 && { formerPins: former }) }
  return pin === undefined ? changed : { ...changed, pin, pinnedAt: now }
}
