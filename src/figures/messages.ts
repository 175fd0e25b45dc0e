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
 * message before `since`, a day with a fraction, is counted.
 */
export function countMessages(character: Character, first: number, last: number, since: number): MessageCounts {
  return countOften(character, Math.max(first, Math.floor(since)), last)(character, first, last, since)
}

/** `countMessages` for periods of one domain on the days from `begin` up to `end`. It counts each whole day once. */
export function countOften(character: Character, begin: number, end: number): typeof countMessages {
  const episodes = episodesOf(character, begin, end)
  const counted = new Map<number, MessageCounts>()
  return (_, first, last, since) => {
    const sum = { ...NO_MESSAGES }
    for (let day = Math.max(first, Math.floor(since)); day < last; day++) {
      const part = Math.min(1, day + 1 - since)
      const counts = (part === 1 && counted.get(day)) || messagesOn(character, episodes, day, part)
      if (part === 1) counted.set(day, counts)
      sum.both += counts.both
      sum.dkimOnly += counts.dkimOnly
      sum.spfOnly += counts.spfOnly
      sum.neither += counts.neither
    }
    return sum
  }
}

/** The messages of one day, of which only a part may count. This is the innermost loop of GET /dmarc. */
function messagesOn(character: Character, episodes: readonly Episode[], day: number, part: number): MessageCounts {
  const { words, week, monthly, limit, usual } = character
  const [, , word, fourth] = words
  const traffic = { ...usual }
  for (const episode of episodes) applyEpisode(episode, traffic, day)
  // Each word gives two random numbers of 16 bits: for the volume and the quality of the day, and for rounding.
  const chance = scramble(fourth + Math.imul(day, 0x9e3779b1))
  const second = scramble(chance ^ 1)
  const third = scramble(chance ^ 2)
  // The seasons are a triangle wave: up to a fifth more mail in the high season than half a year later.
  const height = (word >>> 16) % 2 === 0 ? 0.2 : 0.1
  const phase = modulo(day - (word % YEAR), YEAR)
  const season = 0.9 + (height * Math.abs(phase - YEAR / 2)) / (YEAR / 2)
  const ordinary =
    (Math.min(monthly * traffic.volume, limit) / 30) * (week[modulo(day + EPOCH_WEEKDAY, 7)] ?? 1) * season
  const forged = traffic.forged > 0 ? forgedOn(traffic, monthly, limit, part, chance) : 0
  const own = roundByChance(ordinary * part * (0.8 + 0.4 * upper(chance)), upper(second))
  const share = own / 10_000
  const mood = 0.8 + 0.4 * lower(chance)
  const neither = Math.min(own, roundByChance(share * traffic.neither * mood, lower(second)))
  const dkimOnly = Math.min(own - neither, roundByChance(share * traffic.dkimOnly, upper(third)))
  const spfOnly = Math.min(own - neither - dkimOnly, roundByChance(share * traffic.spfOnly, lower(third)))
  return { both: own - neither - dkimOnly - spfOnly, dkimOnly, spfOnly, neither: neither + forged }
}

/** The forged messages of a day. */
function forgedOn(traffic: DayMail, monthly: number, limit: number, part: number, chance: number): number {
  const forged = Math.min(traffic.forged, Math.max(0, limit - monthly * traffic.volume))
  return roundByChance((forged / 30) * part * (0.8 + 0.4 * lower(scramble(chance ^ 3))), lower(chance))
}

function modulo(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor
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
