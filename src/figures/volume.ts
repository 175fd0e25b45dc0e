import { fraction, scramble, wordsOf } from '../ground/chance.ts'

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
export const LARGEST_VOLUME = 4_000_000

/** The usual mail of a domain, derived from its name. */
export interface UsualVolume {
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
export function usualVolume(name: string, seed: number, word: number): UsualVolume {
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
