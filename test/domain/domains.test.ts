import { describe, expect, it } from 'vitest'
import type { AccountState, DomainNature } from '../../src/domain/account.ts'
import { addDomains, deleteDomains } from '../../src/domain/domains.ts'
import { LIMITS } from '../../src/domain/limits.ts'
import { arrange, type ListOrder } from '../../src/domain/order.ts'
import { PersistentMap } from '../../src/domain/persistent-map.ts'
import { accountWith, CHOSEN, type ChosenSettings, reasonsOf } from './decisions.ts'

const ACCOUNT = accountWith({
  domains: ['a', 'b', { name: 'used', features: ['mta-sts'] }],
  groups: { Shop: ['a'], Mail: ['a', 'b'] },
})

const add = (names: string[], settings: Partial<ChosenSettings> = {}, account = ACCOUNT) =>
  addDomains(account, names, 7, { ...CHOSEN, ...settings })
const remove = (names: string[], settings: Partial<ChosenSettings> = {}, account = ACCOUNT) =>
  deleteDomains(account, names, { ...CHOSEN, ...settings })

type Row = [what: string, names: string[], settings: Partial<ChosenSettings>, outcome: string[] | string]

describe('an addition', () => {
  it.each<Row>([
    ['of new domains', ['c', 'd'], {}, ['c', 'd']],
    ['of one that is monitored', ['c', 'a'], {}, 'invalid_domain monitored /domains/1'],
    ['that skips it', ['c', 'a'], { alreadyMonitored: 'skipped' }, ['c']],
    ['that skips all', ['a'], { alreadyMonitored: 'skipped' }, []],
    ['of one twice', ['c', 'd', 'c'], {}, 'invalid_domain repeated /domains/2'],
  ])('%s: %j', (_, names, settings, outcome) => {
    const decision = add(names, settings)
    expect(decision.ok ? decision.value.domains : reasonsOf(decision)).toEqual(outcome)
    if (decision.ok) expect([...decision.state.domains.keys()]).toEqual(['a', 'b', 'used', ...decision.value.domains])
    expect(ACCOUNT.domains.size).toBe(3)
  })

  it('gives a domain the nature that it had, and what is special about it comes before that', () => {
    const formerDomains = PersistentMap.of<string, DomainNature>([['c', { volume: 5, profile: 'parked' }]])
    const traits = (name: string) => (name === 'c' ? { volume: 9, features: ['simulator'] } : {})
    const decision = addDomains({ ...ACCOUNT, formerDomains }, ['c', 'd'], 7, CHOSEN, traits)
    expect(decision.ok && decision.state.domains.get('c')).toEqual({
      ...{ name: 'c', addedAt: 7, features: ['simulator'], volume: 9, profile: 'parked' },
    })
    expect(decision.ok && decision.state.domains.get('d')).toEqual({ name: 'd', addedAt: 7, features: [] })
  })
})

describe('a deletion', () => {
  const STUCK = 'domain_delete_failed'

  it.each<Row>([
    ['of domains', ['b', 'a'], {}, ['b', 'a']],
    ['of one that is in use', ['a', 'used'], {}, `${STUCK} in-use /domains/1`],
    ['of one that is not monitored', ['a', 'c'], {}, `${STUCK} unmonitored /domains/1`],
    ['that ignores it', ['c', 'a'], { unmonitoredDeletion: 'ignored' }, ['a']],
    ['of one twice', ['a', 'a'], {}, 'invalid_domain repeated /domains/1'],
    ['of a member', ['a'], { deletionOfMembers: 'refused' }, `${STUCK} member /domains/0`],
  ])('%s: %j', (_, names, settings, outcome) => {
    const decision = remove(names, settings)
    expect(decision.ok ? decision.value.domains : reasonsOf(decision)).toEqual(outcome)
    if (!decision.ok) return
    const left = (members: readonly string[]) => members.filter((name) => !outcome.includes(name))
    expect([...decision.state.domains.keys()]).toEqual(left(['a', 'b', 'used']))
    const groups = [...decision.state.groups.values()].map(({ domains }) => domains)
    expect(groups).toEqual([left(['a']), left(['a', 'b'])])
  })
})

describe('of a removed domain is remembered', () => {
  const former = (...names: string[]) =>
    PersistentMap.of(names.map((name): [string, DomainNature] => [name, { volume: 1 }]))
  const account = (domain: DomainNature & { pin?: object }, formerDomains?: AccountState['formerDomains']) => {
    const base = accountWith({ domains: ['a', 'p-none.understudy.test'].map((name) => ({ name, ...domain })) })
    return { ...base, ...(formerDomains && { formerDomains }) }
  }
  const remembered = (state: AccountState, name = 'a') => {
    const decision = remove([name], {}, state)
    return decision.ok ? decision.state.formerDomains : undefined
  }

  it('what was given to it, with a policy that was pinned, but nothing of a domain with nothing special', () => {
    expect(remembered(ACCOUNT)).toBeUndefined()
    const given = { profile: 'parked', since: 3, volume: 0 } as const
    expect(remembered(account(given))?.get('a')).toEqual(given)
    const pinned = account({ policy: { p: 'none', sp: 'none' }, pin: { p: 'reject', dkim: 5 } })
    expect(remembered(pinned)?.get('a')).toEqual({ policy: { p: 'reject' } })
    const simulated = 'p-none.understudy.test'
    expect(remembered(pinned, simulated)?.get(simulated)).toEqual({ policy: { p: 'none', sp: 'none' } })
  })

  it('the last: one that is removed again becomes the newest, or is forgotten', () => {
    expect([...(remembered(account({ volume: 2 }, former('a', 'x')))?.keys() ?? [])]).toEqual(['x', 'a'])
    expect([...(remembered(account({}, former('a', 'x')))?.keys() ?? [])]).toEqual(['x'])
  })

  it.each([
    [LIMITS.formerDomains - 1, 'x0'],
    [LIMITS.formerDomains, 'x1'],
  ])('beside %d others, of which the oldest is %s then', (count, oldest) => {
    const others = former(...Array.from({ length: count }, (_, index) => `x${index}`))
    const after = remembered(account({ volume: 2 }, others))
    expect([after?.size, after?.keys().next().value]).toEqual([LIMITS.formerDomains, oldest])
  })
})

it.each<[order: ListOrder, arranged: string]>([
  ['addition', 'b C a'],
  ['newest-first', 'a C b'],
  ['alphabetical', 'C a b'],
])('a list in the order %s is %s', (order, arranged) => {
  expect(arrange(['b', 'C', 'a'], order, (name) => name).join(' ')).toBe(arranged)
})
