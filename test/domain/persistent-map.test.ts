import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PersistentMap } from '../../src/domain/persistent-map.ts'
import { runAtOnce } from '../../src/ground/work.ts'
import { budget } from '../support/budget.ts'

/** Another one each time; set it to the number in the name of a failed test to see that failure again. */
const seed = Number(process.env['SEED'] ?? randomInt(2 ** 31))

type Version = { map: PersistentMap<string, number>; model: Map<string, number> }

const names = ['a', 'b', 'c', 'd', 'e', '__proto__']
const key = fc.constantFrom(...names)
const entries = fc.array(fc.tuple(key, fc.nat(99)), { maxLength: 4 })
// Which version an action is on is a share of those that exist by then.
const version = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const action = fc.record({
  do: fc.constantFrom('with', 'without', 'read', 'keep', 'replicate', 'compare'),
  version,
  other: version,
  entries,
  keys: fc.array(key, { maxLength: 3 }),
})

/** What was changed since an older version: of each key the value before and after. */
const changesIn = (newer: Version['map'], older: Version['map']) =>
  newer.changesSince(older)?.map(([name, ...values]) => ({ [name]: values }))
const mapOf = (values: Record<string, number>) => PersistentMap.of(Object.entries(values))

function expectSame({ map, model }: Version): void {
  expect(map.size).toBe(model.size)
  expect([...map.keys()]).toEqual([...model.keys()])
  expect([...map.values()]).toEqual([...model.values()])
  for (const name of names) {
    expect(map.has(name)).toBe(model.has(name))
    expect(map.get(name)).toBe(model.get(name))
  }
}

/** Does all of the work; `meanwhile` is done in each of its pauses. */
function finish<Result>(work: Generator<undefined, Result, undefined>, meanwhile: () => void = () => {}): Result {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
    meanwhile()
  }
}

/** What `changesSince` tells is what the models show, where it tells anything. */
function expectChanges(newer: Version, older: Version): void {
  const changes = newer.map.changesSince(older.map)
  if (changes === undefined) return
  const told = new Map(changes.map(([name, ...values]) => [name, values]))
  expect(told.size).toBe(changes.length)
  for (const name of names) {
    const values = [older.model.get(name), newer.model.get(name)]
    // A value that was replaced by an equal one may be told.
    if (told.has(name) || values[0] !== values[1]) expect([name, told.get(name)]).toEqual([name, values])
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
          if (step.do === 'keep') chosen.map.keep()
          if (step.do === 'replicate') versions.push({ ...chosen, map: finish(chosen.map.replicate()) })
          if (step.do === 'compare') expectChanges(chosen, pick(versions, step.other))
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
      { seed, numRuns: budget({ quick: 60, whole: 300, full: 1000 }) },
    )
  })

  it(`is replicated as it is, whatever is changed and read in the pauses (seed ${seed})`, () => {
    const size = 1_000
    const step = fc.record({
      key: fc.nat(size + 200),
      act: fc.constantFrom('set', 'delete', 'move', 'read', 'settle', 'old'),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), fc.array(step, { maxLength: 300 }), (earlier, later) => {
        let newest = PersistentMap.of(Array.from({ length: size }, (_, index) => [index, index] as const))
        let older = newest
        const act = ({ key, act }: { key: number; act: string }) => {
          if (act === 'set') newest = newest.set(key, -key)
          if (act === 'delete') newest = newest.delete(key)
          if (act === 'move') newest = newest.delete(key).set(key, key)
          // Gives an old version cells of its own.
          if (act === 'read') older.get(key)
          if (act === 'settle') newest.keep()
          if (act === 'old') older = newest
        }
        for (const each of earlier) act(each)
        const version = newest
        const expected = [...version.entries()]
        for (const each of later.slice(0, 100)) act(each)
        const left = later.slice(100).values()
        let pauses = 0
        const copy = finish(version.replicate(), () => {
          pauses++
          for (let each = 0; each < 20; each++) {
            const next = left.next()
            if (next.done !== true) act(next.value)
          }
        })
        expect([...copy.entries()]).toEqual(expected)
        expect(pauses).toBeGreaterThan(2)
        const replaced = copy.set(-1, 1).delete(size)
        expect([...replaced.keys()].at(-1)).toBe(-1)
        expect([...version.entries()]).toEqual(expected)
      }),
      { seed, numRuns: budget({ quick: 8, whole: 50, full: 500 }) },
    )
  })

  it('stays an old version when it is replicated: it leads to the newest, and shares what that has', () => {
    const old = mapOf({ a: 1, b: 2 })
    const newest = old.delete('a').set('c', 3)
    expect([...finish(old.replicate()).entries()].flat()).toEqual(['a', 1, 'b', 2])
    expect(changesIn(newest, old)).toEqual([{ a: [1, undefined] }, { c: [undefined, 3] }])
  })

  it('does not take a key for a new one that it has', () => {
    const map = mapOf({ a: 1 })
    expect([...map.add('b', 2).keys()]).toEqual(['a', 'b'])
    expect([...map.keys()]).toEqual(['a'])
    expect(() => mapOf({ a: 1 }).add('a', 2)).toThrow('The key a was there already')
  })
})

describe('the places of a persistent map', () => {
  const mapAt = (first: number, second: number) =>
    PersistentMap.ofPlaced<string, number>([
      ['a', 1, first],
      ['b', 2, second],
    ])
  const map = mapAt(0, 3)
  const copyOf = (version: typeof map) => runAtOnce(version.replicate())
  const placed = (version: typeof map) => [[...version.placed()].flat().join(' '), version.nextPlace]

  it('are those that it was made with, and a new key comes after them', () => {
    expect(placed(copyOf(map))).toEqual(['a 1 0 b 2 3', 4])
    expect(placed(copyOf(map).set('c', 3))).toEqual(['a 1 0 b 2 3 c 3 4', 5])
    expect(placed(copyOf(map).set('a', 9))).toEqual(['a 9 0 b 2 3', 4])
    expect([map.placeOf('b'), map.placeOf('c')]).toEqual([3, undefined])
  })

  it('may be given: a key keeps its place, or goes to one that is free', () => {
    expect(placed(copyOf(map).put('b', 9, 3))).toEqual(['a 1 0 b 9 3', 4])
    expect(placed(copyOf(map).put('c', 3, 7))).toEqual(['a 1 0 b 2 3 c 3 7', 8])
    expect(placed(copyOf(map).put('a', 9, 4))).toEqual(['b 2 3 a 9 4', 5])
  })

  it('are in order, and no two keys have one', () => {
    expect(mapAt(0, 1).size).toBe(2)
    expect(() => mapAt(0, 0)).toThrow('The place 0 of b is not after those before it')
  })
})

describe('a version of a persistent map that is kept', () => {
  const size = 100
  const first = () =>
    PersistentMap.of<string, number>(Array.from({ length: size }, (_, index) => [`key ${index}`, index] as const))

  it('tells what was changed since, each key once, with its value before and after', () => {
    const old = first()
    old.keep()
    const next = old.set('key 1', -1).set('key 1', -2).delete('key 2').add('new', 1).add('gone', 1).delete('gone')
    const expected = [{ 'key 1': [1, -2] }, { 'key 2': [2, undefined] }, { new: [undefined, 1] }]
    expect(changesIn(next, old)).toEqual(expected)
    const later = next.set('key 1', -3).delete('new')
    expect(changesIn(next, old)).toEqual(expected)
    expect(changesIn(later, next)).toEqual([{ 'key 1': [-2, -3] }, { new: [1, undefined] }])
    expect(changesIn(later, later)).toEqual([])
    expect(old.changesSince(later)).toBeUndefined()
    expect(first().changesSince(old)).toBeUndefined()
  })

  it('holds at most as many changes as it has entries: after more of them, it has entries of its own', () => {
    const old = first()
    old.keep()
    let newest = old
    for (let change = 0; change < size; change++) newest = newest.set('key 1', -change)
    expect(newest.changesSince(old)).toBeDefined()
    newest = newest.set('key 1', -size).set('key 1', -size)
    expect(newest.changesSince(old)).toBeUndefined()
    expect([old.get('key 1'), newest.get('key 1'), old.size]).toEqual([1, -size, size])
  })

  it('has entries of its own after a few changes where it is empty, and another empty map knows nothing of it', () => {
    const [old, other] = [PersistentMap.of<string, number>(), PersistentMap.of<string, number>()]
    old.keep()
    const changed = other.set('key 1', 1)
    const newest = old.set('key 1', 2).set('key 1', 3).set('key 1', 4)
    expect(newest.changesSince(old)).toBeUndefined()
    expect(changed.changesSince(other)).toHaveLength(1)
    expect([old, other, PersistentMap.of<string, number>()].map((map) => [...map.keys()])).toEqual([[], [], []])
    expect([changed.get('key 1'), newest.get('key 1')]).toEqual([1, 4])
  })

  it('has entries of its own at once where it is kept only after more changes than it has entries', () => {
    const [old, near] = [first(), first()]
    const change = (version: typeof old, times: number) => {
      let newest = version
      for (let index = 0; index < times; index++) newest = newest.set('key 1', -index)
      version.keep()
      return newest.changesSince(version)
    }
    expect([change(old, size + 1), change(near, size)?.length]).toEqual([undefined, 1])
  })

  it('shares the copy with the versions before it', () => {
    const versions = [first()]
    for (let index = 0; index < 16; index++) {
      const [last] = versions.slice(-1)
      last?.keep()
      if (last !== undefined) versions.push(last.set(`key ${index}`, -1))
    }
    let newest = versions.pop() ?? first()
    for (let change = 0; change < 3 * size; change++) newest = newest.set('key 99', -change)
    const [oldest, last] = [versions[0], versions[15]]
    if (oldest === undefined || last === undefined) throw new Error('There are too few versions.')
    expect(newest.changesSince(last)).toBeUndefined()
    expect(last.changesSince(oldest)).toHaveLength(15)
    expect([...oldest.values()]).toEqual([...first().values()])
  })

  it('is kept again after somebody has read it and changed it', () => {
    const old = first()
    old.keep()
    old.set('key 1', -1)
    expect(old.get('key 1')).toBe(1)
    let newest = old
    for (let change = 0; change <= size + 1; change++) newest = newest.set('key 1', -change)
    expect(newest.changesSince(old)).toBeUndefined()
  })
})

function pick(versions: readonly Version[], share: number): Version {
  const chosen = versions[Math.floor(share * versions.length)]
  if (chosen === undefined) throw new Error('There is no version')
  return chosen
}
