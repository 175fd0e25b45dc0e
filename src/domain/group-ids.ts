/** The number of characters in an id, and their alphabet. */
export interface IdFormat {
  alphabet: string
  length: number
}

/** The ids of groups, in the format of the contract. */
export interface GroupIds extends IdFormat {
  /**
   * The id of the group that the account creates after `ordinal` others. Each account and seed has its own permutation
   * of all ids of the format. So the ids look random, and no two ordinals share one. Two accounts practically never
   * share an id. So a client that mixes up two accounts gets `not_found`. `ordinal` is any exact number.
   */
  idOf(account: { id: string; seed: number }, ordinal: number): string
}

/** An ordinal moves an id by this prime. It is larger than any alphabet, so it is coprime to the number of ids. */
const STEP = 134_941_606_347_817n
/** The id of ordinal 0 is a linear function of 52 bits that are derived from the account and its seed. */
const START_FACTOR = 77_777_777_977n
const OFFSET = 98_765_432_123_457n
/** Half of these bits are few enough for exact multiplication. */
const HALF = 2 ** 26

/**
 * `wordsOf` derives 32-bit words from a text. Each letter changes all of them.
 *
 * The digits of all constants are computed once, here. An id is then computed digit by digit, as on paper: integers of
 * that size would have to be allocated at each step.
 */
export function groupIdsOf(
  { alphabet, length }: IdFormat,
  wordsOf: (text: string) => readonly [number, number, ...number[]],
): GroupIds {
  const base = alphabet.length
  const offset = digitsOf(OFFSET, base, length)
  const step = digitsOf(STEP, base, length)
  const ofHighStep = digitsOf(STEP * BigInt(HALF), base, length)
  const ofLowHalf = digitsOf(START_FACTOR, base, length)
  const ofHighHalf = digitsOf(START_FACTOR * BigInt(HALF), base, length)
  return {
    alphabet,
    length,
    idOf(account, ordinal) {
      const [first, second] = wordsOf(`${account.seed} ${account.id}`)
      const high = first % HALF
      const low = second % HALF
      const highStep = Math.floor(ordinal / HALF)
      const lowStep = ordinal % HALF
      let id = ''
      let carry = 0
      for (let place = 0; place < length; place++) {
        const start = (offset[place] ?? 0) + low * (ofLowHalf[place] ?? 0) + high * (ofHighHalf[place] ?? 0)
        const sum = carry + start + lowStep * (step[place] ?? 0) + highStep * (ofHighStep[place] ?? 0)
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
