import type { MessageCounts } from '../domain/dmarc.ts'
import { scramble } from '../ground/chance.ts'
import { type Character, episodesOf } from './character.ts'
import { applyEpisode, type DayMail, type Episode } from './episodes.ts'

/** 1 January 1970 was a Thursday. */
const EPOCH_WEEKDAY = 4
/** In days. */
const YEAR = 365
export const NO_MESSAGES: Readonly<MessageCounts> = { both: 0, dkimOnly: 0, spfOnly: 0, neither: 0 }

/**
 * The messages of a domain on the days from `first` up to `last`. A day begins with the refresh of its number. No
 * message before `since`, a day with a fraction, is counted. `episodes` are at least those of these days. This is the
 * innermost loop of GET /dmarc.
 */
export function countMessages(
  character: Character,
  first: number,
  last: number,
  since: number,
  episodes: readonly Episode[] = episodesOf(character, Math.max(first, Math.floor(since)), last),
): MessageCounts {
  const sum = { ...NO_MESSAGES }
  const { words, week, monthly, limit, usual } = character
  const begin = Math.max(first, Math.floor(since))
  const isSteady = episodes.length === 0
  if (isSteady && usual.volume === 0) return sum
  const [, , word, fourth] = words
  const traffic = isSteady ? usual : { ...usual }
  // The phases of the week and of the season advance by one day at a time, which is faster than a division.
  let weekday = modulo(begin + EPOCH_WEEKDAY, 7)
  let phase = modulo(begin - (word % YEAR), YEAR)
  const height = (word >>> 16) % 2 === 0 ? 0.2 : 0.1
  for (let day = begin; day < last; day++) {
    if (!isSteady) {
      resetTraffic(traffic, usual)
      for (const episode of episodes) applyEpisode(episode, traffic, day)
    }
    const counted = since > day ? day + 1 - since : 1
    // Each word gives two random numbers of 16 bits: for the volume and the quality of the day, and for rounding.
    const chance = chanceOn(fourth, day)
    const second = scramble(chance ^ 1)
    const third = scramble(chance ^ 2)
    // The seasons are a triangle wave: up to a fifth more mail in the high season than half a year later.
    const season = 0.9 + (height * Math.abs(phase - YEAR / 2)) / (YEAR / 2)
    const ordinary = (Math.min(monthly * traffic.volume, limit) / 30) * (week[weekday] ?? 1) * season
    weekday = weekday === 6 ? 0 : weekday + 1
    phase = phase === YEAR - 1 ? 0 : phase + 1
    if (traffic.forged > 0) {
      sum.neither += forgedOn(traffic, monthly, limit, counted, chance)
    }
    const own = roundByChance(ordinary * counted * (0.8 + 0.4 * upper(chance)), upper(second))
    if (own === 0) continue
    const share = own / 10_000
    const mood = 0.8 + 0.4 * lower(chance)
    const neither = Math.min(own, roundByChance(share * traffic.neither * mood, lower(second)))
    const dkimOnly = Math.min(own - neither, roundByChance(share * traffic.dkimOnly, upper(third)))
    const spfOnly = Math.min(own - neither - dkimOnly, roundByChance(share * traffic.spfOnly, lower(third)))
    sum.neither += neither
    sum.dkimOnly += dkimOnly
    sum.spfOnly += spfOnly
    sum.both += own - neither - dkimOnly - spfOnly
  }
  return sum
}

/** The forged messages of a day. */
function forgedOn(traffic: DayMail, monthly: number, limit: number, counted: number, chance: number): number {
  const forged = Math.min(traffic.forged, Math.max(0, limit - monthly * traffic.volume))
  return roundByChance((forged / 30) * counted * (0.8 + 0.4 * lower(scramble(chance ^ 3))), lower(chance))
}

/** The random word of a day. */
function chanceOn(word: number, day: number): number {
  return scramble(word + Math.imul(day, 0x9e3779b1))
}

/** `countMessages` for the periods of one domain, none of which ends after the day `end`. It counts each whole day once. */
export function countOften(character: Character, end: number): typeof countMessages {
  const counted = new Map<number, MessageCounts>()
  let episodes: readonly Episode[] | undefined
  return (_, first, last, since) => {
    const sum = { ...NO_MESSAGES }
    // The first period is the earliest.
    episodes ??= episodesOf(character, first, end)
    for (let day = Math.max(first, Math.floor(since)); day < last; day++) {
      const isWhole = since <= day
      const counts = (isWhole && counted.get(day)) || countMessages(character, day, day + 1, since, episodes)
      if (isWhole) counted.set(day, counts)
      sum.both += counts.both
      sum.dkimOnly += counts.dkimOnly
      sum.spfOnly += counts.spfOnly
      sum.neither += counts.neither
    }
    return sum
  }
}

function modulo(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor
}

function resetTraffic(traffic: DayMail, usual: DayMail): void {
  traffic.volume = usual.volume
  traffic.dkimOnly = usual.dkimOnly
  traffic.spfOnly = usual.spfOnly
  traffic.neither = usual.neither
  traffic.forged = usual.forged
}

/** A whole number whose mean is `value`, for a random `draw` from 0 to 1. */
function roundByChance(value: number, draw: number): number {
  return Math.floor(value + draw)
}

/** The upper and the lower half of a word, each as a number from 0 to 1, exclusive. */
function upper(word: number): number {
  return (word >>> 16) / 65_536
}

function lower(word: number): number {
  return (word & 0xffff) / 65_536
}
