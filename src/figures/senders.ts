import type { MonitoredDomain } from '../domain/account.ts'
import type { MessageCounts } from '../domain/dmarc.ts'
import { type Character, episodesOf } from './character.ts'
import { applyEpisode, type DayMail, type Episode } from './episodes.ts'
import { type CountedDays, characterIn, countedDays, type FigureRules, type Monitoring, sourceOf } from './figures.ts'
import { countForged, countMessages } from './messages.ts'

/** The senders of a domain's mail, in the order of a report. No real company is named. */
const SENDERS = [
  'own-servers',
  'newsletter-provider',
  'applications',
  'wrong-key',
  'missing-in-spf',
  'new-provider',
  'not-set-up',
  'forwarders',
  'mailing-lists',
  'forgers',
] as const

export type SenderName = (typeof SENDERS)[number]

/** Whose mail it is: legitimate mail of senders who can be set up, such mail that others pass on, or forged mail. */
export type SenderKind = 'own' | 'forwarded' | 'forged'

/** The mail of one sender in the days that a record counts. */
export interface SenderFigures {
  sender: SenderName
  counts: MessageCounts
}

type Alignment = keyof MessageCounts
type Mix = Map<SenderName, number>
/** Shares of the senders in the domain's own mail of a day, for each way not to be aligned twice. */
type Mixes = Record<Exclude<Alignment, 'both'>, Mix>

/**
 * The senders of the mail that the record of the refresh `day` counts, without those that sent nothing. Their sums are
 * the counts of that record. Empty if it counts no mail.
 */
export function sendersOf(
  account: Monitoring,
  domain: MonitoredDomain,
  day: number,
  { settings }: FigureRules,
): SenderFigures[] {
  const character = characterIn(account.seed, domain)
  const source = sourceOf(account, domain, character, day, settings)
  const days = source && countedDays(domain, source, day, settings)
  return days === undefined ? [] : divideMail(character, days)
}

export function kindOf(sender: SenderName): SenderKind {
  if (sender === 'forgers') return 'forged'
  return sender === 'forwarders' || sender === 'mailing-lists' ? 'forwarded' : 'own'
}

/** Each message belongs to a sender by the causes that shape the mail of its day, see `applyEpisode`. */
function divideMail(character: Character, { first, last, since }: CountedDays): SenderFigures[] {
  const total: MessageCounts = { both: 0, dkimOnly: 0, spfOnly: 0, neither: 0 }
  const weights: Record<Alignment, Mix> = {
    both: usualOfBoth(character),
    ...{ dkimOnly: new Map(), spfOnly: new Map(), neither: new Map() },
  }
  let forged = 0
  const begin = Math.max(first, Math.floor(since))
  const episodes = episodesOf(character, begin, last)
  for (let day = begin; day < last; day++) {
    const counts = countMessages(character, day, day + 1, since)
    const forgedNow = countForged(character, day, day + 1, since)
    forged += forgedNow
    const mixes = mixesOn(character, episodes, day)
    for (const alignment of ['dkimOnly', 'spfOnly', 'neither'] as const) {
      const own = counts[alignment] - (alignment === 'neither' ? forgedNow : 0)
      addShares(weights[alignment], mixes[alignment], own)
      total[alignment] += own
    }
    total.both += counts.both
  }
  const found = new Map<SenderName, MessageCounts>()
  const give = (sender: SenderName, alignment: Alignment, count: number) => {
    const counts = found.get(sender) ?? { both: 0, dkimOnly: 0, spfOnly: 0, neither: 0 }
    counts[alignment] += count
    found.set(sender, counts)
  }
  for (const alignment of Object.keys(total) as Alignment[]) {
    for (const [sender, count] of apportion(total[alignment], weights[alignment])) give(sender, alignment, count)
  }
  if (forged > 0) give('forgers', 'neither', forged)
  return SENDERS.flatMap((sender) => {
    const counts = found.get(sender)
    return counts === undefined ? [] : [{ sender, counts }]
  })
}

/** Campaigns are mostly sent by a provider, the mail of people by the servers of the domain. Offices rest at weekends. */
function usualOfBoth({ week, words }: Character): Mix {
  const weekend = (week[0] ?? 0) + (week[6] ?? 0)
  const provider = (weekend > 1 ? 50 : 5) + (words[2] % 20)
  return new Map([
    ['own-servers', 100 - provider],
    ['newsletter-provider', provider],
  ])
}

/** The shares of the senders on a day; for each alignment, their sum is the share of all mail in `DayMail`. */
function mixesOn(character: Character, episodes: readonly Episode[], day: number): Mixes {
  const traffic = { ...character.usual }
  const { dkimOnly, spfOnly, neither } = traffic
  const [viaOthers, failing] = USUAL_SENDERS[character.profile] ?? ['forwarders', 'mailing-lists']
  const mixes: Mixes = {
    dkimOnly: new Map([[viaOthers, dkimOnly]]),
    spfOnly: new Map([['applications', spfOnly]]),
    neither: new Map([[failing, neither]]),
  }
  for (const episode of episodes) {
    if (day < episode.from || day >= episode.until) continue
    applyToMixes(episode, mixes, traffic, day)
    applyEpisode(episode, traffic, day)
  }
  return mixes
}

/** By profile, where it is unusual: the senders of mail with only DKIM, and of mail of the domain that fails. */
const USUAL_SENDERS: Partial<Record<Character['profile'], readonly [SenderName, SenderName]>> = {
  'broken-spf': ['missing-in-spf', 'missing-in-spf'],
  'broken-dkim': ['forwarders', 'forwarders'],
  'monitoring-only': ['forwarders', 'not-set-up'],
  'no-record': ['forwarders', 'not-set-up'],
}

/** What `applyEpisode` does to the shares of all mail, done to the share of each sender. */
function applyToMixes(episode: Episode, mixes: Mixes, traffic: Readonly<DayMail>, day: number): void {
  const { kind, from, until, strength } = episode
  const { dkimOnly, spfOnly, neither } = mixes
  const both = 10_000 - traffic.dkimOnly - traffic.spfOnly - traffic.neither
  const scale = (mix: Mix, factor: number) => {
    for (const [sender, share] of mix) mix.set(sender, share * factor)
  }
  const add = (mix: Mix, sender: SenderName, share: number) => mix.set(sender, (mix.get(sender) ?? 0) + share)
  switch (kind) {
    case 'broken-dkim':
      add(spfOnly, 'wrong-key', both * strength)
      add(neither, 'wrong-key', traffic.dkimOnly * strength)
      scale(dkimOnly, 1 - strength)
      break
    case 'broken-spf':
      add(dkimOnly, 'missing-in-spf', both * strength)
      add(neither, 'missing-in-spf', traffic.spfOnly * strength)
      scale(spfOnly, 1 - strength)
      break
    case 'new-sender':
    case 'signed-sender': {
      const kept = traffic.volume / (traffic.volume + strength)
      for (const mix of [dkimOnly, spfOnly, neither]) scale(mix, kept)
      add(kind === 'signed-sender' ? dkimOnly : neither, 'new-provider', 10_000 * (1 - kept))
      break
    }
    case 'unauthenticated':
      neither.clear()
      add(neither, 'not-set-up', strength)
      break
    case 'authentication': {
      const left = (until - day) / (until - from)
      scale(neither, 1 - left)
      add(neither, 'not-set-up', strength * left)
      break
    }
    // These change how much mail there is, not who sends it. Forged mail is counted apart.
    case 'attack':
    case 'unused':
    case 'growth':
      break
  }
}

/** Adds the parts of `count` messages that the senders of the mix have. */
function addShares(weights: Mix, mix: Mix, count: number): void {
  const whole = [...mix.values()].reduce((sum, share) => sum + share, 0)
  if (count === 0 || whole === 0) return
  for (const [sender, share] of mix) weights.set(sender, (weights.get(sender) ?? 0) + (count * share) / whole)
}

/** Divides a whole number in proportion to the weights into whole numbers with the same sum. */
function apportion(count: number, weights: Mix): [SenderName, number][] {
  const whole = [...weights.values()].reduce((sum, weight) => sum + weight, 0)
  if (count === 0) return []
  if (whole === 0) return [['own-servers', count]]
  const exact = [...weights].map(([sender, weight]) => ({ sender, part: (count * weight) / whole }))
  const parts = exact.map(({ sender, part }) => ({ sender, count: Math.floor(part), rest: part - Math.floor(part) }))
  let missing = count - parts.reduce((sum, part) => sum + part.count, 0)
  for (const part of parts.toSorted((one, other) => other.rest - one.rest)) {
    if (missing-- <= 0) break
    part.count += 1
  }
  return parts.filter((part) => part.count > 0).map((part) => [part.sender, part.count])
}
