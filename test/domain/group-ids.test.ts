import { describe, expect, it } from 'vitest'
import { groupIdsOf, type IdFormat } from '../../src/domain/groups.ts'
import { wordsOf } from '../../src/ground/chance.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

const SEEDS = [0, 1, 42, 2 ** 26 - 1, 2 ** 26, 2 ** 32, 2 ** 52 + 1, Number.MAX_SAFE_INTEGER]
const ACCOUNTS = 'default account-1 account-2 account-12 sandbox_a sandbox_b sandbox_ab sandbox_ba'.split(' ')

describe('the id of a group', () => {
  it.each<[format: IdFormat]>([
    [{ alphabet: BASE62, length: 8 }],
    [{ alphabet: '0123456789abcdef', length: 24 }],
    [{ alphabet: '0123456789', length: 6 }],
  ])('has the format %j, whatever account, seed and ordinal are', ({ alphabet, length }) => {
    const ids = groupIdsOf({ alphabet, length }, wordsOf)
    for (const seed of SEEDS) {
      for (const ordinal of [0, 1, 61, 62, 10_000, 1e9]) {
        const id = ids.idOf({ id: 'default', seed }, ordinal)
        expect(id).toHaveLength(length)
        expect([...alphabet]).toEqual(expect.arrayContaining([...id]))
      }
    }
  })

  it('never changes, because clients may have stored it', () => {
    const ids = groupIdsOf({ alphabet: BASE62, length: 8 }, wordsOf)
    const account = { id: 'default', seed: 42 }
    expect([0, 1, 2].map((ordinal) => ids.idOf(account, ordinal))).toEqual(['NKdGeI1d', 'zeM4Wd6c', 'by4sOyBb'])
  })

  it('is given to no two ordinals of an account', () => {
    const ids = groupIdsOf({ alphabet: '0123456789', length: 4 }, wordsOf)
    const account = { id: 'default', seed: 7 }
    expect(new Set(Array.from({ length: 10_000 }, (_, ordinal) => ids.idOf(account, ordinal))).size).toBe(10_000)
  })

  it('is given to no two accounts, whether they have the same seed or not', () => {
    const ids = groupIdsOf({ alphabet: BASE62, length: 8 }, wordsOf)
    const given = ACCOUNTS.flatMap((id) => SEEDS.flatMap((seed) => [0, 1, 2].map((at) => ids.idOf({ id, seed }, at))))
    expect(new Set(given).size).toBe(given.length)
  })
})
