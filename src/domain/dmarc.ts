import { givenFields } from './given-fields.ts'
import type { Settings } from './settings.ts'

/** The `p`, `sp` and `np` of RFC 9989. */
export type Policy = 'none' | 'quarantine' | 'reject'

/** The tags of a published DMARC record. Absent tags are inherited. */
export interface PolicyTags {
  p: Policy
  sp?: Policy
  np?: Policy
  testing?: 'y' | 'n'
  pct?: number
}

/** The number of messages, by alignment. */
export interface MessageCounts {
  both: number
  dkimOnly: number
  spfOnly: number
  neither: number
}

/**
 * One row of GET /dmarc, in the order of its fields. `sp` and `np` are absent if the contract lists only published
 * policies. `p`, `sp` and `np` are null or empty if the contract has no policy for a domain without a record.
 */
export interface DmarcRecord {
  domain: string
  p: WrittenPolicy
  sp?: WrittenPolicy
  np?: WrittenPolicy
  pct: number
  testing: 'y' | 'n'
  dmarc: number
  dkim: number
  spf: number
  count: number
}

/** A policy, or the contract's value for a missing policy. */
type WrittenPolicy = Policy | ''

/** The parts of a contract that decide the form of a record. */
export interface RecordRules {
  /** The policies of a domain without a DMARC record. */
  policyWithoutRecord: 'none' | ''
  /** The smallest difference between two percentages. */
  percentageStep: number
}

/** The fields of a record with a fixed value. The other fields follow from these, or from the figures. */
export type RecordPin = Partial<PolicyTags> & { dmarc?: number; dkim?: number; spf?: number; count?: number }

const DAY = 86_400_000
/** In milliseconds: the background processing of an added domain. Its figures begin with the first refresh after it. */
const PROCESSING_TIME = 60_000
/** The figures of a record cover the mail of this many days. */
export const COUNT_PERIOD = 30
/** A share needs mail. If shares are pinned and there are no messages, the record has this many messages. */
const SOME_MAIL = 100

/** The number of the refresh before `now`, in days since the Unix epoch. `refresh` is a time in UTC, as `HH:MM`. */
export function refreshDay(now: number, refresh: string): number {
  return Math.floor((now - timeOfDay(refresh)) / DAY)
}

/** The time of the refresh with this number, in milliseconds since the Unix epoch. */
export function refreshOf(day: number, refresh: string): number {
  return day * DAY + timeOfDay(refresh)
}

type Addition = { addedAt: number }
type ReportTimes = Pick<Settings, 'refresh'>

/** The number of the first refresh after the addition of a domain. */
export function firstRefresh({ addedAt }: Addition, { refresh }: ReportTimes): number {
  const day = refreshDay(addedAt, refresh)
  return refreshOf(day, refresh) === addedAt ? day : day + 1
}

/** The number of the first refresh with figures of a domain. */
export function firstReportingDay({ addedAt }: Addition, { refresh }: ReportTimes): number {
  return Math.ceil((addedAt + PROCESSING_TIME - timeOfDay(refresh)) / DAY)
}

/**
 * The time from which the mail of a domain is counted, as the number of a refresh with a fraction. It is the time of
 * its addition. If the domain was still being processed at the next refresh, it is the time of that refresh.
 */
export function countedSince(domain: Addition, times: ReportTimes): number {
  return Math.max((domain.addedAt - timeOfDay(times.refresh)) / DAY, firstReportingDay(domain, times) - 1)
}

/**
 * The record of a domain whose mail is subject to these tags, or to none if they are `undefined`. It has effective tags
 * (RFC 9989 §4.7: sp from p, np from sp), and shares in steps of the form. DMARC passes when either SPF or DKIM is
 * aligned. So max(dkim, spf) ≤ dmarc ≤ min(100, dkim + spf) holds for the counts. Rounding could break the upper bound,
 * so dmarc is limited to it.
 */
export function describeDomain(
  domain: string,
  tags: PolicyTags | undefined,
  counts: MessageCounts,
  { policyWithoutRecord, percentageStep: step }: RecordRules,
): DmarcRecord {
  const { both, dkimOnly, spfOnly, neither } = counts
  const count = both + dkimOnly + spfOnly + neither
  const dkim = share(both + dkimOnly, count, step)
  const spf = share(both + spfOnly, count, step)
  const dmarc = Math.min(share(count - neither, count, step), toStep(dkim + spf, step))
  const { pct = 100, testing = 'n' } = tags ?? {}
  const p = tags === undefined ? policyWithoutRecord : tags.p
  const sp = tags?.sp ?? p
  return { domain, p, sp, np: tags?.np ?? sp, pct, testing, dmarc, dkim, spf, count }
}

/** The subdomain policy of a record, for an existing subdomain without one (RFC 9989 §4.7). */
export function inheritTags({ p, sp = p, np = sp, ...rest }: PolicyTags): PolicyTags {
  return { ...rest, p: sp, ...(np !== sp && { np }) }
}

/** The tags, replaced by those of `pin`. A pinned policy is a published one, so the other tags inherit from it. */
export function replaceTags(tags: Partial<PolicyTags>, { p, sp, np, pct, testing }: RecordPin): Partial<PolicyTags> {
  const { sp: oldSp, np: oldNp, ...rest } = tags
  const keptSp = p === undefined ? oldSp : undefined
  const keptNp = p === undefined && sp === undefined ? oldNp : undefined
  const replaced = { ...rest, p: p ?? rest.p, sp: sp ?? keptSp, np: np ?? keptNp, pct: pct ?? rest.pct }
  return givenFields({ ...replaced, testing: testing ?? rest.testing })
}

/** The same replacement for the tags of a record or for no record. A pinned tag implies a record. */
export function pinTags(tags: PolicyTags | undefined, pin: RecordPin): PolicyTags | undefined {
  const { p, sp, np, pct, testing } = pin
  if ((p ?? sp ?? np ?? pct ?? testing) === undefined) return tags
  return { p: 'none', ...replaceTags(tags ?? {}, pin) }
}

/** The record with the pinned figures. Other shares change only as much as the rules of DMARC require. */
export function pinFigures(record: DmarcRecord, pin: RecordPin, step: number): DmarcRecord {
  const shares = Math.max(pin.dmarc ?? 0, pin.dkim ?? 0, pin.spf ?? 0)
  const count = pin.count ?? (shares > 0 ? record.count || SOME_MAIL : record.count)
  const pinned = { ...record, count }
  for (const share of ['dmarc', 'dkim', 'spf'] as const) pinned[share] = toStep(pin[share] ?? record[share], step)
  if (count === 0) return { ...pinned, dmarc: 0, dkim: 0, spf: 0 }
  const { dkim, spf } = pin.dmarc === undefined ? pinned : fitBelow(pinned, pin)
  const lowest = Math.max(dkim, spf)
  const highest = Math.min(100, toStep(dkim + spf, step))
  return { ...pinned, dkim, spf, dmarc: Math.min(Math.max(pinned.dmarc, lowest), highest) }
}

/** The shares that are not pinned, lowered or raised to fit a pinned `dmarc`. */
function fitBelow({ dmarc, dkim, spf }: DmarcRecord, pin: RecordPin): { dkim: number; spf: number } {
  // The shares of the record are already rounded, but those of a pin are not.
  const dkimFits = pin.dkim === undefined ? Math.min(dkim, dmarc) : dkim
  const spfFits = pin.spf === undefined ? Math.min(spf, dmarc) : spf
  if (dkimFits + spfFits >= dmarc) return { dkim: dkimFits, spf: spfFits }
  return pin.dkim === undefined
    ? { dkim: dmarc, spf: spfFits }
    : { dkim: dkimFits, spf: pin.spf === undefined ? dmarc : spfFits }
}

/** The reason why no record can have the pinned fields, as the end of a sentence; `undefined` if one can. */
export function contradictionIn({ dmarc, dkim, spf, count }: RecordPin): string | undefined {
  const shares = [dmarc, dkim, spf].filter((share) => share !== undefined)
  if (count === 0 && shares.some((share) => share > 0)) return 'has shares of no mail: with count 0 they are 0'
  if (dmarc === undefined) return undefined
  if (dmarc < Math.max(dkim ?? 0, spf ?? 0)) return 'has less dmarc than dkim or spf, of which either suffices'
  // In binary, the sum of 10.1 and 0.2 is a little less than 10.3.
  if (dkim !== undefined && spf !== undefined && dmarc > dkim + spf + 1e-9)
    return 'has more dmarc than dkim and spf together'
  return undefined
}

function share(part: number, whole: number, step: number): number {
  return whole === 0 ? 0 : toStep((part / whole) * 100, step)
}

function toStep(value: number, step: number): number {
  const steps = Math.round(1 / step)
  return Math.round(value * steps) / steps
}

function timeOfDay(refresh: string): number {
  return (Number(refresh.slice(0, 2)) * 60 + Number(refresh.slice(3))) * 60_000
}

/** The number of decimals in the multiples of `step`: 1 for 0.1, 2 for 0.25. */
export function decimalsOf(step: number): number {
  let decimals = 0
  // The binary form of the decimal step has an error of less than one part in 10¹⁵.
  while (decimals < 15 && Math.abs(step * 10 ** decimals - Math.round(step * 10 ** decimals)) > 1e-9) decimals++
  return decimals
}

/** The kinds of domains with generated figures. */
export const PROFILE_NAMES = [
  'enforced',
  'rolling-out',
  'monitoring-only',
  'forwarding-heavy',
  'broken-spf',
  'broken-dkim',
  'new-esp',
  'spoofed',
  'parked',
  'no-record',
  'new',
] as const

/** What kind of domain the figures are made for. */
export type ProfileName = (typeof PROFILE_NAMES)[number]
