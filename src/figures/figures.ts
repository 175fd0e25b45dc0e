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
import { pinOn } from '../domain/pins.ts'
import type { Settings } from '../domain/settings.ts'
import { type Character, characterOf, publishedTags } from './character.ts'
import { countMessages, movingCount, NO_MESSAGES } from './messages.ts'

/** The data that the figures of an account depend on, apart from its domains. */
export interface FigureRules extends RecordRules {
  settings: Pick<Settings, 'refresh' | 'unprocessedDomains'>
}

/** The parts of an account that its figures depend on. */
export type Monitoring = Pick<AccountState, 'domains' | 'seed'>

/** The last computed data of a domain. An unchanged domain is not computed again. */
interface KeptFigures {
  rules: FigureRules
  seed: number
  character: Character
  day: number
  /** See `sourceOf`. */
  source: MonitoredDomain | undefined
  record: DmarcRecord | undefined
}

/** For how many domains computed data is kept, at about 700 bytes each. */
const KEPT_DOMAINS = 200_000

/** A map that grows is built anew, which takes longer than a turn for one of all domains. A domain has one by its name. */
const SHARES = 64
const shares = (): WeakMap<MonitoredDomain, KeptFigures>[] => Array.from({ length: SHARES }, () => new WeakMap())
let kept = shares()
let keptDomains = 0

function shareOf({ name }: MonitoredDomain): WeakMap<MonitoredDomain, KeptFigures> {
  let hash = name.length
  for (let index = 0; index < name.length; index++) hash = (Math.imul(hash, 31) + name.charCodeAt(index)) | 0
  return kept[(hash ^ (hash >>> 12)) & (SHARES - 1)] as WeakMap<MonitoredDomain, KeptFigures>
}

/** The rows of GET /dmarc on the refresh day `day`, in the order in which the domains were added. */
export function dmarcRecords(account: Monitoring, day: number, rules: FigureRules): DmarcRecord[] {
  const records: DmarcRecord[] = []
  for (const domain of account.domains.values()) {
    const record = recordOn(account, domain, day, rules)
    if (record !== undefined) records.push(record)
  }
  return records
}

/** A domain's record on the refresh day `day`, if it has one. Of other domains, only those above it count. */
export function recordOn(
  account: Monitoring,
  domain: MonitoredDomain,
  day: number,
  rules: FigureRules,
): DmarcRecord | undefined {
  const { seed } = account
  const last = shareOf(domain).get(domain)
  const isSame = last !== undefined && last.seed === seed && last.rules === rules
  // A domain with a record of its own needs no other domain, as long as it has not changed.
  if (isSame && last.day === day && last.source === domain) return last.record
  const character = isSame ? last.character : characterOf(seed, domain)
  const source = sourceOf(account, domain, character, day, rules.settings)
  if (isSame && last.day === day && last.source === source) return last.record
  const record = computeRecord(seed, domain, character, source, day, rules)
  if (isSame) {
    last.day = day
    last.source = source
    last.record = record
  } else keep(domain, { rules, seed, character, day, source, record })
  return record
}

/** If there are too many, all are dropped. Domains that are read are soon kept again. */
function keep(domain: MonitoredDomain, computed: KeptFigures): void {
  if (++keptDomains > KEPT_DOMAINS) {
    kept = shares()
    keptDomains = 1
  }
  shareOf(domain).set(domain, computed)
}

/** The same for each refresh day from `from` to `to`, both included, without keeping the results. */
export function recordsFrom(
  account: Monitoring,
  domain: MonitoredDomain,
  from: number,
  to: number,
  rules: FigureRules,
): (DmarcRecord | undefined)[] {
  const { seed } = account
  const character = characterOf(seed, domain)
  const count = movingCount(to)
  return Array.from({ length: to - from + 1 }, (_, index) => {
    const day = from + index
    const source = sourceOf(account, domain, character, day, rules.settings)
    return computeRecord(seed, domain, character, source, day, rules, count)
  })
}

function computeRecord(
  seed: number,
  domain: MonitoredDomain,
  character: Character,
  source: MonitoredDomain | undefined,
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
  const tags = isReported ? tagsOn(seed, domain, character, source, day, settings) : undefined
  const days = isReported && source !== undefined ? countedDays(domain, source, day, settings) : undefined
  const counts = days === undefined ? NO_MESSAGES : count(character, days.first, days.last, days.since)
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
  const source = recordSource(account, domain, day, rules)
  if (source === undefined) return 'none'
  return day < firstReportingDay(source, settings) ? 'awaited' : 'received'
}

/** `sourceOf` with the kept character of the domain. */
export function recordSource(
  account: Monitoring,
  domain: MonitoredDomain,
  day: number,
  { settings }: FigureRules,
): MonitoredDomain | undefined {
  return sourceOf(account, domain, characterIn(account.seed, domain), day, settings)
}

/** The tags of the record that applies to the mail of a domain, with their fixed values; `undefined` without one. */
export function tagsInEffect(
  account: Monitoring,
  domain: MonitoredDomain,
  day: number,
  { settings }: FigureRules,
): PolicyTags | undefined {
  const character = characterIn(account.seed, domain)
  const source = sourceOf(account, domain, character, day, settings)
  const tags = source && tagsOn(account.seed, domain, character, source, day, settings)
  return pinTags(tags, pinOn(domain, day, settings.refresh) ?? {})
}

/** The tags that the domain publishes, or the inherited ones. */
function tagsOn(
  seed: number,
  domain: MonitoredDomain,
  character: Character,
  source: MonitoredDomain | undefined,
  day: number,
  { refresh }: FigureRules['settings'],
): PolicyTags | undefined {
  const own = publishedTags(character, day)
  if (source === domain || source === undefined) return own
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
  const tags = tagsInEffect(account, domain, day, rules)
  if (tags === undefined) return undefined
  const {
    domain: _,
    dmarc: __,
    dkim: ___,
    spf: ____,
    count: _____,
    ...policy
  } = describeDomain(domain.name, tags, NO_MESSAGES, rules)
  return policy
}

/**
 * The domain whose record requests the reports about this domain. It is the domain itself if it has a record, or the
 * nearest monitored domain above it with a record (RFC 9989 §4.10). Without such a domain there are no reports.
 */
export function sourceOf(
  { domains, seed }: Monitoring,
  domain: MonitoredDomain,
  character: Character,
  day: number,
  settings: FigureRules['settings'],
): MonitoredDomain | undefined {
  const { refresh } = settings
  if (hasRecord(character, pinOn(domain, day, refresh))) return domain
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

/** The character of a domain, from the kept data if possible. */
export function characterIn(seed: number, domain: MonitoredDomain): Character {
  const last = shareOf(domain).get(domain)
  return last?.seed === seed ? last.character : characterOf(seed, domain)
}
