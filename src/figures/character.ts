import type { MonitoredDomain } from '../domain/account.ts'
import { type PolicyTags, type ProfileName, replaceTags } from '../domain/dmarc.ts'
import { fraction, scramble, type Words, wordsOf } from '../ground/chance.ts'
import { between, type Calendar, type DayMail, type Episode, incidents, touches } from './episodes.ts'
import { drawPolicy, drawProfile, type PolicyStep, PROFILES } from './profiles.ts'

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

/** When mail is sent: campaigns on some weekdays, mail of people in their office hours. */
type Week = 'campaign' | 'office'

/** The use of a hostname. */
interface Role {
  labels: readonly string[]
  /** Its mail as a multiple of the mail of its organisation's main domain. */
  weight: number
  week?: Week
}

/** Own estimates; no distribution of mail over the roles of an estate has been published. */
const ROLES: readonly Role[] = [
  { labels: ['mail', 'email', 'smtp', 'office', 'hq', 'team', 'staff', 'corp'], weight: 0.8, week: 'office' },
  {
    labels: ['news', 'newsletter', 'mailing', 'letter', 'marketing', 'offers', 'club', 'spring', 'campaign'],
    weight: 2.5,
    week: 'campaign',
  },
  { labels: ['shop', 'store', 'orders', 'checkout', 'tickets', 'booking'], weight: 1.2, week: 'campaign' },
  { labels: ['notify', 'notifications', 'alerts', 'noreply', 'app', 'accounts', 'account'], weight: 0.9 },
  { labels: ['invoices', 'billing', 'pay', 'payments'], weight: 0.3, week: 'office' },
  { labels: ['support', 'help', 'service', 'helpdesk'], weight: 0.35, week: 'office' },
  { labels: ['alumni', 'members', 'lists', 'forum'], weight: 0.15 },
  { labels: ['partners', 'events', 'press', 'investors', 'blog'], weight: 0.03, week: 'office' },
  { labels: ['careers', 'jobs', 'people', 'hr'], weight: 0.02, week: 'office' },
  { labels: ['status', 'monitoring'], weight: 0.01 },
  { labels: ['www', 'api', 'cdn', 'static', 'docs', 'dev', 'test', 'staging', 'intranet'], weight: 0.003 },
]
const ROLE_OF = new Map(ROLES.flatMap((role) => role.labels.map((label) => [label, role] as const)))
/** A subdomain whose label has no known meaning. */
const SOME_SUBDOMAIN: Role = { labels: [], weight: 0.1 }
const MAIN_DOMAIN: Role = { labels: [], weight: 1 }

/** Weights by parts of a name that show the rank of a domain in its organisation. */
const RANKS: readonly (readonly [pattern: RegExp, weight: number])[] = [
  [/-(online|old|outlet|archive)$|^(my|get|the|try|go)-/, 0.01],
  [/-(sale|deals|club|shop|store)$/, 0.4],
  [/-(nordics|benelux|iberia|dach|alps|uk|usa|eu|emea|apac|[a-z]{2})$/, 0.2],
]

/** Second-level labels below which registries sell names, as in `co.uk`. */
const REGISTRY = /^(co|com|org|net|gov|ac|edu|or|ne)$/

/** The parts of a hostname. */
interface Anatomy {
  /** The same for the domains of one organisation. */
  organisation: string
  role: Role
  /** Its mail as a multiple of that of the main domain. */
  weight: number
  isSubdomain: boolean
}

function dissect(name: string): Anatomy {
  const owned = name.slice(0, name.lastIndexOf('.', suffixAt(name) - 1) + 1)
  const owner = name.slice(owned.length, suffixAt(name))
  const [pattern, rank] = (owner.includes('-') ? RANKS.find(([each]) => each.test(owner)) : undefined) ?? [undefined, 1]
  const organisation = pattern === undefined ? owner : owner.replace(pattern, '')
  if (owned === '') return { organisation, role: MAIN_DOMAIN, weight: rank, isSubdomain: false }
  const below = owned.slice(0, -1).split('.')
  const role = below.map(roleOf).find((each) => each !== undefined) ?? SOME_SUBDOMAIN
  return { organisation, role, weight: (role.weight * rank) / below.length, isSubdomain: true }
}

/** The index at which the registry suffix begins: `.example`, `.co.uk`. */
function suffixAt(name: string): number {
  const last = name.lastIndexOf('.')
  const second = name.lastIndexOf('.', last - 1)
  return name.length - last === 3 && second > 0 && REGISTRY.test(name.slice(second + 1, last)) ? second : last
}

/** The role of `news2` and of `news-uk` is that of `news`. */
function roleOf(label: string): Role | undefined {
  return ROLE_OF.get(label) ?? ROLE_OF.get(/^[a-z]+/.exec(label)?.[0] ?? '')
}

/** The most messages of an ordinary month: with seasons and busy days, no 30 days have more than 5 million. */
const LARGEST_VOLUME = 4_000_000

/** The usual mail of a domain, derived from its name. */
interface UsualVolume {
  /** Messages in an ordinary 30 days. */
  monthly: number
  week: Week
  /** Whether it is below a registered name. */
  isSubdomain: boolean
}

/**
 * The mail volume of a domain: by the use of its name, by its rank in the organisation, and by the mail of the
 * organisation's main domain, which follows from the seed and the name of the organisation. `word` is random.
 */
function usualVolume(name: string, seed: number, word: number): UsualVolume {
  const { organisation, role, weight, isSubdomain } = dissect(name)
  const size = sizeAt(fraction(wordsOf(`${seed} organisation ${organisation}`)[0]))
  // The roles differ more than the domains of one role.
  const spread = 0.7 + 0.6 * fraction(scramble(word ^ 0x766f6c75))
  const monthly = Math.min(LARGEST_VOLUME, size * weight * spread)
  return { monthly, week: role.week ?? (word % 2 === 0 ? 'campaign' : 'office'), isSubdomain }
}

/** Quantiles of the mail of a monitored main domain: log-normal with a median of 300 messages a month and σ 2.2. */
const SIZES: readonly (readonly [quantile: number, messages: number])[] = [
  [0, 15],
  [0.06, 22],
  [0.1, 30],
  [0.15, 42],
  [0.2, 55],
  [0.25, 72],
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

function sizeAt(quantile: number): number {
  let [below, above] = [0, SIZES.length - 1]
  while (above - below > 1) {
    const middle = (below + above) >>> 1
    if ((SIZES[middle]?.[0] ?? 1) > quantile) above = middle
    else below = middle
  }
  const [[low, less] = [0, 0], [high, more] = [1, 0]] = [SIZES[below], SIZES[above]]
  return less + ((more - less) * (quantile - low)) / (high - low)
}
