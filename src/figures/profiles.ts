import { type Policy, type PolicyTags, PROFILE_NAMES, type ProfileName } from '../domain/dmarc.ts'
import { fraction, scramble, type Words } from '../ground/chance.ts'
import { between, type Calendar, cyclesOf, type DayMail, type Episode, forgedVolume, newSender } from './episodes.ts'

/** The data for the mail of a domain with a profile. */
interface MailMix {
  words: Words
  /** Messages in an ordinary 30 days. */
  monthly: number
  calendar: Calendar
}

/** A change of the published record, on a refresh day. */
export interface PolicyStep {
  from: number
  tags: PolicyTags
  /** The reason, as the end of a sentence: `the rollout begins`. */
  because: string
}

/** A kind of domain. */
interface Profile {
  /** How many of a thousand domains are of this kind. Sources of the published mix: see `POLICY_SHARES`. */
  share: number
  /** The policies of domains of this kind, per thousand: none, quarantine, and reject for the rest. */
  policies: readonly [none: number, quarantine: number]
  /** Whether it is a domain that sends no mail. */
  silent?: true
  /** Whether it has only its own story, so that no other incidents disturb it. */
  undisturbed?: true
  /** How many days ago its story began, if the profile is chosen without a beginning. */
  age?: number
  /** The lasting differences from the usual mail. */
  habits?(words: Words): Partial<DayMail>
  /** The episodes of its story on the days from `first` up to `last`. */
  story?(circumstances: MailMix, first: number, last: number): Episode[]
  /** The changes of its record in the cycles of its story on these days. */
  steps?(circumstances: MailMix, first: number, last: number): PolicyStep[]
}

/**
 * Policies among domains with a record, in percent: a mean of the scans published in 2026 (none 33–50, quarantine
 * 25–38, reject 25–35), near the customers of monitoring services; about 6 % of monitored domains have no record.
 */
export const POLICY_SHARES = { none: 33, quarantine: 38, reject: 29, noRecord: 6 } as const

/** Every profile, in the order of `PROFILE_NAMES`. */
export const PROFILES: Readonly<Record<ProfileName, Profile>> = {
  enforced: { share: 290, policies: [0, 700] },
  'rolling-out': { share: 80, policies: [1000, 0], age: 30, steps: rolloutSteps, story: rolloutStory },
  'monitoring-only': {
    share: 240,
    policies: [1000, 0],
    habits(words) {
      const kind = words[1] % 20
      const worst = kind < 17 ? between(words[2], 300, 1500) : between(words[2], 1500, 6000)
      return {
        dkimOnly: between(words[3], 300, 1200),
        spfOnly: between(words[0], 100, 800),
        ...(kind >= 9 && { neither: worst }),
      }
    },
  },
  'forwarding-heavy': {
    share: 80,
    policies: [330, 590],
    habits: (words) => ({ dkimOnly: between(words[2], 2500, 4500), spfOnly: between(words[3], 10, 80) }),
  },
  'broken-spf': {
    share: 40,
    policies: [330, 590],
    habits(words) {
      const neither = between(words[2], 300, 1300)
      const spfOnly = between(words[3], 0, 20)
      return { dkimOnly: 10_000 - neither - spfOnly - between(words[1], 0, 250), spfOnly, neither }
    },
  },
  'broken-dkim': {
    share: 40,
    policies: [330, 590],
    habits(words) {
      const neither = between(words[2], 500, 1500)
      const dkimOnly = between(words[3], 0, 20)
      return { spfOnly: 10_000 - neither - dkimOnly - between(words[1], 0, 250), dkimOnly, neither }
    },
  },
  'new-esp': { share: 30, policies: [330, 590], age: 10, story: senderStory },
  spoofed: { share: 25, policies: [330, 590], age: 7, undisturbed: true, story: attackStory },
  parked: { share: 115, policies: [0, 0], silent: true, undisturbed: true },
  'no-record': {
    share: 60,
    policies: [1000, 0],
    // The domain is not maintained.
    habits: (words) => ({ neither: between(words[2], 300, 1500) }),
  },
  new: {
    share: 0,
    policies: [1000, 0],
    age: 5,
    undisturbed: true,
    story({ calendar: { origin } }) {
      return [
        { kind: 'unused', from: Number.NEGATIVE_INFINITY, until: origin, strength: 0 },
        { kind: 'growth', from: origin, until: origin + 14, strength: 0 },
      ]
    },
  },
}

/** A random profile, for a domain without a chosen one. */
export function drawProfile(word: number): ProfileName {
  let rest = word % 1000
  for (const name of PROFILE_NAMES) {
    rest -= PROFILES[name].share
    if (rest < 0) return name
  }
  return 'enforced'
}

/** When the story of a profile began that is chosen `today`: recently enough for the figures of that day to show it. */
export function usualBeginning(profile: ProfileName, today: number): number {
  return today - (PROFILES[profile].age ?? 0)
}

/** After how many days a rollout, a sender and an attacked domain begin again. */
const ROLLOUT_CYCLE = 280
const SENDER_CYCLE = 200
const ATTACK_CYCLE = 160

/**
 * The record of a rollout: none, then quarantine (with t=y in the first week), then reject. Each step takes some weeks.
 * One of eight stalls at quarantine, one of eight steps back once. After a cycle, the mail moves to another provider,
 * and the rollout begins again.
 */
function rolloutSteps({ words, calendar }: MailMix, first: number, last: number): PolicyStep[] {
  const steps: PolicyStep[] = []
  const pace = rolloutPace(words)
  for (const { start, isFirst, draw } of cyclesOf(calendar, ROLLOUT_CYCLE, words[2], first, last)) {
    const plan = draw % 8
    const stall = plan === 0 ? 3 * pace : 0
    const reject = start + 2 * pace + stall
    const beginning = isFirst ? 'the rollout begins' : 'the mail moves to another provider'
    steps.push(
      { from: start, tags: { p: 'none' }, because: beginning },
      { from: start + pace, tags: { p: 'quarantine', testing: 'y' }, because: 'the rollout tests quarantine' },
      { from: start + pace + 7, tags: { p: 'quarantine' }, because: 'the rollout goes on' },
      {
        from: reject,
        tags: { p: 'reject' },
        because: stall > 0 ? 'the rollout goes on after a stall' : 'the rollout is complete',
      },
    )
    if (plan !== 1) continue
    steps.push(
      { from: reject + 15, tags: { p: 'quarantine' }, because: 'wanted mail was rejected, so the rollout steps back' },
      { from: reject + 15 + pace, tags: { p: 'reject' }, because: 'the rollout is complete' },
    )
  }
  return steps
}

function rolloutPace(words: Words): number {
  return 21 + 7 * (words[3] % 4)
}

/** The senders of a rollout get authenticated one after another, until the policy could be reject. */
function rolloutStory({ words, calendar }: MailMix, first: number, last: number): Episode[] {
  const strength = 1000 + (words[1] % 1500)
  const episodes = cyclesOf(calendar, ROLLOUT_CYCLE, words[2], first, last).map(({ start }): Episode => {
    return { kind: 'authentication', from: start, until: start + 2 * rolloutPace(words), strength }
  })
  if (!calendar.isBeginning) return episodes
  return [{ kind: 'unauthenticated', from: Number.NEGATIVE_INFINITY, until: calendar.origin, strength }, ...episodes]
}

/** In each cycle there is a new sender. At the end it signs its mail, and the next sender follows. */
function senderStory({ words, calendar }: MailMix, first: number, last: number): Episode[] {
  return cyclesOf(calendar, SENDER_CYCLE, words[2], first, last).flatMap(({ start, draw }) => {
    const signed = start + between(draw, 35, 65)
    return newSender(start, signed, start + SENDER_CYCLE, 0.4 + 0.8 * fraction(scramble(draw)))
  })
}

/** In each cycle there is an attack of some weeks, many times larger than the domain's own mail. */
function attackStory({ words, monthly, calendar }: MailMix, first: number, last: number): Episode[] {
  return cyclesOf(calendar, ATTACK_CYCLE, words[2], first, last).map(({ start, isFirst, draw }): Episode => {
    const from = start + (isFirst ? 0 : between(draw, 5, 80))
    const factor = 2.8 + 6 * fraction(scramble(draw))
    const strength = forgedVolume(monthly, factor, scramble(draw ^ 0x666f7267))
    return { kind: 'attack', from, until: from + between(draw >>> 8, 36, 60), strength }
  })
}

/**
 * The published tags of a domain without a rollout. 12 % of the organisational domains publish sp, 3 % np; 1 % of all
 * publish t=y and 3 % a pct below 100. Receivers ignore sp and np of a subdomain's record, and t and pct change nothing
 * if the policy is none. A parked domain publishes the strictest tags.
 */
export function drawPolicy(profile: ProfileName, words: Words, isSubdomain: boolean): PolicyTags {
  const [first, second, third, fourth] = words
  const [none, quarantine] = PROFILES[profile].policies
  const draw = scramble(first ^ 0x706f6c69) % 1000
  const p: Policy = draw < none ? 'none' : draw < none + quarantine ? 'quarantine' : 'reject'
  const tags: PolicyTags = { p }
  if (PROFILES[profile].silent) return tags
  if (!isSubdomain) {
    if (scramble(second ^ 0x7370) % 100 < 12) tags.sp = SUBDOMAIN_POLICIES[p][third % 3] ?? 'reject'
    if (scramble(third ^ 0x6e70) % 100 < 3 && (tags.sp ?? p) !== 'reject') tags.np = 'reject'
  }
  if (p === 'none') return tags
  if (scramble(fourth ^ 0x74) % 100 < 1) tags.testing = 'y'
  else if (scramble(first ^ 0x706374) % 100 < 3) tags.pct = [10, 25, 50][second % 3] ?? 25
  return tags
}

/** Some domains first protect names that send no mail. Some protect the subdomains later than the domain itself. */
const SUBDOMAIN_POLICIES: Readonly<Record<Policy, readonly Policy[]>> = {
  none: ['reject', 'quarantine', 'reject'],
  quarantine: ['reject', 'none', 'reject'],
  reject: ['none', 'quarantine', 'quarantine'],
}
