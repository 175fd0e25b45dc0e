import { fraction, scramble } from '../ground/chance.ts'

/** Why the mail of a domain is unusual for some time. */
export type EpisodeKind =
  | 'attack'
  | 'broken-dkim'
  | 'broken-spf'
  | 'new-sender'
  | 'signed-sender'
  | 'unauthenticated'
  | 'authentication'
  | 'unused'
  | 'growth'

/** A range of days with unusual mail of a domain. */
export interface Episode {
  kind: EpisodeKind
  /** The first of these days; -Infinity if it was always so. */
  from: number
  /** The day after the last. */
  until: number
  /**
   * For an attack: messages in 30 days. For a sender: a multiple of the usual volume. For a broken mechanism: the share
   * of the affected mail. For unauthenticated mail: how many of 10,000 messages fail at the beginning.
   */
  strength: number
}

/** The mail of a domain on one day. Shares are per 10,000 of its own messages; the rest has SPF and DKIM aligned. */
export interface DayMail {
  /** A multiple of the usual volume of the domain. */
  volume: number
  dkimOnly: number
  spfOnly: number
  neither: number
  /** Forged messages, as their number in 30 such days. They come day and night, on weekdays and at weekends. */
  forged: number
}

/** Applies the episode to the mail of a day. */
export function applyEpisode({ kind, from, until, strength }: Episode, traffic: DayMail, day: number): void {
  if (day < from || day >= until) return
  switch (kind) {
    case 'attack':
      // Forgers send in waves of several days.
      traffic.forged +=
        strength * (0.7 + 0.6 * fraction(scramble(Math.floor(strength) ^ Math.imul(Math.floor(day / 3), 0x9e3779b1))))
      break
    case 'broken-dkim': {
      const both = 10_000 - traffic.dkimOnly - traffic.spfOnly - traffic.neither
      traffic.spfOnly += both * strength
      traffic.neither += traffic.dkimOnly * strength
      traffic.dkimOnly *= 1 - strength
      break
    }
    case 'broken-spf': {
      const both = 10_000 - traffic.dkimOnly - traffic.spfOnly - traffic.neither
      traffic.dkimOnly += both * strength
      traffic.neither += traffic.spfOnly * strength
      traffic.spfOnly *= 1 - strength
      break
    }
    case 'new-sender':
    case 'signed-sender': {
      // The sender bounces to another domain, so SPF is not aligned. Its mail passes only with this domain's DKIM.
      const kept = traffic.volume / (traffic.volume + strength)
      const added = 10_000 * (1 - kept)
      traffic.volume += strength
      traffic.dkimOnly = traffic.dkimOnly * kept + (kind === 'signed-sender' ? added : 0)
      traffic.neither = traffic.neither * kept + (kind === 'new-sender' ? added : 0)
      traffic.spfOnly *= kept
      break
    }
    case 'unauthenticated':
      traffic.neither = strength
      break
    case 'authentication':
      traffic.neither += (strength - traffic.neither) * ((until - day) / (until - from))
      break
    case 'unused':
      traffic.volume = 0
      break
    case 'growth':
      traffic.volume *= (day - from + 1) / (until - from + 1)
      break
  }
}

/** In days, the length of a window with at most one incident. */
const WINDOW = 110
/** The percentage of such windows with an incident. */
const INCIDENTS = 60

interface DayRange {
  from: number | undefined
  until: number | undefined
}

/** Whether one of the days from `first` up to `last` is in the span, which may have no beginning or no end. */
export function touches({ from, until }: DayRange, first: number, last: number): boolean {
  return (from ?? first) < last && (until ?? last) > first
}

/**
 * The incidents of a domain in the windows of the days from `first` up to `last`. Any domain with mail has them: at times it
 * is attacked, or a sender of its mail is broken or new. `origin` is the day with which the windows begin. If it is a
 * beginning, there is no incident before it.
 */
export function incidents(word: number, calendar: Calendar, monthly: number, first: number, last: number): Episode[] {
  const found: Episode[] = []
  for (const { start, draw } of cyclesOf(calendar, WINDOW, word, first, last)) {
    if (draw % 100 >= INCIDENTS) continue
    const end = start + WINDOW
    const begin = start + between(scramble(draw), 3, 60)
    const second = scramble(draw ^ 0x6b696e64)
    const strength = fraction(scramble(second))
    const kind = (second >>> 8) % 100
    if (kind < 40) {
      // The strength of an attack does not depend only on the size of the victim.
      const forged = forgedVolume(monthly, 0.3 + 2 * strength, second)
      found.push({ kind: 'attack', from: begin, until: begin + between(second, 4, 20), strength: forged })
    } else if (kind < 82) {
      const isDkim = kind < 62
      const until = begin + between(second, 3, isDkim ? 14 : 12)
      found.push({ kind: isDkim ? 'broken-dkim' : 'broken-spf', from: begin, until, strength: 0.2 + 0.7 * strength })
    } else {
      found.push(...newSender(begin, begin + between(second, 10, 30), end, 0.1 + 0.3 * strength))
    }
  }
  return found
}

/** A new sender in the name of the domain. After some time, it signs its mail as the domain. */
export function newSender(from: number, signed: number, until: number, strength: number): Episode[] {
  return [
    { kind: 'new-sender', from, until: signed, strength },
    { kind: 'signed-sender', from: signed, until, strength },
  ]
}

/** Forged messages in 30 days, for a domain with `monthly` messages of its own. */
export function forgedVolume(monthly: number, factor: number, word: number): number {
  return monthly * factor + between(word, 150, 2500)
}

/** The division of the days into cycles. */
export interface Calendar {
  /** A day on which a cycle begins. */
  origin: number
  /** Whether it is the first. */
  isBeginning: boolean
}

interface Cycle {
  start: number
  /** Whether nothing was before it. */
  isFirst: boolean
  /** A random word. */
  draw: number
}

/** The cycles of this length that touch the days from `first` up to `last`; there may be none. `word` is random. */
export function cyclesOf(
  { origin, isBeginning }: Calendar,
  length: number,
  word: number,
  first: number,
  last: number,
): Cycle[] {
  const cycles: Cycle[] = []
  const earliest = Math.floor((first - origin) / length)
  const latest = Math.floor((last - 1 - origin) / length)
  for (let ordinal = isBeginning ? Math.max(0, earliest) : earliest; ordinal <= latest; ordinal++) {
    const draw = scramble(word ^ Math.imul(ordinal + 1, 0x9e3779b1))
    cycles.push({ start: origin + ordinal * length, isFirst: isBeginning && ordinal === 0, draw })
  }
  return cycles
}

export function between(word: number, low: number, high: number): number {
  return low + (word % (high - low + 1))
}
