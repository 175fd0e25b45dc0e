import { describe, expect, it } from 'vitest'
import { comparedName, createGroup, deleteGroup, type GroupChanges, updateGroup } from '../../src/domain/groups.ts'
import { accountWith, CHOSEN, type ChosenSettings, reasonsOf } from './decisions.ts'

const ACCOUNT = accountWith({ domains: ['a', 'b', 'c'], groups: { S: ['a'], M: ['a', 'b'], E: [] } })
const IDS = { idOf: (_: unknown, ordinal: number) => (ordinal === 0 ? 'S' : `id${ordinal}`) }

type Settings = Partial<ChosenSettings>
const MOVED: Settings = { sharedDomains: 'moved' }
const NOT_SHARED: Settings = { sharedDomains: 'refused' }
const GONE = 'not_monitored'

/** `S a, M ab, E`: each group with its members. */
const shown = ({ groups }: typeof ACCOUNT) =>
  [...groups.values()].map(({ name, domains }) => `${name} ${domains.join('')}`.trim()).join(', ')

describe('a group that is created', () => {
  const create = (name: string, domains: string[], settings: Settings) =>
    createGroup(ACCOUNT, { name, domains }, IDS, { ...CHOSEN, ...settings })

  it.each<[what: string, name: string, domains: string[], settings: Settings, members: string[]]>([
    ['has members in their order, each once', 'New', ['c', 'a', 'c'], {}, ['c', 'a']],
  ])('%s', (_, name, domains, settings, members) => {
    const decision = create(name, domains, settings)
    expect(decision).toMatchObject({ ok: true, value: { id: 'id1', name, domains: members } })
    if (!decision.ok) return
    expect(shown(decision.state)).toBe(`${shown(ACCOUNT)}, ${`${name} ${members.join('')}`.trim()}`)
    expect([decision.state.groupNames.get('new'), decision.state.groupsCreated]).toEqual(['id1', 2])
  })

  it.each<[what: string, name: string, domains: string[], settings: Settings, reasons: string]>([
    ['a member is not monitored', 'New', ['a', 'x'], {}, 'not_monitored /domains/1'],
    ['a member is in another group', 'New', ['c', 'a'], NOT_SHARED, 'invalid_domain grouped /domains/1'],
    ['of all that', 'M', ['x'], {}, `${GONE} /domains/0; duplicate_name /name`],
  ])('is refused because %s', (_, name, domains, settings, reasons) => {
    const decision = create(name, domains, settings)
    expect(decision.ok ? '' : reasonsOf(decision)).toBe(reasons)
  })

  it('takes its members from other groups where a domain can be in one only', () => {
    const decision = create('New', ['a'], { sharedDomains: 'moved' })
    expect(decision.ok && shown(decision.state)).toEqual('S, M b, E, New a')
  })

  it('keeps an id that was given elsewhere, which counts for nothing', () => {
    const decision = createGroup(ACCOUNT, { id: 'given', name: 'New', domains: [] }, IDS, CHOSEN)
    expect(decision).toMatchObject({ value: { id: 'given' }, state: { groupsCreated: 0 } })
  })
})

describe('a group that is changed', () => {
  const update = (id: string, changes: GroupChanges, settings: Settings = {}) =>
    updateGroup(ACCOUNT, id, changes, { ...CHOSEN, ...settings })

  it.each<[what: string, id: string, changes: GroupChanges, settings: Settings, groups: string]>([
    ['gets its own name in other case', 'S', { name: 's' }, {}, 's a, M ab, E'],
    ['gets more members', 'M', { addDomains: ['c', 'a'] }, {}, 'S a, M abc, E'],
    ['gains before it loses', 'S', { addDomains: ['b', 'c'], removeDomains: ['b', 'a'] }, {}, 'S c, M ab, E'],
    ['takes a member from others', 'E', { addDomains: ['a'] }, MOVED, 'S, M b, E a'],
    ['keeps what others have when it only shrinks', 'M', { removeDomains: ['b'] }, MOVED, 'S a, M a, E'],
  ])('%s', (_, id, changes, settings, groups) => {
    const decision = update(id, changes, settings)
    expect(decision.ok && shown(decision.state)).toEqual(groups)
    expect(shown(ACCOUNT)).toEqual('S a, M ab, E')
  })

  it.each<[what: string, id: string, changes: GroupChanges, settings: Settings, reasons: string]>([
    ['two are not', 'S', { domains: ['x'], addDomains: ['y'] }, {}, `${GONE} /domains/0; ${GONE} /add_domains/0`],
    ['none of the new ones is', 'S', { addDomains: ['x', 'y'] }, {}, `${GONE} /add_domains/0; ${GONE} /add_domains/1`],
    ['a member is in another group', 'E', { addDomains: ['a'] }, NOT_SHARED, 'invalid_domain grouped /add_domains/0'],
  ])('is refused because %s', (_, id, changes, settings, reasons) => {
    const decision = update(id, changes, settings)
    expect(decision.ok ? '' : reasonsOf(decision)).toBe(reasons)
  })

  it('frees its former name and takes the new one; its own in other case changes neither', () => {
    const names = (name: string) => {
      const decision = update('S', { name })
      return decision.ok && Object.fromEntries(decision.state.groupNames.entries())
    }
    expect(names('New')).toEqual({ m: 'M', e: 'E', new: 'S' })
    expect(names('s')).toEqual({ s: 'S', m: 'M', e: 'E' })
  })
})

it('a group that is deleted is gone, and so is its name; its domains are still monitored', () => {
  const decision = deleteGroup(ACCOUNT, 'M', CHOSEN)
  expect(decision.ok && shown(decision.state)).toEqual('S a, E')
  expect(decision.ok && [decision.state.groupNames.has('m'), decision.state.domains]).toEqual([false, ACCOUNT.domains])
  const refused = deleteGroup(ACCOUNT, 'x', CHOSEN)
  expect(!refused.ok && reasonsOf(refused)).toEqual('not_found id')
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
