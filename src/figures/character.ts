import type { MonitoredDomain } from '../domain/account.ts'
import { type PolicyTags, replaceTags } from '../domain/dmarc.ts'
import type { ProfileName } from '../domain/profile.ts'
import { scramble, type Words, wordsOf } from '../ground/chance.ts'
import { between, type Calendar, type DayMail, type Episode, incidents, touches } from './episodes.ts'
import { drawPolicy, drawProfile, type PolicyStep, PROFILES } from './profiles.ts'
import { LARGEST_VOLUME, usualVolume } from './volume.ts'

/**
 * The lasting properties of a domain. They depend only on the account's seed, the domain's name and its given
 * properties. They do not depend on when, or how often, it was added.
 */
export interface Character {
  profile: ProfileName
  words: Words
  /** Messages in an ordinary 30 days. */
  monthly: number
  /** The most messages in 30 days, including forged ones. */
  limit: number
  /** Shares of the week, Sunday first, that add up to 7. */
  week: readonly number[]
  /** Its mail without any episode. */
  usual: DayMail
  /** The calendars that date its story and its incidents. */
  calendar: Calendar
  incidentCalendar: Calendar
  /** The published tags, if its profile does not change them; absent for a domain without a record. */
  tags: PolicyTags | undefined
  /** The tags that replace those of the profile. */
  given: Partial<PolicyTags> | undefined
}

/** More days than the longest cycle of a story has. */
const PHASES = 4096

export function characterOf(
  seed: number,
  { name, profile: chosen, since, volume, policy }: MonitoredDomain,
): Character {
  const words = wordsOf(`${seed} ${name}`)
  const [first, second, third, fourth] = words
  const profile = chosen ?? drawProfile(scramble(first ^ 0x70726f66))
  const { monthly, week, isSubdomain } = usualVolume(name, seed, third)
  const calendar =
    since === undefined
      ? { origin: scramble(second ^ 0x70686173) % PHASES, isBeginning: false }
      : { origin: since, isBeginning: true }
  const mail = scramble(first ^ 0x6d61696c)
  const forwarded = between(mail, 80, 600)
  const unsigned = between(scramble(mail), 10, 300)
  // Forwarding breaks SPF but not DKIM, so SPF is the lower figure for two of three domains.
  const [dkimOnly, spfOnly] = second % 3 === 0 ? [unsigned, forwarded] : [Math.max(forwarded, unsigned + 20), unsigned]
  const kind = PROFILES[profile]
  const usual = {
    volume: kind.silent ? 0 : 1,
    dkimOnly,
    spfOnly,
    neither: between(scramble(fourth), 20, 260),
    forged: 0,
  }
  return {
    profile,
    words,
    monthly: volume ?? monthly,
    // A chosen volume may be larger than any drawn one.
    limit: volume === undefined ? LARGEST_VOLUME : Number.POSITIVE_INFINITY,
    week: WEEKS[week],
    usual: kind.habits === undefined ? usual : { ...usual, ...kind.habits(words) },
    calendar,
    incidentCalendar: since === undefined ? { ...calendar, origin: scramble(fourth ^ 0x696e6369) % PHASES } : calendar,
    tags: profile === 'no-record' ? undefined : drawPolicy(profile, words, isSubdomain),
    given: policy,
  }
}

/** The tags that the domain publishes on a day; `undefined` if it has no record. */
export function publishedTags(character: Character, day: number): PolicyTags | undefined {
  const { given, tags } = character
  const step = policySteps(character, day, day + 1).findLast(({ from }) => from <= day)
  const own = step?.tags ?? tags
  return given === undefined ? own : { p: 'none', ...replaceTags(own ?? {}, given) }
}

/** The changes of its record in the cycles of the days from `first` up to `last`. */
export function policySteps(character: Character, first: number, last: number): PolicyStep[] {
  return PROFILES[character.profile].steps?.(character, first, last) ?? []
}

/** The episodes of a domain's mail on the days from `first` up to `last`. */
export function episodesOf(character: Character, first: number, last: number): Episode[] {
  const { profile, words, monthly, incidentCalendar } = character
  const { story, undisturbed } = PROFILES[profile]
  const own = story?.(character, first, last) ?? []
  const all = undisturbed ? own : [...own, ...incidents(words[1], incidentCalendar, monthly, first, last)]
  return all.filter((episode) => touches(episode, first, last))
}

/** Most campaigns are sent on Thursdays and Tuesdays, half as many at weekends. Offices rest at weekends. */
const WEEKS = {
  campaign: weekOf([8.5, 16, 17, 16, 18, 16, 9]),
  office: weekOf([3, 18.5, 19.5, 19, 19, 17, 4]),
} as const

function weekOf(shares: readonly number[]): readonly number[] {
  const whole = shares.reduce((sum, share) => sum + share, 0)
  return shares.map((share) => (share * 7) / whole)
}
