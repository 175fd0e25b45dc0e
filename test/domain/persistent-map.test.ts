import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PersistentMap } from '../../src/domain/persistent-map.ts'
import { budget } from '../support/budget.ts'

/** Another one each time; set it to the number in the name of a failed test to see that failure again. */
const seed = Number(process.env['SEED'] ?? randomInt(2 ** 31))

type Version = { map: PersistentMap<string, number>; model: Map<string, number> }

const names = ['a', 'b', 'c', 'd', 'e', '__proto__']
const key = fc.constantFrom(...names)
const entries = fc.array(fc.tuple(key, fc.nat(99)), { maxLength: 4 })
// Which version an action is on is a share of those that exist by then.
const version = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const action = fc.oneof(
  fc.record({ do: fc.constant('with' as const), version, entries }),
  fc.record({ do: fc.constant('without' as const), version, keys: fc.array(key, { maxLength: 3 }) }),
  fc.record({ do: fc.constant('read' as const), version }),
)

function expectSame({ map, model }: Version): void {
  expect(map.size).toBe(model.size)
  expect([...map.keys()]).toEqual([...model.keys()])
  expect([...map.values()]).toEqual([...model.values()])
  for (const name of names) {
    expect(map.has(name)).toBe(model.has(name))
    expect(map.get(name)).toBe(model.get(name))
  }
}

describe('a persistent map', () => {
  it(`holds what a copied Map holds, whichever versions are changed and read in whatever order (seed ${seed})`, () => {
    fc.assert(
      fc.property(entries, fc.array(action, { maxLength: 40 }), fc.infiniteStream(version), (first, actions, order) => {
        const versions: Version[] = [{ map: PersistentMap.of(first), model: new Map(first) }]
        for (const step of actions) {
          const chosen = pick(versions, step.version)
          if (step.do === 'read') expectSame(chosen)
          if (step.do === 'with') {
            const model = new Map([...chosen.model, ...step.entries])
            versions.push({ map: chosen.map.with(step.entries), model })
          }
          if (step.do === 'without') {
            const model = new Map([...chosen.model].filter(([name]) => !step.keys.includes(name)))
            versions.push({ map: chosen.map.without(step.keys), model })
          }
        }
        while (versions.length > 0) {
          const chosen = pick(versions, order.next().value)
          expectSame(chosen)
          versions.splice(versions.indexOf(chosen), 1)
        }
      }),
      { seed, numRuns: budget({ quick: 300, full: 1000 }) },
    )
  })

  it('is empty when it is made of nothing', () => {
    expectSame({ map: PersistentMap.of(), model: new Map() })
  })

  it('leaves what it was made of alone', () => {
    const source = new Map([['a', 1]])
    PersistentMap.of(source).with([['b', 2]])
    expect([...source]).toEqual([['a', 1]])
  })

  it('takes the last of several values for the same key, and an older version keeps its own', () => {
    const old = PersistentMap.of([['a', 1]])
    const changed = old.with([
      ['a', 2],
      ['a', 3],
    ])
    expect(changed.get('a')).toBe(3)
    expect(old.get('a')).toBe(1)
  })

  it('does not take a key for a new one that it has', () => {
    const map = PersistentMap.of([['a', 1]])
    expect([...map.add('b', 2).keys()]).toEqual(['a', 'b'])
    expect([...map.keys()]).toEqual(['a'])
    expect(() => PersistentMap.of([['a', 1]]).add('a', 2)).toThrow('The key a was there already')
  })

  it('keeps the place of a key whose value is replaced, and puts one that was removed and added again last', () => {
    const map = PersistentMap.of([
      ['a', 1],
      ['b', 2],
    ])
    expect([...map.with([['a', 3]]).keys()]).toEqual(['a', 'b'])
    expect([
      ...map
        .without(['a'])
        .with([['a', 3]])
        .keys(),
    ]).toEqual(['b', 'a'])
    expect([...map.keys()]).toEqual(['a', 'b'])
  })
})

function pick(versions: readonly Version[], share: number): Version {
  const chosen = versions[Math.floor(share * versions.length)]
  if (chosen === undefined) throw new Error('There is no version')
  return chosen
}
