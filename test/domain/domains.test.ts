import { describe, expect, it } from 'vitest'
import { addDomains, deleteDomains } from '../../src/domain/domains.ts'
import { arrange, type ListOrder } from '../../src/domain/order.ts'
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

  it('gives a domain what is special about it', () => {
    const traits = (name: string) => (name === 'c' ? { volume: 9, features: ['simulator'] } : {})
    const decision = addDomains(ACCOUNT, ['c', 'd'], 7, CHOSEN, traits)
    expect(decision.ok && decision.state.domains.get('c')).toEqual({
      name: 'c',
      addedAt: 7,
      features: ['simulator'],
      volume: 9,
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

it.each<[order: ListOrder, arranged: string]>([
  ['addition', 'b C a'],
  ['newest-first', 'a C b'],
  ['alphabetical', 'C a b'],
])('a list in the order %s is %s', (order, arranged) => {
  expect(arrange(['b', 'C', 'a'], order, (name) => name).join(' ')).toBe(arranged)
})
