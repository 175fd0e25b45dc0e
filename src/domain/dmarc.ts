/** The `p`, `sp` and `np` of RFC 9989. */
export type Policy = 'none' | 'quarantine' | 'reject'

/** The tags of a published DMARC record; what is absent is inherited. */
export interface PolicyTags {
  p: Policy
  sp?: Policy
  np?: Policy
  testing?: 'y' | 'n'
  pct?: number
}

/** Messages by what was aligned. */
export interface MessageCounts {
  both: number
  dkimOnly: number
  spfOnly: number
  neither: number
}

/** One row of GET /dmarc, in the order of its fields. */
export interface DmarcRecord {
  domain: string
  p: Policy
  sp: Policy
  np: Policy
  pct: number
  testing: 'y' | 'n'
  dmarc: number
  dkim: number
  spf: number
  count: number
}

const DAY = 86_400_000

/** Days between refreshes are numbered from the Unix epoch; `refresh` is the time of day in UTC, as `HH:MM`. */
export function refreshDay(now: number, refresh: string): number {
  return Math.floor((now - timeOfDay(refresh)) / DAY)
}

/** The number of the first refresh at which a domain added at `addedAt` has figures. `processing` in seconds. */
export function firstReportingDay(addedAt: number, processing: number, refresh: string): number {
  return Math.ceil((addedAt + processing * 1000 - timeOfDay(refresh)) / DAY)
}

/**
 * The record for a domain: effective tags (RFC 9989 §4.7: sp from p, np from sp), and shares in steps of `step`
 * percent. Because DMARC passes when either is aligned, max(dkim, spf) ≤ dmarc ≤ min(100, dkim + spf) holds for the
 * counts; rounding each share on its own could break the upper bound, so dmarc is held to it.
 */
export function describeDomain(domain: string, tags: PolicyTags, counts: MessageCounts, step: number): DmarcRecord {
  const { both, dkimOnly, spfOnly, neither } = counts
  const count = both + dkimOnly + spfOnly + neither
  const dkim = share(both + dkimOnly, count, step)
  const spf = share(both + spfOnly, count, step)
  const dmarc = Math.min(share(count - neither, count, step), toStep(dkim + spf, step))
  const sp = tags.sp ?? tags.p
  const np = tags.np ?? sp
  return { domain, p: tags.p, sp, np, pct: tags.pct ?? 100, testing: tags.testing ?? 'n', dmarc, dkim, spf, count }
}

function share(part: number, whole: number, step: number): number {
  return whole === 0 ? 0 : toStep((part / whole) * 100, step)
}

function toStep(value: number, step: number): number {
  const steps = Math.round(1 / step)
  return Math.round(value * steps) / steps
}

function timeOfDay(refresh: string): number {
  const [hours = 0, minutes = 0] = refresh.split(':').map(Number)
  return (hours * 60 + minutes) * 60_000
}
