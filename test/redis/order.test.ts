import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Order } from '../../src/redis/order.ts'

/** A record of the store, and a time after which all records have later stamps. */
interface Recorded {
  stamp: number
  settled: number
}

/** Records as the store makes them: none has a stamp that was settled before. */
const anyRecords = fc.array(fc.tuple(fc.nat(50), fc.nat(20)), { maxLength: 40 }).map((drawn) => {
  let settled = 0
  return drawn.map(([advance, late]): Recorded => {
    const stamp = settled + 1 + advance
    settled = Math.max(settled, stamp - late)
    return { stamp, settled }
  })
})

/** What a server has ordered that has settled at these times only, and at the end. */
function orderOf(records: readonly Recorded[], isAsked: (index: number) => boolean): string[] {
  const order = new Order<number>()
  const given: string[] = []
  const give = (item: number, ordinal: number) => void given.push(`${ordinal}: ${item}`)
  for (const [index, { stamp, settled }] of records.entries()) {
    order.add(index + 1, stamp, index)
    if (isAsked(index)) order.settle(settled, give)
  }
  order.settle(Number.POSITIVE_INFINITY, give)
  return given
}

describe('The order of exchanges', () => {
  it('is that of their stamps, and of the store if they are equal', () => {
    const records = [3, 1, 2, 1].map((stamp) => ({ stamp, settled: 0 }))
    expect(orderOf(records, () => false)).toEqual(['1: 1', '2: 3', '3: 2', '4: 0'])
  })

  it('keeps the ordinals of the store where some are missing', () => {
    const order = new Order<string>()
    const given: [string, number][] = []
    for (const [recorded, stamp, item] of [
      [7, 2, 'b'],
      [9, 1, 'a'],
      [12, 5, 'c'],
    ] as const)
      order.add(recorded, stamp, item)
    order.settle(2, (item, ordinal) => given.push([item, ordinal]))
    expect(given).toEqual([
      ['a', 7],
      ['b', 9],
    ])
    expect(order.first).toBe(5)
  })

  it('is the same for all servers, whenever each of them has asked for it', () => {
    fc.assert(
      fc.property(anyRecords, fc.func(fc.boolean()), fc.func(fc.boolean()), (records, one, other) => {
        expect(orderOf(records, one)).toEqual(orderOf(records, other))
      }),
    )
  })
})
