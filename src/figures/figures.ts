import type { AccountState, MonitoredDomain } from '../domain/account.ts'
import {
  COUNT_PERIOD,
  countedSince,
  type DmarcRecord,
  describeDomain,
  firstReportingDay,
  inheritTags,
  type PolicyTags,
  pinFigures,
  pinTags,
  type RecordPin,
  type RecordRules,
} from '../domain/dmarc.ts'
import { pinOn } from '../domain/domains.ts'
import type { Settings } from '../domain/settings.ts'
import { type Character, characterOf, publishedTags } from './character.ts'
import { countMessages, countOften, NO_MESSAGES } from './messages.ts'

/** The data that the figures of an account depend on, apart from its domains. */
export interface FigureRules extends RecordRules {
  settings: Pick<Settings, 'refresh' | 'unprocessedDomains'>
}

/** The parts of an account that its figures depend on. */
export type Monitoring = Pick<AccountState, 'domains' | 'seed'>

/** The rows of GET /dmarc on the refresh day `day`, in the order in which the domains were added. */
export function dmarcRecords(account: Monitoring, day: number, rules: FigureRules): DmarcRecord[] {
  return [...account.domains.values()].flatMap((domain) => recordOn(account, domain, day, rules) ?? [])
}

/** The record of a domain on each refresh day from `from` to `to`, both included. */
export function recordsFrom(
  account: Monitoring,
  domain: MonitoredDomain,
  from: number,
  to: number,
  rules: FigureRules,
): (DmarcRecord | undefined)[] {
  const count = countOften(characterIn(account.seed, domain), from - COUNT_PERIOD, to)
  return Array.from({ length: to - from + 1 }, (_, index) => recordOn(account, domain, from + index, rules, count))
}

/** A domain's record on the refresh day `day`, if it has one. Of other domains, only those above it count. */
export function recordOn(
  account: Monitoring,
  domain: MonitoredDomain,
  day: number,
  rules: FigureRules,
  count = countMessages,
): DmarcRecord | undefined {
  const { settings, percentageStep } = rules
  const { name, shownFrom } = domain
  const pin = pinOn(domain, day, settings.refresh)
  if (shownFrom !== undefined && day < shownFrom) return undefined
  const isReported = day >= firstReportingDay(domain, settings)
  if (!isReported && pin === undefined && settings.unprocessedDomains === 'absent') return undefined
  const source = isReported ? sourceOf(account, domain, day, settings) : undefined
  const tags = isReported ? tagsOn(account.seed, domain, source, day, settings) : undefined
  const days = source && countedDays(domain, source, day, settings)
  const counts = days ? count(characterIn(account.seed, domain), days.first, days.last, days.since) : NO_MESSAGES
  if (pin === undefined) return describeDomain(name, tags, counts, rules)
  return pinFigures(describeDomain(name, pinTags(tags, pin), counts, rules), pin, percentageStep)
}

/** The days whose mail a record counts: from `first` up to `last`, but no mail before `since`, a day with a fraction. */
export interface CountedDays {
  first: number
  last: number
  since: number
}

/** The days whose mail the record of `day` counts, if `source` requests the reports; `undefined` before the first. */
export function countedDays(
  domain: MonitoredDomain,
  source: MonitoredDomain,
  day: number,
  settings: FigureRules['settings'],
): CountedDays | undefined {
  if (day < firstReportingDay(domain, settings)) return undefined
  const since = Math.max(countedSince(domain, settings), countedSince(source, settings))
  return { first: day - COUNT_PERIOD, last: day, since }
}

/**
 * Whether receivers report about the mail of a domain. `none`: no record applies, so nobody knows what is sent in its
 * name. `awaited`: the first report comes later. `fixed`: its figures are fixed values, whatever is sent.
 */
export type ReportState = 'received' | 'awaited' | 'none' | 'fixed'

/** Whether there are reports for the record of the refresh `day`. */
export function reportsOn(account: Monitoring, domain: MonitoredDomain, day: number, rules: FigureRules): ReportState {
  const { settings } = rules
  const { dmarc, dkim, spf, count } = pinOn(domain, day, settings.refresh) ?? {}
  if ((dmarc ?? dkim ?? spf ?? count) !== undefined) return 'fixed'
  if (day < firstReportingDay(domain, settings)) return 'awaited'
  const source = sourceOf(account, domain, day, settings)
  if (source === undefined) return 'none'
  return day < firstReportingDay(source, settings) ? 'awaited' : 'received'
}

/**
 * The tags that apply to the mail of a domain: its own, or those that it inherits from `source`. Its fixed values are not
 * among them.
 */
function tagsOn(
  seed: number,
  domain: MonitoredDomain,
  source: MonitoredDomain | undefined,
  day: number,
  { refresh }: FigureRules['settings'],
): PolicyTags | undefined {
  if (source === domain || source === undefined) return publishedTags(characterIn(seed, domain), day)
  const above = pinTags(publishedTags(characterIn(seed, source), day), pinOn(source, day, refresh) ?? {})
  return above && inheritTags(above)
}

/** The policy that applies to a domain on a day, as GET /dmarc writes it; `undefined` if it has and inherits no record. */
export function policyOn(
  account: Monitoring,
  domain: MonitoredDomain,
  day: number,
  rules: FigureRules,
): Omit<DmarcRecord, 'domain' | 'dmarc' | 'dkim' | 'spf' | 'count'> | undefined {
  const { settings } = rules
  const source = sourceOf(account, domain, day, settings)
  const published = source && tagsOn(account.seed, domain, source, day, settings)
  const tags = pinTags(published, pinOn(domain, day, settings.refresh) ?? {})
  if (tags === undefined) return undefined
  const { domain: _, dmarc, dkim, spf, count, ...policy } = describeDomain(domain.name, tags, NO_MESSAGES, rules)
  return policy
}

/**
 * The domain whose record requests the reports about this domain. It is the domain itself if it has a record, or the
 * nearest monitored domain above it with a record (RFC 9989 §4.10). Without such a domain there are no reports.
 */
export function sourceOf(
  { domains, seed }: Monitoring,
  domain: MonitoredDomain,
  day: number,
  settings: FigureRules['settings'],
): MonitoredDomain | undefined {
  const { refresh } = settings
  if (hasRecord(characterIn(seed, domain), pinOn(domain, day, refresh))) return domain
  const { name } = domain
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
    const above = domains.get(name.slice(dot + 1))
    if (above === undefined) continue
    const pin = pinOn(above, day, refresh)
    if (!hasRecord(characterIn(seed, above), pin)) continue
    if (day >= firstReportingDay(above, settings) || pin?.p !== undefined) return above
  }
  return undefined
}

function hasRecord({ tags, given }: Character, pin: RecordPin | undefined): boolean {
  return tags !== undefined || given !== undefined || (pin !== undefined && pinTags(undefined, pin) !== undefined)
}

const characters = new WeakMap<MonitoredDomain, { seed: number; character: Character }>()

/** `characterOf`, kept for as long as the domain is in use. */
export function characterIn(seed: number, domain: MonitoredDomain): Character {
  const known = characters.get(domain)
  if (known?.seed === seed) return known.character
  const character = characterOf(seed, domain)
  characters.set(domain, { seed, character })
  return character
}
