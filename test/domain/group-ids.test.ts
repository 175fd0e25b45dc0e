import { describe, expect, it } from 'vitest'
import { groupIdsOf, type IdFormat } from '../../src/domain/group-ids.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** The same function of seed and ordinal, computed with integers of any size. */
function expectedId(seed: number, ordinal: number, { alphabet, length }: IdFormat): string {
  const base = BigInt(alphabet.length)
  let rest = BigInt(seed) * 77_777_777_977n + 98_765_432_123_457n + BigInt(ordinal) * 134_941_606_347_817n
  let id = ''
  for (let place = 0; place < length; place++) {
    id = alphabet.charAt(Number(rest % base)) + id
    rest /= base
  }
  return id
}

describe('the id of a group', () => {
  it.each<[format: IdFormat]>([
    [{ alphabet: BASE62, length: 8 }],
    [{ alphabet: '0123456789abcdef', length: 24 }],
    [{ alphabet: '0123456789', length: 6 }],
    [{ alphabet: '01', length: 20 }],
  ])('in the format %j depends on seed and ordinal alone', (format) => {
    const ids = groupIdsOf(format)
    for (const seed of [0, 1, 42, 2 ** 26 - 1, 2 ** 26, 2 ** 32, 2 ** 52 + 1, Number.MAX_SAFE_INTEGER]) {
      for (const ordinal of [0, 1, 2, 61, 62, 10_000, 1e9]) {
        expect(ids.idOf(seed, ordinal), `${seed} ${ordinal}`).toBe(expectedId(seed, ordinal, format))
      }
    }
  })

  it('never changes, because clients may have stored it', () => {
    const ids = groupIdsOf({ alphabet: BASE62, length: 8 })
    expect([0, 1, 2].map((ordinal) => ids.idOf(42, ordinal))).toEqual(['SyKbQT8t', '5I3PIoDs', 'hbmDB9Ir'])
  })

  it('is given to no two ordinals', () => {
    const ids = groupIdsOf({ alphabet: '0123456789', length: 4 })
    expect(new Set(Array.from({ length: 10_000 }, (_, ordinal) => ids.idOf(7, ordinal))).size).toBe(10_000)
  })
})
