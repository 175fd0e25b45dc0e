import { OrderedMap } from 'immutable'
import { describe, expect, it } from 'vitest'
import type { AccountState, DomainGroup } from '../../src/domain/account.ts'
import { comparedName, createGroup, type GroupChanges, updateGroup } from '../../src/domain/groups.ts'
import { exampleAccount } from '../store/example-account.ts'

const CHOSEN = { sharedDomains: 'allowed', nameComparison: 'unicode' } as const
const GROUPS: readonly DomainGroup[] = [
  { id: 'S', name: 'S', domains: ['a'] },
  { id: 'M', name: 'M', domains: ['a', 'b'] },
  { id: 'E', name: 'E', domains: [] },
]
const ACCOUNT: AccountState = {
  ...exampleAccount('acme'),
  domains: OrderedMap(['a', 'b', 'c'].map((name) => [name, { name, addedAt: 0, features: [] }])),
  groups: OrderedMap(GROUPS.map((group) => [group.id, group])),
  groupNames: OrderedMap(GROUPS.map(({ id }) => [id.toLowerCase(), id])),
}
const IDS = { idOf: (_: unknown, ordinal: number) => (ordinal === 0 ? 'S' : `id${ordinal}`) }

/** `S a, M ab, E`: each group with its members. */
const shown = ({ groups }: typeof ACCOUNT) =>
  [...groups.values()].map(({ name, domains }) => `${name} ${domains.join('')}`.trim()).join(', ')

// What is accepted and refused, the corpus says, under each choice.
describe('where a domain can be in one group only, it moves', () => {
  const settings = { ...CHOSEN, sharedDomains: 'moved' as const }

  it('to a group that is created', () => {
    const decision = createGroup(ACCOUNT, { name: 'New', domains: ['a'] }, IDS, settings)
    expect(decision.ok && shown(decision.state)).toEqual('S, M b, E, New a')
  })

  it.each<[what: string, id: string, changes: GroupChanges, groups: string]>([
    ['to a group that takes it', 'E', { addDomains: ['a'] }, 'S, M b, E a'],
    ['but not when the group only shrinks', 'M', { removeDomains: ['b'] }, 'S a, M a, E'],
  ])('%s', (_, id, changes, groups) => {
    const decision = updateGroup(ACCOUNT, id, changes, settings)
    expect(decision.ok && shown(decision.state)).toEqual(groups)
  })
})

it('a group keeps an id that was given elsewhere, which counts for nothing', () => {
  const decision = createGroup(ACCOUNT, { id: 'given', name: 'New', domains: [] }, IDS, CHOSEN)
  expect(decision).toMatchObject({ value: { id: 'given' }, state: { groupsCreated: 0 } })
})

it('a group that is renamed frees its former name', () => {
  const decision = updateGroup(ACCOUNT, 'S', { name: 'New' }, CHOSEN)
  expect(decision.ok && decision.state.groupNames.toJS()).toEqual({ m: 'M', e: 'E', new: 'S' })
})

describe('two names', () => {
  it.each<[what: string, one: string, other: string, sameAs: [unicode: boolean, lowerCase: boolean, ascii: boolean]]>([
    ['in other case', 'Marketing', 'mARKETING', [true, true, true]],
    ['in other case beyond ASCII', 'Äpfel', 'äPFEL', [true, true, false]],
    ['composed and decomposed', 'Caf\u00e9', 'CAFE\u0301', [true, false, false]],
    ['with ß and SS', 'Straße', 'STRASSE', [true, false, false]],
    ['with and without an accent', 'Cafe', 'Café', [false, false, false]],
    ['with a space more', 'Sales', 'Sales ', [false, false, false]],
    ['in full width', 'A', '\uff21', [false, false, false]],
    ['with and without a joiner', 'ab', 'a\u200db', [false, false, false]],
  ])('%s are one: %s and %s', (_, one, other, sameAs) => {
    const ways = ['unicode', 'lower-case', 'ascii'] as const
    expect(ways.map((way) => comparedName(one, way) === comparedName(other, way))).toEqual(sameAs)
  })
})
