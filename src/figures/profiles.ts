import type { Policy, PolicyTags } from '../domain/dmarc.ts'
import { PROFILE_NAMES, type ProfileName } from '../domain/profile.ts'
import { fraction, scramble, type Words } from '../ground/chance.ts'

/** The mail of a domain on one day. Shares are per 10,000 messages. For the rest, both SPF and DKIM are aligned. */
export interface Traffic {
  /** A multiple of the usual volume of the domain. */
  volume: number
  dkimOnly: number
  spfOnly: number
  neither: number
}

/** The lasting properties of a domain, from the seed and its name. */
export interface Traits {
  words: Words
  /** Messages in an ordinary 30 days. */
  monthly: number
  /** Shares of the week, Sunday first, that add up to 7. */
  week: readonly number[]
  /** The mail of a domain that is set up correctly. */
  usual: Traffic
  /** The published tags, if the story of the profile does not give others. */
  policy: PolicyTags
}

/** A kind of domain. `age` is the number of days since its story began; before that it is negative. */
interface Profile {
  /** How many of a thousand domains are of this kind. Sources of the published mix: see `POLICY_SHARES`. */
  share: number
  /** Per thousand, which policy domains of this kind publish: none, quarantine, and reject for the rest. */
  policies: readonly [none: number, quarantine: number]
  /** Whether its mail or its policy changes with the age. */
  story?: true
  tags?(traits: Traits, age: number): PolicyTags
  traffic(traits: Traits, age: number): Traffic
}

const SILENCE: Traffic = { volume: 0, dkimOnly: 0, spfOnly: 0, neither: 0 }

/**
 * Policies among domains with a record, in percent: a mean of the scans published in 2026 (none 33–50, quarantine
 * 25–38, reject 25–35), near the customers of monitoring services; about 6 % of monitored domains have no record.
 */
export const POLICY_SHARES = { none: 33, quarantine: 38, reject: 29, noRecord: 6 } as const

/** Every profile, in the order of `PROFILE_NAMES`. */
export const PROFILES: Readonly<Record<ProfileName, Profile>> = {
  enforced: { share: 290, policies: [0, 700], traffic: ({ usual }) => usual },
  'rolling-out': {
    share: 80,
    story: true,
    policies: [1000, 0],
    tags: rolloutTags,
    traffic({ usual, words }, age) {
      const neither = fade(1000 + (words[1] % 1500), usual.neither, age, 2 * rolloutStep(words))
      return { ...usual, neither }
    },
  },
  'monitoring-only': {
    share: 240,
    policies: [1000, 0],
    traffic({ usual, words }) {
      const kind = words[1] % 20
      const neither =
        kind < 9 ? usual.neither : kind < 17 ? between(words[2], 300, 1500) : between(words[2], 1500, 6000)
      return { volume: 1, dkimOnly: between(words[3], 300, 1200), spfOnly: between(words[0], 100, 800), neither }
    },
  },
  'forwarding-heavy': {
    share: 80,
    policies: [330, 590],
    traffic: ({ usual, words }) => ({
      ...usual,
      dkimOnly: between(words[2], 2500, 4500),
      spfOnly: between(words[3], 10, 80),
    }),
  },
  'broken-spf': {
    share: 40,
    policies: [330, 590],
    traffic({ words }) {
      const neither = between(words[2], 300, 1300)
      const spfOnly = between(words[3], 0, 20)
      return { volume: 1, dkimOnly: 10_000 - neither - spfOnly - between(words[1], 0, 250), spfOnly, neither }
    },
  },
  'broken-dkim': {
    share: 40,
    policies: [330, 590],
    traffic({ words }) {
      const neither = between(words[2], 500, 1500)
      const dkimOnly = between(words[3], 0, 20)
      return { volume: 1, spfOnly: 10_000 - neither - dkimOnly - between(words[1], 0, 250), dkimOnly, neither }
    },
  },
  'new-esp': {
    share: 30,
    story: true,
    policies: [330, 590],
    traffic({ usual, words }, age) {
      // The new sender sends additional mail. It does not sign as the domain, and it is not in its SPF record.
      const added = between(words[2], 4000, 12_000) / 10_000
      return age < 0 ? usual : diluted(usual, added)
    },
  },
  spoofed: {
    share: 25,
    story: true,
    policies: [330, 590],
    traffic({ usual, words }, age) {
      if (age < 0) return usual
      const wave = scramble(words[2] ^ Math.floor(age / 3))
      return diluted(usual, between(wave, 20_000, 90_000) / 10_000)
    },
  },
  parked: { share: 115, policies: [0, 0], traffic: () => SILENCE },
  'no-record': { share: 60, policies: [1000, 0], tags: () => ({ p: 'none' }), traffic: () => SILENCE },
  new: {
    share: 0,
    story: true,
    policies: [1000, 0],
    tags: () => ({ p: 'none' }),
    traffic: ({ usual }, age) => (age < 0 ? SILENCE : { ...usual, volume: Math.min(1, (age + 1) / 14) }),
  },
}

/** A profile by chance, for a domain without a chosen one. */
export function drawProfile(word: number): ProfileName {
  let rest = word % 1000
  for (const name of PROFILE_NAMES) {
    rest -= PROFILES[name].share
    if (rest < 0) return name
  }
  return 'enforced'
}

export function hasStory(profile: ProfileName): boolean {
  return PROFILES[profile].story === true
}

export function trafficOn(profile: ProfileName, traits: Traits, age: number): Traffic {
  return PROFILES[profile].traffic(traits, age)
}

export function tagsOn(profile: ProfileName, traits: Traits, age: number): PolicyTags {
  return PROFILES[profile].tags?.(traits, age) ?? traits.policy
}

/** Draws the properties of a domain. `words` must depend only on seed and domain. `volume` is in messages per month. */
export function drawTraits(profile: ProfileName, words: Words, volume?: number): Traits {
  const [first, second, third, fourth] = words
  const mail = scramble(first ^ 0x6d61696c)
  const forwarded = between(mail, 80, 600)
  const unsigned = between(scramble(mail), 10, 300)
  // Forwarding breaks SPF but not DKIM, so SPF is the lower figure for two of three domains.
  const [dkimOnly, spfOnly] = second % 3 === 0 ? [unsigned, forwarded] : [Math.max(forwarded, unsigned + 20), unsigned]
  return {
    words,
    monthly: volume ?? volumeAt(fraction(scramble(second ^ 0x766f6c75))),
    week: third % 2 === 0 ? CAMPAIGN_WEEK : OFFICE_WEEK,
    usual: { volume: 1, dkimOnly, spfOnly, neither: between(scramble(fourth), 20, 260) },
    policy: drawPolicy(PROFILES[profile].policies, words),
  }
}

/** 12 % publish sp, 3 % np, 1 % t=y, 3 % a pct below 100. */
function drawPolicy([none, quarantine]: Profile['policies'], [first, second, third, fourth]: Words): PolicyTags {
  const draw = scramble(first ^ 0x706f6c69) % 1000
  const p: Policy = draw < none ? 'none' : draw < none + quarantine ? 'quarantine' : 'reject'
  const tags: PolicyTags = { p }
  if (scramble(second ^ 0x7370) % 100 < 12) tags.sp = third % 3 === 0 ? 'none' : 'reject'
  if (scramble(third ^ 0x6e70) % 100 < 3) tags.np = 'reject'
  if (scramble(fourth ^ 0x74) % 100 < 1) tags.testing = 'y'
  if (scramble(first ^ 0x706374) % 100 < 3 && p !== 'none') tags.pct = [10, 25, 50][second % 3] ?? 25
  return tags
}

/** A rollout publishes none, then quarantine (with t=y in the first week), then reject. Each step takes some weeks. */
function rolloutTags({ words }: Traits, age: number): PolicyTags {
  const step = rolloutStep(words)
  if (age < step) return { p: 'none' }
  if (age < 2 * step) return { p: 'quarantine', testing: age < step + 7 ? 'y' : 'n' }
  return { p: 'reject' }
}

function rolloutStep(words: Words): number {
  return 21 + 7 * (words[3] % 4)
}

/** `usual`, and unaligned mail of so many times its volume. */
function diluted(usual: Traffic, added: number): Traffic {
  const kept = 1 / (1 + added)
  return {
    volume: 1 + added,
    dkimOnly: usual.dkimOnly * kept,
    spfOnly: usual.spfOnly * kept,
    neither: 10_000 * (1 - kept) + usual.neither * kept,
  }
}

/** Linear interpolation from `first` at age 0 to `last` at age `length`. */
function fade(first: number, last: number, age: number, length: number): number {
  const passed = Math.min(Math.max(age, 0), length) / length
  return first + (last - first) * passed
}

function between(word: number, low: number, high: number): number {
  return low + (word % (high - low + 1))
}

/**
 * Most campaigns are sent on Thursdays and Tuesdays, half as many at weekends (published statistics). Offices rest
 * then.
 */
const CAMPAIGN_WEEK = weekOf([8.5, 16, 17, 16, 18, 16, 9])
const OFFICE_WEEK = weekOf([3, 18.5, 19.5, 19, 19, 17, 4])

function weekOf(shares: readonly number[]): readonly number[] {
  const whole = shares.reduce((sum, share) => sum + share, 0)
  return shares.map((share) => (share * 7) / whole)
}

/** Quantiles of a log-normal distribution: median 300 messages per month, σ 2.2, at most 5 million. */
const VOLUMES: readonly (readonly [quantile: number, messages: number])[] = [
  [0, 0.3],
  [0.01, 1.8],
  [0.03, 4.8],
  [0.06, 9.8],
  [0.1, 18],
  [0.15, 31],
  [0.2, 47],
  [0.25, 68],
  [0.3, 95],
  [0.35, 129],
  [0.4, 172],
  [0.45, 228],
  [0.5, 300],
  [0.55, 396],
  [0.6, 524],
  [0.65, 700],
  [0.7, 951],
  [0.75, 1323],
  [0.8, 1911],
  [0.85, 2934],
  [0.9, 5031],
  [0.93, 7711],
  [0.95, 11_188],
  [0.97, 18_802],
  [0.98, 27_505],
  [0.99, 50_100],
  [0.995, 86_657],
  [0.998, 168_723],
  [0.9995, 417_784],
  [1, 5_000_000],
]

function volumeAt(quantile: number): number {
  let [low, less] = [0, 0]
  for (const knot of VOLUMES) {
    const [high, more] = knot
    if (high > quantile) return less + ((more - less) * (quantile - low)) / (high - low)
    low = high
    less = more
  }
  return less
}
