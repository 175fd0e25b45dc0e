import type { MonitoredDomain } from '../domain/account.ts'
import { COUNT_PERIOD, firstReportingDay, refreshDay } from '../domain/dmarc.ts'
import { episodesOf, policySteps } from './character.ts'
import { type Episode, type EpisodeKind, touches } from './episodes.ts'
import { characterIn, type FigureRules, type Monitoring, sourceOf } from './figures.ts'

/** What can change the figures of a domain. The weekdays and, slowly, the seasons change them as well. */
type EventKind = EpisodeKind | 'policy' | 'addition' | 'fixed'

/** Why the figures of a domain change. The days are numbers of refreshes. */
interface FigureEvent {
  kind: EventKind
  /** The first day; absent if it was always so. */
  from: number | undefined
  /** The day after the last; absent if there is no end yet. */
  until: number | undefined
  /** One sentence for a person. */
  description: string
}

const percent = (share: number) => `${Math.round(share * 100)} %`

const WORDS: Readonly<Record<EpisodeKind, (strength: number) => string>> = {
  attack: (strength) =>
    `Others forge mail in its name, about ${Math.round(strength / 30).toLocaleString('en')} messages a day.`,
  'broken-dkim': (strength) => `A sender of ${percent(strength)} of its mail signs with a wrong key.`,
  'broken-spf': (strength) => `The SPF record misses a sender of ${percent(strength)} of its mail.`,
  'new-sender': (strength) => `A new sender adds ${percent(strength)} to its mail and does not sign it.`,
  'signed-sender': (strength) => `The sender that adds ${percent(strength)} to its mail signs it now.`,
  unauthenticated: (strength) => `Senders of ${percent(strength / 10_000)} of its mail are not authenticated yet.`,
  authentication: (strength) => {
    return `Senders are authenticated one after another; at first, ${percent(strength / 10_000)} of its mail failed.`
  },
  unused: () => 'No mail is sent in its name yet.',
  growth: () => 'It has begun to send mail, more each day.',
}

export function eventOf({ kind, from, until, strength }: Episode): FigureEvent {
  return { kind, from: Number.isFinite(from) ? from : undefined, until, description: WORDS[kind](strength) }
}

/** The events of a domain on the days from `first` up to `last`, as it is on the refresh day `day`, the earliest first. */
export function eventsOf(
  account: Monitoring,
  domain: MonitoredDomain,
  day: number,
  { first, last }: { first: number; last: number },
  { settings }: FigureRules,
): FigureEvent[] {
  const source = sourceOf(account, domain, day, settings)
  const events = pinEvents(domain, settings)
  // Without reports, there are no figures that could change.
  if (source !== undefined) {
    const episodes = episodesOf(characterIn(account.seed, domain), first, last)
    events.push(...episodes.map(eventOf), additionOf(account, domain, source, settings))
  }
  events.push(...policyEvents(account, domain, source ?? domain, first, last))
  return events
    .filter((each) => touches(each, first, last))
    .toSorted((one, other) => (one.from ?? 0) - (other.from ?? 0))
}

/** The fixed values of its record. */
function pinEvents({ pin, pinnedAt }: MonitoredDomain, { refresh }: FigureRules['settings']): FigureEvent[] {
  if (pin === undefined) return []
  const from = pinnedAt === undefined ? undefined : refreshDay(pinnedAt, refresh)
  const values = Object.entries(pin).map(([field, value]) => `${field} ${value}`)
  const description = `Fields of its record have fixed values: ${values.join(', ')}.`
  return [{ kind: 'fixed', from, until: undefined, description }]
}

/** The first refresh with figures, and the next days, on which the count grows because more days are counted. */
function additionOf(
  { seed }: Monitoring,
  domain: MonitoredDomain,
  source: MonitoredDomain,
  settings: FigureRules['settings'],
): FigureEvent {
  const [own, other] = [firstReportingDay(domain, settings), firstReportingDay(source, settings)]
  const from = Math.max(own, other)
  const whose = own >= other ? 'It' : source.name
  const grows = characterIn(seed, domain).usual.volume > 0 ? `, and its count grows for ${COUNT_PERIOD} days` : ''
  const description = `${whose} was added, so from now on the policy of its DNS shows${grows}.`
  return { kind: 'addition', from, until: from + COUNT_PERIOD, description }
}

/** The changes in the record that applies to the domain, which may be that of a domain above it. */
function policyEvents(
  { seed }: Monitoring,
  domain: MonitoredDomain,
  source: MonitoredDomain,
  first: number,
  last: number,
): FigureEvent[] {
  const character = characterIn(seed, source)
  if (character.given?.p !== undefined) return []
  const whose = source === domain ? '' : `At ${source.name}: `
  const steps = policySteps(character, first, last)
  return steps.map(({ from, tags, because }, index): FigureEvent => {
    const tested = tags.testing === 'y' ? ' in test mode' : ''
    const description = `${whose}The policy is ${tags.p}${tested}: ${because}.`
    return { kind: 'policy', from, until: steps[index + 1]?.from, description }
  })
}
