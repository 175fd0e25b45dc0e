import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PersistentMap } from '../../src/domain/persistent-map.ts'

const SEED = 20260115

type Version = { map: PersistentMap<string, number>; model: Map<string, number> }

const names = ['a', 'b', 'c', 'd', '__proto__']
const key = fc.constantFrom(...names)
const entries = fc.array(fc.tuple(key, fc.nat(99)), { maxLength: 4 })
// Which version an action is on is a share of those that exist by then.
const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const action = fc.record({ version: share, other: share, entries, removed: fc.array(key, { maxLength: 3 }) })

function pick(versions: readonly Version[], chosen: number): Version {
  return versions[Math.floor(chosen * versions.length)] as Version
}

describe('a persistent map', () => {
  it(`holds what a copied Map holds, whichever versions are changed and read in whatever order (seed ${SEED})`, () => {
    fc.assert(
      fc.property(entries, fc.array(action, { maxLength: 30 }), (first, actions) => {
        const versions: Version[] = [{ map: PersistentMap.of(first), model: new Map(first) }]
        for (const { version, other, entries: set, removed } of actions) {
          const { map, model } = pick(versions, version)
          const left = new Map([...model].filter(([name]) => !removed.includes(name)))
          versions.push({ map: map.without(removed).with(set), model: new Map([...left, ...set]) })
          const read = pick(versions, other)
          expect([...read.map.entries()]).toEqual([...read.model.entries()])
          expect(names.map((name) => read.map.get(name))).toEqual(names.map((name) => read.model.get(name)))
        }
        for (const { map, model } of versions) expect([map.size, ...map.keys()]).toEqual([model.size, ...model.keys()])
      }),
      { seed: SEED, numRuns: 100 },
    )
  })

  it('tells what was changed since a version that is kept, each key once, with its value before and after', () => {
    const old = PersistentMap.of(Object.entries({ a: 1, b: 2, c: 3 }))
    old.keep()
    const next = old.set('a', -1).delete('b').add('d', 4)
    expect(next.changesSince(old)).toEqual([
      ['a', 1, -1],
      ['b', 2, undefined],
      ['d', undefined, 4],
    ])
    expect(next.changesSince(next)).toEqual([])
    expect([...old.values()]).toEqual([1, 2, 3])
  })
})
