/** How many characters of which alphabet an id has. */
export interface IdFormat {
  alphabet: string
  length: number
}

/** The ids of groups, in the format of the contract. */
export interface GroupIds extends IdFormat {
  /**
   * The id of the group that the account creates after `ordinal` others. Each account and seed has its own permutation of
   * all ids of the format: its ids look random, and no two ordinals share one. An id of one account is practically never
   * an id of another, so a client that mixes up two accounts gets `not_found`.
   */
  idOf(account: { id: string; seed: number }, ordinal: number): string
}

/** An ordinal moves an id by this prime. It is larger than any alphabet, hence coprime to the number of ids. */
const STEP = 134_941_606_347_817n
/** The id of ordinal 0 is a linear function of 52 bits that are made of the account and its seed. */
const START_FACTOR = 77_777_777_977n
const OFFSET = 98_765_432_123_457n
/** A half of these bits is small enough for exact multiplication. */
const HALF = 2 ** 26

/**
 * `wordsOf` makes 32-bit words from a text, and each letter changes all of them.
 *
 * The digits of all constants are computed here, once. An id is then computed digit by digit, as on paper: integers of
 * that size would have to be allocated at each step.
 */
export function groupIdsOf(
  { alphabet, length }: IdFormat,
  wordsOf: (text: string) => readonly [number, number, ...number[]],
): GroupIds {
  const base = alphabet.length
  const offset = digitsOf(OFFSET, base, length)
  const step = digitsOf(STEP, base, length)
  const ofLowHalf = digitsOf(START_FACTOR, base, length)
  const ofHighHalf = digitsOf(START_FACTOR * BigInt(HALF), base, length)
  return {
    alphabet,
    length,
    idOf(account, ordinal) {
      const [first, second] = wordsOf(`${account.seed} ${account.id}`)
      const high = first % HALF
      const low = second % HALF
      let id = ''
      let carry = 0
      for (let place = 0; place < length; place++) {
        const start = (offset[place] ?? 0) + low * (ofLowHalf[place] ?? 0) + high * (ofHighHalf[place] ?? 0)
        const sum = carry + start + ordinal * (step[place] ?? 0)
        carry = Math.floor(sum / base)
        id = alphabet.charAt(sum % base) + id
      }
      return id
    },
  }
}

/** The last `length` digits of a number, the last one first. */
function digitsOf(number: bigint, base: number, length: number): number[] {
  const digits: number[] = []
  for (let rest = number; digits.length < length; rest /= BigInt(base)) digits.push(Number(rest % BigInt(base)))
  return digits
}
