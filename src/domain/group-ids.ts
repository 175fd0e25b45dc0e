/** The number of characters in an id, and their alphabet. */
export interface IdFormat {
  alphabet: string
  length: number
}

/** The ids of groups, in the format of the contract. */
export interface GroupIds extends IdFormat {
  /**
   * The id of the group that the account creates after `ordinal` others. Each account and seed has its own permutation
   * of all ids of the format, so no two ordinals share one, and two accounts practically never do: a client that mixes
   * them up gets `not_found`. `ordinal` is any exact number.
   */
  idOf(account: { id: string; seed: number }, ordinal: number): string
}

/** An ordinal moves an id by this prime. It is larger than any alphabet, so it is coprime to the number of ids. */
const STEP = 134_941_606_347_817n
/** The id of ordinal 0 is a linear function of 52 bits that are derived from the account and its seed. */
const START_FACTOR = 77_777_777_977n
const OFFSET = 98_765_432_123_457n
const HALF = 2 ** 26

/** `wordsOf` derives 32-bit words from a text. Each letter changes all of them. */
export function groupIdsOf(
  { alphabet, length }: IdFormat,
  wordsOf: (text: string) => readonly [number, number, ...number[]],
): GroupIds {
  const base = BigInt(alphabet.length)
  return {
    alphabet,
    length,
    idOf(account, ordinal) {
      const [high, low] = wordsOf(`${account.seed} ${account.id}`)
      const start = START_FACTOR * BigInt((high % HALF) * HALF + (low % HALF))
      let number = OFFSET + start + STEP * BigInt(ordinal)
      let id = ''
      for (let place = 0; place < length; place++) {
        id = alphabet.charAt(Number(number % base)) + id
        number /= base
      }
      return id
    },
  }
}
