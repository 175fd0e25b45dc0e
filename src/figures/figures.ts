import type { AccountState, MonitoredDomain } from '../domain/account.ts'
import { type DmarcRecord, describeDomain, firstReportingDay, type MessageCounts, pinRecord } from '../domain/dmarc.ts'
import type { ProfileName } from '../domain/profile.ts'
import type { Settings } from '../domain/settings.ts'
import { scramble, type Words, wordsOf } from '../ground/chance.ts'
import { drawProfile, drawTraits, hasStory, type Traits, tagsOn, trafficOn } from './profiles.ts'

/** What the figures of an account depend on, apart from its domains. */
export interface FigureRules {
  settings: Pick<Settings, 'processingTime' | 'refresh' | 'unprocessedDomains' | 'countPeriod'>
  percentageStep: number
}

const NO_MAIL: MessageCounts = { both: 0, dkimOnly: 0, spfOnly: 0, neither: 0 }
/** 1 January 1970 was a Thursday. */
const EPOCH_WEEKDAY = 4

/** The records of the last requested day. A domain that has not changed since then is not computed again. */
const kept = new WeakMap<MonitoredDomain, { rules: FigureRules; seed: number; day: number; record: DmarcRecord }>()

/** The rows of GET /dmarc on the refresh day `day`, in the order in which the domains were added. */
export function dmarcRecords({ domains, seed }: AccountState, day: number, rules: FigureRules): DmarcRecord[] {
  const records: DmarcRecord[] = []
  for (const domain of domains.values()) {
    const last = kept.get(domain)
    const record =
      last?.day === day && last.seed === seed && last.rules === rules ? last.record : recordOn(seed, domain, day, rules)
    if (record === undefined) continue
    records.push(record)
    if (record !== last?.record) kept.set(domain, { rules, seed, day, record })
  }
  return records
}

/** A domain's record on the refresh day `day`; `undefined` while it has none. Depends on its arguments alone. */
export function recordOn(
  seed: number,
  domain: MonitoredDomain,
  day: number,
  rules: FigureRules,
): DmarcRecord | undefined {
  const { settings, percentageStep } = rules
  const firstDay = firstReportingDay(domain.addedAt, settings.processingTime, settings.refresh)
  const reporting = day >= firstDay
  if (!reporting && domain.pin === undefined && settings.unprocessedDomains === 'absent') return undefined
  const record = reporting
    ? reportedRecord(seed, domain, day, domain.since ?? firstDay, rules)
    : describeDomain(domain.name, { p: 'none' }, NO_MAIL, percentageStep)
  return domain.pin === undefined ? record : pinRecord(record, domain.pin, percentageStep)
}

function reportedRecord(
  seed: number,
  { name, profile, volume }: MonitoredDomain,
  day: number,
  since: number,
  rules: FigureRules,
): DmarcRecord {
  const words = wordsOf(`${seed} ${name}`)
  const kind = profile ?? drawnProfile(words)
  const traits = drawTraits(kind, words, volume)
  const counts = countMessages(kind, traits, day, rules.settings.countPeriod, since)
  return describeDomain(name, tagsOn(kind, traits, day - since), counts, rules.percentageStep)
}

/** The profile of a domain: the chosen one, or else one by chance. */
export function profileOf(seed: number, { name, profile }: MonitoredDomain): ProfileName {
  return profile ?? drawnProfile(wordsOf(`${seed} ${name}`))
}

function drawnProfile(words: Words): ProfileName {
  return drawProfile(scramble(words[0] ^ 0x70726f66))
}

/** The messages of the `period` days before the refresh day `day`. This is the innermost loop of GET /dmarc. */
function countMessages(
  profile: ProfileName,
  traits: Traits,
  day: number,
  period: number,
  since: number,
): MessageCounts {
  const { words, week, monthly } = traits
  const steady = hasStory(profile) ? undefined : trafficOn(profile, traits, 0)
  const sum = { ...NO_MAIL }
  for (let past = day - period; past < day; past++) {
    const traffic = steady ?? trafficOn(profile, traits, past - since)
    if (traffic.volume === 0) continue
    const weekday = (((past + EPOCH_WEEKDAY) % 7) + 7) % 7
    // Each word gives two random numbers of 16 bits: for the volume and the quality of the day, and for rounding four
    // counts.
    const chance = scramble(words[3] + Math.imul(past, 0x9e3779b1))
    const second = scramble(chance ^ 1)
    const third = scramble(chance ^ 2)
    const ordinary = (monthly / 30) * traffic.volume * (week[weekday] ?? 1) * season(words[2], past)
    const messages = roundByChance(ordinary * (0.8 + 0.4 * upper(chance)), upper(second))
    if (messages === 0) continue
    const share = messages / 10_000
    const mood = 0.8 + 0.4 * lower(chance)
    const neither = Math.min(messages, roundByChance(share * traffic.neither * mood, lower(second)))
    const dkimOnly = Math.min(messages - neither, roundByChance(share * traffic.dkimOnly, upper(third)))
    const spfOnly = Math.min(messages - neither - dkimOnly, roundByChance(share * traffic.spfOnly, lower(third)))
    sum.neither += neither
    sum.dkimOnly += dkimOnly
    sum.spfOnly += spfOnly
    sum.both += messages - neither - dkimOnly - spfOnly
  }
  return sum
}

/** The seasons as a triangle wave: a domain has up to a fifth more mail in its high season than half a year later. */
function season(word: number, day: number): number {
  const peak = word % 365
  const distance = Math.abs(((((day - peak) % 365) + 365) % 365) - 182.5) / 182.5
  return 0.9 + 0.2 * distance * ((word >>> 16) % 2 === 0 ? 1 : 0.5)
}

/** A whole number whose mean is `value`, from a random number from 0 up to 1. */
function roundByChance(value: number, draw: number): number {
  return Math.floor(value + draw)
}

/** The upper and the lower half of a word, each as a number from 0 up to 1, exclusive. */
function upper(word: number): number {
  return (word >>> 16) / 65_536
}

function lower(word: number): number {
  return (word & 0xffff) / 65_536
}
