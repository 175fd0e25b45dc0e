import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AccountState } from '../../src/domain/account.ts'
import { comparedName } from '../../src/domain/groups.ts'
import { PersistentMap } from '../../src/domain/persistent-map.ts'
import {
  applyChanges,
  changesPlans,
  compareStates,
  joinParts,
  partsOf,
  type StoredPart,
} from '../../src/store/parts.ts'
import { encodeAccount } from '../../src/store/record.ts'
import { budget } from '../support/budget.ts'
import { exampleAccount, SETTINGS } from './example-account.ts'

/** Another one each time; set it to the number in the name of a failed test to see that failure again. */
const seed = Number(process.env['SEED'] ?? randomInt(2 ** 31))

const NAMES = ['a.example', 'b.example', 'c.example', 'd.example']
/** What a step does, the name or number that it is about, and a title. */
type Step = readonly [kind: keyof typeof STEPS, index: number, title: string]

/** Steps that may change anything in an account, also in ways in which the service never does. */
const STEPS = {
  watch: (state, name) => ({ domains: state.domains.set(name, { name, addedAt: 1, features: [] }) }),
  use: (state, name) => ({ domains: state.domains.set(name, { name, addedAt: 1, features: ['x', '"y"'] }) }),
  remove: (state, name) => ({
    domains: state.domains.delete(name),
    formerDomains: (state.formerDomains ?? PersistentMap.of()).delete(name).set(name, { volume: state.domains.size }),
  }),
  // No two groups have the same name.
  group: ({ groups, groupNames }, id, title) =>
    (groupNames.get(comparedName(title, 'unicode')) ?? id) === id
      ? { groups: groups.set(id, { id, name: title, domains: [id] }) }
      : {},
  ungroup: (state, id) => ({ groups: state.groups.delete(id) }),
  plan: (_, __, title) => ({ plan: title }),
  clock: (state) => ({ clock: { frozenAt: state.domains.size } }),
  key: ({ keys }, id) => ({ keys: [...keys, { id, hash: id, createdAt: 0, disabled: false }] }),
} satisfies Record<string, (state: AccountState, name: string, title: string) => Partial<AccountState>>

const steps = fc.array(
  fc.tuple(
    fc.constantFrom(...(Object.keys(STEPS) as (keyof typeof STEPS)[])),
    fc.nat(NAMES.length - 1),
    fc.constantFrom('One', 'ONE', 'Two', 'Ärzte\ud83d'),
  ),
  { maxLength: 12 },
)

function take(begin: AccountState, list: readonly Step[]): AccountState {
  let state = begin
  for (const [kind, index, title] of list) {
    state = { ...state, ...STEPS[kind](state, NAMES[index] ?? '', title) }
    const names = [...state.groups.values()].map(({ id, name }) => [comparedName(name, 'unicode'), id] as const)
    state = { ...state, groupNames: PersistentMap.of(names) }
  }
  return state
}

const watched = (index: number): Step => ['watch', index, '']

/** The account as it is seen from outside: its record, and which names are taken. */
function show(state: AccountState) {
  return { record: encodeAccount(state), names: new Map(state.groupNames.entries()), parts: new Map(partsOf(state)) }
}

function copy(state: AccountState): AccountState {
  return joinParts(partsOf(state), SETTINGS)
}

describe(`An account as parts, with seed ${seed},`, () => {
  const runs = { numRuns: budget({ quick: 300, full: 3_000 }), seed }
  const begin = exampleAccount('acme', ['k1'])

  it('is joined from them in any order', () => {
    fc.assert(
      fc.property(steps, fc.infiniteStream(fc.nat()), (list, order) => {
        const state = take(begin, list)
        const parts: StoredPart[] = [...partsOf(state)]
        const shuffled = parts
          .map((part) => [order.next().value ?? 0, part] as const)
          .sort(([one], [other]) => one - other)
        const joined = joinParts(
          shuffled.map(([, part]) => part),
          SETTINGS,
        )
        expect(show(joined)).toEqual(show(state))
      }),
      runs,
    )
  })

  it('is followed by its changes, in the same order as where they were made, whoever makes the next one', {}, () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(steps, fc.boolean(), fc.boolean()), { maxLength: 6 }), (rounds) => {
        let [one, other] = [copy(begin), copy(begin)]
        for (const [list, first, isReplaced] of rounds) {
          const [before, follower] = first ? [one, other] : [other, one]
          const after = take(isReplaced ? begin : before, list)
          const { changes, state } = compareStates(before, after, SETTINGS)
          const followed = applyChanges(follower, changes, SETTINGS)
          expect(show(followed)).toEqual(show(state))
          expect(show(state)).toMatchObject({
            record: encodeAccount(after),
            names: new Map(after.groupNames.entries()),
          })
          ;[one, other] = first ? [state, followed] : [followed, state]
        }
        // Somebody who comes later reads all of it.
        expect(show(copy(one))).toEqual(show(other))
      }),
      runs,
    )
  })
})

describe('The changes of an account', () => {
  it('are only what has changed', () => {
    const before = take(exampleAccount('acme', ['k1']), [watched(0), watched(1), ['group', 0, 'One']])
    const after = take(before, [['use', 1, '']])
    const changed = { name: 'b.example', addedAt: 1, features: ['x', '"y"'] }
    expect(compareStates(before, after, SETTINGS).changes).toEqual([['db.example', JSON.stringify([1, changed])]])
    expect(compareStates(before, before, SETTINGS).changes).toEqual([])
  })

  it.each<[kind: Step[0], plans: boolean]>([
    ['watch', false],
    ['group', false],
    ['plan', true],
    ['clock', true],
    ['key', true],
  ])('by %s alter what requests plan: %s', (kind, plans) => {
    const before = exampleAccount('acme', ['k1'])
    const { changes } = compareStates(before, take(before, [[kind, 0, 'basic']]), SETTINGS)
    expect(changesPlans(changes)).toBe(plans)
  })

  it('of a state that was read anew are what differs, and what comes after an entry that is new before it', () => {
    const before = take(exampleAccount('acme'), [watched(0), watched(1), watched(3)])
    const same = compareStates(before, copy(before), SETTINGS)
    expect(same.changes).toEqual([])
    const without = take(before, [['remove', 1, '']])
    const { changes } = compareStates(without, copy(before), SETTINGS)
    expect(changes.map(([name, value]) => [name, value && JSON.parse(value)[0]])).toEqual([
      ['db.example', 3],
      ['dd.example', 4],
      ['fb.example', undefined],
    ])
  })

  it('share with the account before them what has not changed', () => {
    const before = copy(take(exampleAccount('acme', ['k1']), [watched(0)]))
    const after = applyChanges(before, [['.plan', '"bronze"']], SETTINGS)
    expect([after.plan, after.domains === before.domains, after.keys === before.keys]).toEqual(['bronze', true, true])
  })

  it('of an unknown kind are a bug', () => {
    const state = exampleAccount('acme')
    expect(() => applyChanges(state, [['x', '1']], SETTINGS)).toThrow('An account has no part "x"')
  })
})
