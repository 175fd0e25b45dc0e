import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { budget } from '../support/budget.ts'
import {
  type AccountCall,
  type AccountOutcome,
  type AccountState,
  accountModel,
  type Group,
} from '../support/linearizability/account-model.ts'
import { checkHistory, type Operation, type Specification } from '../support/linearizability/checker.ts'
import { historyOfName, NAME_MODEL } from '../support/linearizability/name-model.ts'
import { QUOTA_MODEL, type QuotaCall, type QuotaOutcome } from '../support/linearizability/quota-model.ts'
import { smallWitness } from '../support/linearizability/witness.ts'

type AccountOperation = Operation<AccountCall, AccountOutcome>

const EMPTY: AccountState = { domains: [], groups: [] }
const MODEL = accountModel(EMPTY)
const RUNS = budget({ quick: 150, full: 3000 })
const SEED = 20_260_115

/** A call from one moment to another; without an end, its outcome is unknown. */
function call(from: number, to: number | undefined, made: AccountCall, outcome?: AccountOutcome): AccountOperation {
  return { call: made, invoked: from, returned: to ?? Number.POSITIVE_INFINITY, outcome }
}
const add = (...domains: string[]): AccountCall => ({ do: 'add domains', domains })
const remove = (...domains: string[]): AccountCall => ({ do: 'delete domains', domains })
const create = (name: string, ...domains: string[]): AccountCall => ({ do: 'create group', name, domains })
const patch = (id: string, changes: object): AccountCall => ({ do: 'update group', id, changes })
const drop = (id: string): AccountCall => ({ do: 'delete group', id })
const read = (id: string): AccountCall => ({ do: 'read group', id })
const list: AccountCall = { do: 'list groups' }
const listDomains: AccountCall = { do: 'list domains' }
const group = (id: string, name: string, ...domains: string[]): Group => ({ id, name, domains })
const groups = (...all: Group[]): AccountOutcome => ({ groups: all })
const made = (...of: Parameters<typeof group>): AccountOutcome => ({ group: group(...of) })
const domains = (...all: string[]): AccountOutcome => ({ domains: all })
const refused = (code: string): AccountOutcome => ({ refused: code })
const done: AccountOutcome = { done: true }

const GOOD: Record<string, AccountOperation[]> = {
  'no call': [],
  'calls one after the other': [
    call(0, 1, add('a.example', 'b.example'), domains('a.example', 'b.example')),
    call(2, 3, create('Web', 'a.example'), made('1', 'Web', 'a.example')),
    call(4, 5, create('web'), refused('duplicate_name')),
    call(
      6,
      7,
      patch('1', { name: 'WEB', add_domains: ['b.example'], remove_domains: ['a.example'] }),
      made('1', 'WEB', 'b.example'),
    ),
    call(8, 9, remove('b.example'), domains('b.example')),
    call(10, 11, read('1'), made('1', 'WEB')),
    call(12, 13, drop('1'), done),
    call(14, 15, drop('1'), refused('not_found')),
    call(16, 17, list, groups()),
    call(18, 19, listDomains, domains('a.example')),
    call(20, 21, create('Web', 'b.example'), refused('not_monitored')),
  ],
  'a read beside a change that sees it, and another one that does not': [
    call(0, 10, add('a.example'), domains('a.example')),
    call(1, 2, listDomains, domains()),
    call(3, 4, listDomains, domains('a.example')),
  ],
  'two additions in the other order than they were sent in': [
    call(0, 10, add('a.example'), domains('a.example')),
    call(1, 9, add('b.example'), domains('b.example')),
    call(11, 12, listDomains, domains('b.example', 'a.example')),
  ],
  'a refusal because of a change that ends later': [
    call(0, 10, create('Web'), made('1', 'Web')),
    call(2, 3, create('Web'), refused('duplicate_name')),
  ],
  'a change that would change nothing at first, and that undoes another one': [
    call(0, 1, create('Web'), made('1', 'Web')),
    call(2, 9, patch('1', { name: 'Mail' }), made('1', 'Mail')),
    call(3, 8, patch('1', { name: 'Web' }), made('1', 'Web')),
    call(10, 11, list, groups(group('1', 'Web'))),
  ],
  'an unknown change that nobody ever sees': [call(0, undefined, add('a.example')), call(5, 6, listDomains, domains())],
  'an unknown change that takes effect after others': [
    call(0, undefined, add('a.example')),
    call(5, 6, listDomains, domains()),
    call(7, 8, add('b.example'), domains('b.example')),
    call(9, 10, listDomains, domains('b.example', 'a.example')),
  ],
  'an unknown creation whose id is seen later': [
    call(0, undefined, create('Web')),
    call(5, 6, list, groups(group('7', 'Web'))),
    call(7, 8, drop('7'), done),
    call(9, 10, list, groups()),
  ],
  'an unknown creation whose id another client learns by a change': [
    call(0, undefined, create('Web')),
    call(5, 6, patch('7', { name: 'Mail' }), made('7', 'Mail')),
    call(7, 8, read('7'), made('7', 'Mail')),
  ],
  'an unknown creation, and another of the same name after its deletion': [
    call(0, undefined, create('Web')),
    call(1, undefined, create('Web')),
    call(5, 6, list, groups(group('1', 'Web'))),
    call(7, 8, drop('1'), done),
    call(9, 10, list, groups(group('2', 'Web'))),
  ],
  'an unknown deletion before an unknown creation': [
    call(0, 1, create('Web'), made('1', 'Web')),
    call(2, undefined, drop('1')),
    call(3, undefined, create('web')),
    call(4, 5, list, groups(group('1', 'Web'))),
    call(6, 7, list, groups(group('2', 'web'))),
  ],
}

const BAD: Record<string, AccountOperation[]> = {
  'a lost update': [
    call(0, 1, add('a.example', 'b.example'), domains('a.example', 'b.example')),
    call(2, 3, create('Web'), made('1', 'Web')),
    call(4, 8, patch('1', { add_domains: ['a.example'] }), made('1', 'Web', 'a.example')),
    call(5, 9, patch('1', { add_domains: ['b.example'] }), made('1', 'Web', 'b.example')),
    call(10, 11, list, groups(group('1', 'Web', 'b.example'))),
  ],
  'a lost update that nobody reads': [
    call(0, 1, add('a.example', 'b.example'), domains('a.example', 'b.example')),
    call(2, 3, create('Web'), made('1', 'Web')),
    call(4, 8, patch('1', { add_domains: ['a.example'] }), made('1', 'Web', 'a.example')),
    call(5, 9, patch('1', { add_domains: ['b.example'] }), made('1', 'Web', 'b.example')),
  ],
  'a stale read': [call(0, 1, create('Web'), made('1', 'Web')), call(2, 3, list, groups())],
  'a stale read of one group': [
    call(0, 1, create('Web'), made('1', 'Web')),
    call(2, 3, read('1'), refused('not_found')),
  ],
  'a stale refusal': [
    call(0, 1, create('Web'), made('1', 'Web')),
    call(2, 3, drop('1'), done),
    call(4, 5, create('Web'), refused('duplicate_name')),
  ],
  'a double effect of a retry: a creation that is refused because of itself': [
    call(0, 5, create('Web'), refused('duplicate_name')),
    call(6, 7, list, groups(group('1', 'Web'))),
  ],
  'a double effect of a retry: a deletion that finds what it has deleted gone': [
    call(0, 1, create('Web'), made('1', 'Web')),
    call(2, 5, drop('1'), refused('not_found')),
  ],
  'a double effect of a retry: an addition undone in between': [
    call(0, 1, add('a.example'), domains('a.example')),
    call(2, 3, create('Web', 'a.example'), made('1', 'Web', 'a.example')),
    call(4, 9, patch('1', { remove_domains: ['a.example'] }), made('1', 'Web')),
    call(5, 6, read('1'), made('1', 'Web')),
    call(7, 8, patch('1', { add_domains: ['a.example'] }), made('1', 'Web', 'a.example')),
    call(10, 11, read('1'), made('1', 'Web')),
  ],
  'an effect of one unknown call twice': [
    call(0, 1, create('Web'), made('1', 'Web')),
    call(2, undefined, drop('1')),
    call(3, 4, list, groups()),
    call(5, 6, create('Web'), made('1', 'Web')),
    call(7, 8, list, groups()),
  ],
  'two creations of one name that both succeed': [
    call(0, 10, create('Web'), made('1', 'Web')),
    call(1, 9, create('WEB'), made('2', 'WEB')),
  ],
  'a read that goes back': [
    call(0, 10, add('a.example'), domains('a.example')),
    call(1, 2, listDomains, domains('a.example')),
    call(3, 4, listDomains, domains()),
  ],
  'two readers who see two changes in different orders': [
    call(0, 20, add('a.example'), domains('a.example')),
    call(0, 20, add('b.example'), domains('b.example')),
    call(1, 2, listDomains, domains('a.example')),
    call(3, 4, listDomains, domains('b.example')),
  ],
  'an effect before the call': [
    call(0, 1, listDomains, domains('a.example')),
    call(2, 3, add('a.example'), domains('a.example')),
  ],
  'an effect of an unknown call before it': [
    call(0, 1, listDomains, domains('a.example')),
    call(2, undefined, add('a.example')),
  ],
  'a part of a change': [
    call(0, 10, add('a.example', 'b.example'), domains('a.example', 'b.example')),
    call(1, 2, listDomains, domains('a.example')),
  ],
  'something that nobody did': [call(0, 1, listDomains, domains('a.example'))],
  'a member of a group that is no domain': [
    call(0, 1, add('a.example'), domains('a.example')),
    call(2, 3, create('Web', 'a.example'), made('1', 'Web', 'a.example')),
    call(4, 5, remove('a.example'), domains('a.example')),
    call(6, 7, list, groups(group('1', 'Web', 'a.example'))),
  ],
}

describe('the checker of linearizability', () => {
  it.each(Object.entries(GOOD))('accepts %s', (_, history) => {
    expect(checkHistory(history, MODEL)).toMatchObject({ linearizable: true })
    for (const name of ['Web', 'Mail']) {
      expect(checkHistory(historyOfName(history, name), NAME_MODEL)).toMatchObject({ linearizable: true })
    }
  })

  it.each(Object.entries(BAD))('refuses %s', (_, history) => {
    expect(checkHistory(history, MODEL)).toMatchObject({ linearizable: false })
  })

  it.each([
    'a stale read',
    'a stale read of one group',
    'a stale refusal',
    'a double effect of a retry: a creation that is refused because of itself',
    'a double effect of a retry: a deletion that finds what it has deleted gone',
    'an effect of one unknown call twice',
    'two creations of one name that both succeed',
  ])('refuses %s by what it says of the name alone', (history) => {
    expect(checkHistory(historyOfName(BAD[history] ?? [], 'web'), NAME_MODEL)).toMatchObject({ linearizable: false })
  })

  it('gives an order that explains what it accepts', () => {
    const [addition, before, after] = GOOD['a read beside a change that sees it, and another one that does not'] ?? []
    const verdict = checkHistory([addition, before, after] as AccountOperation[], MODEL)
    expect(verdict).toEqual({ linearizable: true, order: [before, addition, after] })
  })

  it('says how far it came, and what cannot be next', () => {
    const history = BAD['a stale read'] as AccountOperation[]
    expect(checkHistory(history, MODEL)).toEqual({
      linearizable: false,
      order: [history[0]],
      state: { domains: [], groups: [group('1', 'Web')] },
      blocked: [history[1]],
    })
  })

  it('gives up a search that takes too long, and says so', () => {
    const additions = Array.from({ length: 12 }, (_, index) => call(0, 100, add(`n${index}`), domains(`n${index}`)))
    const history = [...additions, call(101, 102, listDomains, domains('n0'))]
    expect(checkHistory(history, MODEL, 50)).toEqual({ linearizable: undefined })
  })
})

describe('the checker, held to quotas', () => {
  const counted = (
    from: number,
    to: number,
    remaining: number,
    refuses = false,
  ): Operation<QuotaCall, QuotaOutcome> => ({
    call: { limit: 3 },
    invoked: from,
    returned: to,
    outcome: { remaining, refused: refuses },
  })
  const unknown = (from: number): Operation<QuotaCall, QuotaOutcome> => ({
    call: { limit: 3 },
    invoked: from,
    returned: Number.POSITIVE_INFINITY,
    outcome: undefined,
  })

  it.each([
    [
      'as many as there are, in any order',
      [counted(0, 9, 0), counted(0, 9, 2), counted(0, 9, 1), counted(0, 9, 0, true)],
    ],
    ['one whose response was lost', [counted(0, 1, 2), unknown(2), counted(3, 4, 0)]],
    ['one that was never counted', [counted(0, 1, 2), unknown(2), counted(3, 4, 1)]],
  ])('accepts %s', (_, history) => {
    expect(checkHistory(history, QUOTA_MODEL)).toMatchObject({ linearizable: true })
  })

  it.each([
    ['one too many', [counted(0, 9, 2), counted(0, 9, 1), counted(0, 9, 0), counted(0, 9, 0)]],
    ['one counted twice', [counted(0, 1, 2), counted(2, 3, 0)]],
    ['a refusal while something is left', [counted(0, 9, 2), counted(0, 9, 1), counted(0, 9, 0, true)]],
    ['one counted before it came', [counted(0, 1, 1), unknown(2)]],
    ['the same number twice', [counted(0, 9, 2), counted(0, 9, 2)]],
    ['an unknown one counted twice', [counted(0, 1, 2), unknown(1), counted(3, 4, 0, true)]],
  ])('refuses %s', (_, history) => {
    expect(checkHistory(history, QUOTA_MODEL)).toMatchObject({ linearizable: false })
  })
})

const someId = fc.constantFrom('g0', 'g0', 'g1', 'g2')
const someMembers = fc.subarray(['a', 'b'])

/** Calls on a few names, so that they meet each other; many change what is there, and often to what it is already. */
const someCall: fc.Arbitrary<AccountCall> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(listDomains) },
  { weight: 2, arbitrary: fc.constant(list) },
  { weight: 2, arbitrary: fc.subarray(['a', 'b', 'c'], { minLength: 1 }).map((names) => add(...names)) },
  {
    weight: 1,
    arbitrary: fc.subarray(['a', 'b', 'c'], { minLength: 1, maxLength: 2 }).map((names) => remove(...names)),
  },
  { weight: 2, arbitrary: fc.constantFrom('Web', 'web', 'Mail').map((name) => create(name)) },
  { weight: 1, arbitrary: someMembers.map((members) => create('Mail', ...members)) },
  { weight: 4, arbitrary: fc.tuple(someId, fc.constantFrom('Web', 'Mail')).map(([id, name]) => patch(id, { name })) },
  { weight: 2, arbitrary: fc.tuple(someId, someMembers).map(([id, members]) => patch(id, { domains: members })) },
  { weight: 1, arbitrary: someId.map(drop) },
  { weight: 2, arbitrary: someId.map(read) },
)

interface Plan {
  call: AccountCall
  /** How long before and after its effect it began and ended. */
  before: number
  after: number
  /** What becomes of it: some get no response, and of these, some have no effect. */
  fate: 'known' | 'unknown' | 'nothing'
}

/** From 0 to so many tenths, all of them equally likely, because histories without overlaps show nothing. */
function tenths(max: number): fc.Arbitrary<number> {
  return fc.noBias(fc.nat(max)).map((count) => count / 10)
}

function plans(maxLength: number): fc.Arbitrary<Plan[]> {
  return fc.array(
    fc.record({
      call: someCall,
      before: tenths(40),
      after: tenths(40),
      fate: fc.oneof(
        { arbitrary: fc.constant('known' as const), weight: 8 },
        { arbitrary: fc.constantFrom('unknown' as const, 'nothing' as const), weight: 2 },
      ),
    }),
    { maxLength },
  )
}

/** What the calls have told when they had their effects in this order, one at each full moment. */
function carryOut(planned: readonly Plan[]): AccountOperation[] {
  let state = EMPTY
  let ids = 0
  return planned.map(({ call: of, before, after, fate }, moment) => {
    const [told, next] = fate === 'nothing' ? [undefined, state] : tell(state, of, `g${ids}`)
    if (next !== state && of.do === 'create group') ids++
    state = next
    const returned = fate === 'known' ? moment + after : Number.POSITIVE_INFINITY
    return { call: of, invoked: moment - before, returned, outcome: fate === 'known' ? told : undefined }
  })
}

/** The one outcome that fits: found by trying all of a kind, because the model only says whether one fits. */
function tell(state: AccountState, of: AccountCall, id: string): [AccountOutcome, AccountState] {
  const named = 'id' in of ? state.groups.find((each) => each.id === of.id) : undefined
  const changes = of.do === 'update group' ? of.changes : {}
  const possible: AccountOutcome[] = [
    ...['invalid_domain', 'domain_delete_failed', 'not_monitored', 'duplicate_name', 'not_found'].map(refused),
    { domains: state.domains },
    { groups: state.groups },
    ...('domains' in of ? [{ domains: of.domains }] : []),
    ...(of.do === 'create group' ? [made(id, of.name, ...of.domains)] : []),
    ...(named === undefined ? [] : [{ group: { ...named, ...changes } as Group }]),
    done,
  ]
  for (const outcome of possible) {
    const [next] = MODEL.step(state, of, outcome, '')
    if (next !== undefined) return [outcome, next]
  }
  throw new Error(`The model has no outcome for ${JSON.stringify(of)}.`)
}

/** All orders, without any cleverness. */
function isLinearizableByForce<State, Call, Outcome>(
  history: readonly Operation<Call, Outcome>[],
  { step }: Specification<State, Call, Outcome>,
  state: State,
): boolean {
  if (history.every(({ outcome }) => outcome === undefined)) return true
  return history.some((operation, index) => {
    const others = history.filter((each) => each !== operation)
    if (others.some(({ returned }) => returned < operation.invoked)) return false
    const after = step(state, operation.call, operation.outcome, `${index} of ${history.length}`)
    return after.some((next) => isLinearizableByForce(others, { step } as Specification<State, Call, Outcome>, next))
  })
}

describe('the checker, held to random histories', () => {
  it('accepts what calls tell that have had their effects one after the other, however they overlap', () => {
    fc.assert(
      fc.property(plans(60), (planned) => {
        const history = carryOut(planned)
        expect(checkHistory(history, MODEL).linearizable).toBe(true)
        for (const name of ['Web', 'Mail']) {
          expect(checkHistory(historyOfName(history, name), NAME_MODEL).linearizable).toBe(true)
        }
      }),
      { numRuns: RUNS, seed: SEED },
    )
  })

  /** A history in which an outcome is that of another call, or a time is another one. */
  const mutated = fc
    .tuple(plans(7), fc.nat(), fc.nat(), fc.boolean(), tenths(120))
    .map(([planned, victim, donor, ofTime, shift]) => {
      const history = carryOut(planned)
      const known = history.filter(({ outcome }) => outcome !== undefined)
      const at = known[victim % Math.max(1, known.length)]
      if (at === undefined) return history
      const other = known[donor % known.length]
      const change = ofTime
        ? { invoked: at.invoked + shift - 6, returned: at.returned + shift - 6 }
        : { outcome: other?.outcome }
      return history.map((each) => (each === at ? ({ ...each, ...change } as AccountOperation) : each))
    })

  it('says of changed histories what a search of all orders says, and refuses many of them', () => {
    let refusals = 0
    fc.assert(
      fc.property(mutated, (history) => {
        const isLinearizable = isLinearizableByForce(history, MODEL, EMPTY)
        expect(checkHistory(history, MODEL).linearizable).toBe(isLinearizable)
        if (!isLinearizable) refusals++
      }),
      { numRuns: RUNS, seed: SEED },
    )
    expect(refusals).toBeGreaterThan(RUNS / 10)
  })

  it('refuses by a name only what it refuses by the account', () => {
    let refusals = 0
    fc.assert(
      fc.property(mutated, (history) => {
        const byName = ['Web', 'Mail'].map(
          (name) => checkHistory(historyOfName(history, name), NAME_MODEL).linearizable,
        )
        if (byName.every((accepted) => accepted === true)) return
        refusals++
        expect(checkHistory(history, MODEL).linearizable).toBe(false)
      }),
      { numRuns: RUNS, seed: SEED },
    )
    expect(refusals).toBeGreaterThan(RUNS / 60)
  })

  it('refuses a small part of what it refuses, in which each read is needed', () => {
    const changesNothing = ({ call: of, outcome }: AccountOperation) =>
      outcome !== undefined && MODEL.changesNothing(of, outcome)
    fc.assert(
      fc.property(mutated, (history) => {
        if (checkHistory(history, MODEL).linearizable !== false) return
        const witness = smallWitness(history, MODEL)
        expect(checkHistory(witness, MODEL).linearizable).toBe(false)
        for (const operation of witness.filter(changesNothing)) {
          const rest = witness.filter((each) => each !== operation)
          expect(checkHistory(rest, MODEL).linearizable).toBe(true)
        }
      }),
      { numRuns: RUNS, seed: SEED },
    )
  })
})
