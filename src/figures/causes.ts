import type { MonitoredDomain } from '../domain/account.ts'
import { COUNT_PERIOD, firstReportingDay, inheritTags, type PolicyTags, pinTags } from '../domain/dmarc.ts'
import { pinOn, pinSpans } from '../domain/pins.ts'
import { type Character, characterOf, episodesOf, policySteps, publishedTags } from './character.ts'
import { type Episode, type EpisodeKind, touches } from './episodes.ts'
import { type FigureRules, type Monitoring, sourceOf } from './figures.ts'

/** The data from which the figures of a domain are derived. */
export interface Background {
  character: Character
  /** The tags of its own record on the day; absent if it has none. */
  published: PolicyTags | undefined
  /** The domain above it whose record applies; absent if it has an own record, or if no record applies. */
  inheritsFrom: string | undefined
  /** All causes of changes in its figures on the requested days, in order of their beginning. */
  causes: Cause[]
}

/** Why the figures of a domain change; see `CAUSES`. The days are numbers of refreshes. */
interface Cause {
  kind: CauseKind
  /** The first day; absent if it was always so. */
  from: number | undefined
  /** The day after the last; absent if there is no end yet. */
  until: number | undefined
  /** One sentence for a person. */
  description: string
}

const percent = (share: number) => `${Math.round(share * 100)} %`

const WORDS: Readonly<Record<EpisodeKind, (episode: Episode) => string>> = {
  attack: ({ strength }) =>
    `Others forge mail in its name, about ${Math.round(strength / 30).toLocaleString('en')} messages a day.`,
  'broken-dkim': ({ strength }) => `A sender of ${percent(strength)} of its mail signs with a wrong key.`,
  'broken-spf': ({ strength }) => `The SPF record misses a sender of ${percent(strength)} of its mail.`,
  'new-sender': ({ strength }) => `A new sender adds ${percent(strength)} to its mail and does not sign it.`,
  'signed-sender': ({ strength }) => `The sender that adds ${percent(strength)} to its mail signs it now.`,
  unauthenticated: ({ strength }) => `Senders of ${percent(strength / 10_000)} of its mail are not authenticated yet.`,
  authentication: ({ strength }) => {
    return `Senders are authenticated one after another; at first, ${percent(strength / 10_000)} of its mail failed.`
  },
  unused: () => 'No mail is sent in its name yet.',
  growth: () => 'It has begun to send mail, more each day.',
}

/** What can change the figures of a domain. The weekdays and, slowly, the seasons change them as well. */
const CAUSES = [...(Object.keys(WORDS) as EpisodeKind[]), 'policy', 'addition', 'inheritance', 'fixed'] as const

export type CauseKind = (typeof CAUSES)[number]

/** The reasons for the figures of a domain on the refresh day `day`, and for changes from `first` up to `last`. */
export function explainFigures(
  account: Monitoring,
  domain: MonitoredDomain,
  day: number,
  { first, last }: { first: number; last: number },
  rules: FigureRules,
): Background {
  const { seed } = account
  const character = characterOf(seed, domain)
  const published = publishedTags(character, day)
  const source = sourceOf(account, domain, character, day, rules.settings)
  // Without reports, there are no figures that could change.
  const episodes = source === undefined ? [] : episodesOf(character, first, last)
  const causes = episodes.map((episode): Cause => {
    const { kind, from, until } = episode
    return { kind, from: Number.isFinite(from) ? from : undefined, until, description: WORDS[kind](episode) }
  })
  const above = source === domain ? undefined : source
  const steps =
    above === undefined ? stepsOf(character, first, last) : inheritance(seed, above, day, { first, last }, rules)
  const pins = pinsOf(domain, rules)
  const additions = source === undefined ? [] : [additionOf(domain, source, character, rules)]
  return {
    character,
    published,
    inheritsFrom: above?.name,
    causes: [...causes, ...steps, ...[...pins, ...additions].filter((each) => touches(each, first, last))].toSorted(
      (one, other) => (one.from ?? 0) - (other.from ?? 0),
    ),
  }
}

/** The first refresh with figures, and the next days, on which the count grows because more days are counted. */
function additionOf(
  domain: MonitoredDomain,
  source: MonitoredDomain,
  { usual }: Character,
  { settings }: FigureRules,
): Cause {
  const [own, other] = [firstReportingDay(domain, settings), firstReportingDay(source, settings)]
  const whose = own >= other ? 'It' : source.name
  const grows = usual.volume > 0 ? `, and its count grows for ${COUNT_PERIOD} days` : ''
  return {
    kind: 'addition',
    from: Math.max(own, other),
    until: Math.max(own, other) + COUNT_PERIOD,
    description: `${whose} was added, so from now on the policy of its DNS shows${grows}.`,
  }
}

function stepsOf(character: Character, first: number, last: number): Cause[] {
  if (character.given?.p !== undefined) return []
  const steps = policySteps(character, first, last)
  return steps
    .map(({ from, tags, because }, index): Cause => {
      const tested = tags.testing === 'y' ? ' in test mode' : ''
      const description = `The policy is ${tags.p}${tested}: ${because}.`
      return { kind: 'policy', from, until: steps[index + 1]?.from, description }
    })
    .filter((step) => touches(step, first, last))
}

/** The fixed values of its record, now and before. */
function pinsOf(domain: MonitoredDomain, { settings }: FigureRules): Cause[] {
  return pinSpans(domain, settings.refresh).map(({ pin, from, until }): Cause => {
    const values = Object.entries(pin).map(([field, value]) => `${field} ${value}`)
    return { kind: 'fixed', from, until, description: `Fields of its record have fixed values: ${values.join(', ')}.` }
  })
}

/** The inherited policy of a domain, and the changes in the record above it. */
function inheritance(
  seed: number,
  source: MonitoredDomain,
  day: number,
  { first, last }: { first: number; last: number },
  { settings }: FigureRules,
): Cause[] {
  const character = characterOf(seed, source)
  const tags = pinTags(publishedTags(character, day), pinOn(source, day, settings.refresh) ?? {})
  const policy = tags === undefined ? '' : `: ${inheritTags(tags).p}`
  const description = `It has no record, so the subdomain policy of ${source.name} applies${policy}.`
  const steps = stepsOf(character, first, last).map((step): Cause => {
    return { ...step, kind: 'inheritance', description: `At ${source.name}: ${step.description}` }
  })
  return [{ kind: 'inheritance', from: undefined, until: undefined, description }, ...steps]
}
