import type { Group, MonitoredDomain } from '../responses.ts'

/** The filter value for a domain that publishes no record. */
export const NO_RECORD = 'no record'
/** The protection by each policy. Any other text of a contract sorts first. */
const RANKS: Readonly<Record<string, number>> = { [NO_RECORD]: 1, none: 2, quarantine: 3, reject: 4 }

const COLUMN_NAMES = ['added', 'domain', 'policy', 'dmarc', 'dkim', 'spf', 'count', 'features', 'groups'] as const
export type Column = (typeof COLUMN_NAMES)[number]

export interface Order {
  by: Column
  descending: boolean
}

/** The order that an address names; a minus means descending, as in `-count`. */
export function readOrder(text: string): Order {
  const descending = text.startsWith('-')
  const name = text.slice(descending ? 1 : 0)
  return { by: COLUMN_NAMES.find((each) => each === name) ?? 'added', descending }
}

export function writeOrder({ by, descending }: Order): string {
  return by === 'added' && !descending ? '' : `${descending ? '-' : ''}${by}`
}

export interface Wanted {
  /** A part of a name, in any case and script. */
  search: string
  /** Empty for all, as is the profile. */
  policy: string
  profile: string
}

export type GroupsByDomain = ReadonlyMap<string, readonly Group[]>

/** The policy that GET /dmarc shows for a domain, or `NO_RECORD`. */
export function policyOf({ record, policy, inherits_from: source, pinned }: MonitoredDomain): string {
  const isPublished = policy !== null || source !== null || pinned['p'] !== undefined
  return isPublished ? (record?.p ?? NO_RECORD) || NO_RECORD : NO_RECORD
}

/** Sorts domains. Equal domains keep the order of addition. Domains without a value come last. */
export function sortDomains(
  domains: readonly MonitoredDomain[],
  { by, descending }: Order,
  groups: GroupsByDomain,
): readonly MonitoredDomain[] {
  if (by === 'added') return descending ? domains.toReversed() : domains
  const sign = descending ? -1 : 1
  const keyed = domains.map((domain) => ({ domain, key: keyOf(domain, by, groups) }))
  keyed.sort(({ key: one }, { key: other }) => {
    if (one === other) return 0
    if (one === undefined) return 1
    if (other === undefined) return -1
    return one < other ? -sign : sign
  })
  return keyed.map(({ domain }) => domain)
}

function keyOf(domain: MonitoredDomain, by: Column, groups: GroupsByDomain): string | number | undefined {
  switch (by) {
    case 'domain':
      return domain.domain
    case 'policy':
      return rankOf(domain)
    case 'features':
      return domain.features.length
    case 'groups':
      return groups.get(domain.domain)?.length ?? 0
    case 'added':
      return undefined
    default:
      // Nothing is known about the mail of a domain without reports, so it has no value to sort by.
      return domain.reports === 'none' ? undefined : domain.record?.[by]
  }
}

/** A policy ranks above the same policy in test mode. The policies for subdomains decide between equal ones. */
function rankOf(domain: MonitoredDomain): number {
  const rank = (policy: string | null | undefined) => RANKS[policy ?? ''] ?? 0
  const policy = policyOf(domain)
  if (policy === NO_RECORD) return rank(NO_RECORD)
  const { testing, sp, np } = domain.record ?? {}
  return rank(policy) * 1000 + (testing === 'y' ? 0 : 500) + rank(sp) * 10 + rank(np)
}

export function filterDomains(domains: readonly MonitoredDomain[], wanted: Wanted): readonly MonitoredDomain[] {
  const { search, policy, profile } = wanted
  const parts = spellingsOf(search)
  if (parts.length === 0 && policy === '' && profile === '') return domains
  return domains.filter(
    (domain) =>
      (parts.length === 0 || parts.some((part) => domain.domain.includes(part))) &&
      (profile === '' || domain.profile === profile) &&
      (policy === '' || policyOf(domain) === policy),
  )
}

/** The spellings to search for. Names are stored in lower case and ASCII, so `Münch` also means `xn--…`. */
function spellingsOf(search: string): string[] {
  const typed = search.trim().toLowerCase()
  if (typed === '') return []
  return [...new Set([typed, toAscii(typed)])]
}

function toAscii(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are all characters of ASCII.
  if (/^[\x00-\x7f]*$/.test(text)) return text
  try {
    return new URL(`ftp://${text}`).hostname
  } catch {
    return text
  }
}
