import type { MonitoredDomain } from './account.ts'
import { type RecordPin, refreshDay } from './dmarc.ts'

/**
 * The fixed values of the record at the refresh `day`. They hold from the refresh whose record they changed, or if they
 * are fixed from the beginning, on all days.
 */
export function pinOn({ pin, pinnedAt }: MonitoredDomain, day: number, refresh: string): RecordPin | undefined {
  return pinnedAt === undefined || day >= refreshDay(pinnedAt, refresh) ? pin : undefined
}

/** The domain with other fixed values from `now` on, or with none. Values that it had before are forgotten. */
export function changePin(domain: MonitoredDomain, pin: RecordPin | undefined, now: number): MonitoredDomain {
  const { pin: last, pinnedAt: _, ...rest } = domain
  if (JSON.stringify(last) === JSON.stringify(pin)) return domain
  return pin === undefined ? rest : { ...rest, pin, pinnedAt: now }
}
