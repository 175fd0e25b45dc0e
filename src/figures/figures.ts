import type { AccountState, MonitoredDomain } from '../domain/account.ts'
import {
  COUNT_PERIOD,
  countedSince,
  type DmarcRecord,
  describeDomain,
  firstReportingDay,
  inheritTags,
  type MessageCounts,
  type PolicyTags,
  pinFigures,
  pinTags,
  type RecordPin,
  type RecordRules,
} from '../domain/dmarc.ts'
import { pinOn } from '../domain/domains.ts'
import type { Settings } from '../domain/settings.ts'
import { scramble } from '../ground/chance.ts'
import { type Character, characterOf, episodesOf, publishedTags } from './character.ts'
import { applyEpisode, type DayMail, type Episode } from './episodes.ts'

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

/** 1 January 1970 was a Thursday. */
const EPOCH_WEEKDAY = 4
/** In days. */
const YEAR = 365
export const NO_MESSAGES: Readonly<MessageCounts> = { both: 0, dkimOnly: 0, spfOnly: 0, neither: 0 }

/**
 * The messages of a domain on the days from `first` up to `last`. A day begins with the refresh of its number. No
 * message before `since`, a day with a fraction, is counted.
 */
export function countMessages(character: Character, first: number, last: number, since: number): MessageCounts {
  return countOften(character, Math.max(first, Math.floor(since)), last)(character, first, last, since)
}

/** `countMessages` for periods of one domain on the days from `begin` up to `end`. It counts each whole day once. */
function countOften(character: Character, begin: number, end: number): typeof countMessages {
  const episodes = episodesOf(character, begin, end)
  const counted = new Map<number, MessageCounts>()
  return (_, first, last, since) => {
    const sum = { ...NO_MESSAGES }
    for (let day = Math.max(first, Math.floor(since)); day < last; day++) {
      const part = Math.min(1, day + 1 - since)
      const counts = (part === 1 && counted.get(day)) || messagesOn(character, episodes, day, part)
      if (part === 1) counted.set(day, counts)
      sum.both += counts.both
      sum.dkimOnly += counts.dkimOnly
      sum.spfOnly += counts.spfOnly
      sum.neither += counts.neither
    }
    return sum
  }
}

/** The messages of one day, of which only a part may count. This is the innermost loop of GET /dmarc. */
function messagesOn(character: Character, episodes: readonly Episode[], day: number, part: number): MessageCounts {
  const { words, week, monthly, limit, usual } = character
  const [, , word, fourth] = words
  const traffic = { ...usual }
  for (const episode of episodes) applyEpisode(episode, traffic, day)
  // Each word gives two random numbers of 16 bits: for the volume and the quality of the day, and for rounding.
  const chance = scramble(fourth + Math.imul(day, 0x9e3779b1))
  const second = scramble(chance ^ 1)
  const third = scramble(chance ^ 2)
  // The seasons are a triangle wave: up to a fifth more mail in the high season than half a year later.
  const height = (word >>> 16) % 2 === 0 ? 0.2 : 0.1
  const phase = modulo(day - (word % YEAR), YEAR)
  const season = 0.9 + (height * Math.abs(phase - YEAR / 2)) / (YEAR / 2)
  const ordinary =
    (Math.min(monthly * traffic.volume, limit) / 30) * (week[modulo(day + EPOCH_WEEKDAY, 7)] ?? 1) * season
  const forged = traffic.forged > 0 ? forgedOn(traffic, monthly, limit, part, chance) : 0
  const own = roundByChance(ordinary * part * (0.8 + 0.4 * upper(chance)), upper(second))
  const share = own / 10_000
  const mood = 0.8 + 0.4 * lower(chance)
  const neither = Math.min(own, roundByChance(share * traffic.neither * mood, lower(second)))
  const dkimOnly = Math.min(own - neither, roundByChance(share * traffic.dkimOnly, upper(third)))
  const spfOnly = Math.min(own - neither - dkimOnly, roundByChance(share * traffic.spfOnly, lower(third)))
  return { both: own - neither - dkimOnly - spfOnly, dkimOnly, spfOnly, neither: neither + forged }
}

/** The forged messages of a day. */
function forgedOn(traffic: DayMail, monthly: number, limit: number, part: number, chance: number): number {
  const forged = Math.min(traffic.forged, Math.max(0, limit - monthly * traffic.volume))
  return roundByChance((forged / 30) * part * (0.8 + 0.4 * lower(scramble(chance ^ 3))), lower(chance))
}

function modulo(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor
}

/** A whole number whose mean is `value`, for a random `draw` from 0 to 1. */
function roundByChance(value: number, draw: number): number {
  return Math.floor(value + draw)
}

/** The upper and the lower half of a word, each as a number from 0 to 1, exclusive. */
function upper(word: number): number {
  return (word >>> 16) / 65_536
}

function lower(word: number): number {
  return (word & 0xffff) / 65_536
}
