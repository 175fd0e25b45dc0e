import { memoize } from './memo.ts'

/**
 * Pseudo-random numbers: the same words give the same numbers on every machine and every version of Node.js, because
 * only 32-bit integers are used.
 */

export type Words = readonly [number, number, number, number]

/** Four 32-bit words from a text. Each letter changes all of them (after cyrb128, public domain). */
export function wordsOf(text: string): Words {
  let [a, b, c, d] = [1779033703, 3144134277, 1013904242, 2773480762]
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    a = b ^ Math.imul(a ^ unit, 597399067)
    b = c ^ Math.imul(b ^ unit, 2869860233)
    c = d ^ Math.imul(c ^ unit, 951274213)
    d = a ^ Math.imul(d ^ unit, 2716044179)
  }
  return [scramble(a ^ c), scramble(b ^ d ^ a), scramble(c ^ b), scramble(d)]
}

/** `wordsOf` for texts that are used again and again. At most 1,000 are remembered; few accounts of a server are busy. */
export const rememberWords: (text: string) => Words = memoize(wordsOf, { limit: 1_000 })

/** A permutation of the 32-bit words that makes neighbours look unrelated (the finalizer of MurmurHash3). */
export function scramble(word: number): number {
  let mixed = word ^ (word >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

/** A word as a number from 0 up to 1, exclusive. */
export function fraction(word: number): number {
  return word / 4294967296
}

/**
 * The chance of a fault rule. It depends on the seed and id of the account, the id of the rule, and the ordinal of the
 * request among those that the rule matched. The first word decides whether the rule acts, the second how.
 */
export function chanceOfFault(account: { seed: number; id: string }, rule: string, ordinal: number): Words {
  return wordsOf(`${account.seed} ${account.id} ${rule} ${ordinal}`)
}

/** Gives the unique id of the next request of a client that is not known: it has no valid key, or is not HTTP. */
export type AnonymousIds = () => string

/** These ids depend on the source and on the number of earlier ones. Servers that share a store have different sources. */
export function countAnonymousIds(source: string, format: 'uuid' | 'hex'): AnonymousIds {
  let ordinal = 0
  return () => requestIdOf(source, ++ordinal, format)
}

/**
 * The id of the `ordinal`th request of a source, the same in every run with the same seed. The first word is a
 * permutation of the ordinal, so that the ids of a source differ. The other words distinguish the sources.
 */
export function requestIdOf(source: string, ordinal: number, format: 'uuid' | 'hex'): string {
  const [first, second, third, fourth] = rememberWords(source)
  UUID.writeUInt32BE(scramble((first + ordinal) >>> 0), 0)
  UUID.writeUInt32BE(scramble(second ^ ordinal), 4)
  UUID.writeUInt32BE(scramble(third + Math.imul(ordinal, 0x9e3779b1)), 8)
  UUID.writeUInt32BE(scramble(fourth ^ Math.imul(ordinal, 0x85ebca6b)), 12)
  if (format === 'hex') return UUID.toString('hex')
  // Version 4 and variant 10 of RFC 9562 §5.4.
  UUID.writeUInt8((UUID.readUInt8(6) & 0x0f) | 0x40, 6)
  UUID.writeUInt8((UUID.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = UUID.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

const UUID = Buffer.alloc(16)
