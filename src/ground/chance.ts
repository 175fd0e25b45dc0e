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
