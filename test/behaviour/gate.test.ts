import { describe, expect, it } from 'vitest'
import { decideAdmission, type GateDecision, type GateRequest, type GateTerms } from '../../src/behaviour/gate.ts'
import { loadContract } from '../../src/contract/contract.ts'
import type { AccountState } from '../../src/domain/account.ts'
import { type Counting, countRequest } from '../../src/domain/counting.ts'
import type { FaultRule } from '../../src/domain/faults.ts'
import { PersistentMap } from '../../src/domain/persistent-map.ts'
import { bucketOf } from '../../src/domain/quotas.ts'
import { exampleAccount } from '../store/example-account.ts'

const NOW = Date.parse('2026-01-15T09:30:00Z')
const HOUR = 3_600_000
const contract = await loadContract()
const { settings } = contract
const TERMS: GateTerms = {
  settings,
  enforceQuotas: true,
  bucketOf: (key, path) => bucketOf(key.hash, path, settings.quotaScope),
}
const [LIST, ADD] = ['listDomains', 'addDomains'].map((id) => contract.operations.find((each) => each.id === id))
const REQUEST: GateRequest = { keyHash: 'k1', method: 'GET', operation: LIST, neighbour: undefined, meetsFaults: true }
const LIMITED: FaultRule = { respond: { error: 'rate_limited' } }
const OTHER_ORDER: GateTerms = { ...TERMS, settings: { ...settings, gateOrder: ['key', 'quota', 'plan'] } }

function noCounts(): Counting {
  return { quotas: PersistentMap.of(), tallies: PersistentMap.of(), requests: 0 }
}

function accountWith(changes: Partial<AccountState>, ...rules: FaultRule[]): AccountState {
  const faults = rules.map((rule, index) => ({ id: `fault_${index + 1}`, createdAt: NOW, rule }))
  return { ...exampleAccount('acme', ['k1']), faults, ...changes }
}

/** Sends so many requests, one after another; each is counted before the next. */
function send(count: number, account: AccountState, request: Partial<GateRequest> = {}, terms = TERMS) {
  const counting = noCounts()
  const decisions = Array.from({ length: count }, () => {
    const decision = decideAdmission({ ...REQUEST, ...request }, account, counting, NOW, terms)
    countRequest(counting, decision, account.faults)
    return decision
  })
  return { counting, decisions, last: decisions.at(-1) as GateDecision }
}

function codeOf({ refusal }: GateDecision): string | undefined {
  return refusal?.problems[0].code
}

describe('The decision of the gate', () => {
  it('is the same for the same account, counters and instant, and changes none of them', () => {
    const account = Object.freeze(accountWith({}, { ...LIMITED, probability: 0.5 }))
    const { counting } = send(7, account)
    const before = structuredClone(counting)
    const decide = () => decideAdmission(REQUEST, account, counting, NOW, TERMS)
    expect(decide()).toEqual(decide())
    expect(counting).toEqual(before)
  })

  it('admits a request, and says what it adds to the counters', () => {
    const { last, counting } = send(1, accountWith({}))
    expect(last).toMatchObject({ refusal: undefined, principal: { key: { hash: 'k1' }, now: NOW }, ordinal: 1 })
    expect(last.allowance).toEqual({ allowed: true, limit: 30, remaining: 29, resetAt: (NOW + HOUR / 2) / 1000 })
    const hits = { startedAt: NOW - HOUR / 2, used: 1 }
    expect([...counting.quotas.entries()]).toEqual([[bucketOf('k1', '/domains', settings.quotaScope), hits]])
    expect([counting.tallies.size, counting.requests]).toEqual([0, 1])
  })

  it('refuses a key that the account does not have, and counts nothing', () => {
    const { last, counting } = send(1, accountWith({}, LIMITED), { keyHash: 'k2' })
    expect([codeOf(last), last.principal, last.disabled]).toEqual(['unauthorized', undefined, undefined])
    expect(counting).toEqual(noCounts())
  })

  it('refuses a disabled key, says whose it is, and counts nothing', () => {
    const account = accountWith({}, LIMITED)
    const disabled = { ...account, keys: account.keys.map((key) => ({ ...key, disabled: true })) }
    const { last, counting } = send(1, disabled)
    expect([codeOf(last), last.principal, last.disabled?.key.hash]).toEqual(['unauthorized', undefined, 'k1'])
    expect(counting).toEqual(noCounts())
  })

  it.each<[order: string, charged: number, terms: GateTerms]>([
    ['the plan before the quota', 0, TERMS],
    ['the quota before the plan', 1, OTHER_ORDER],
  ])('refuses a plan that is too low; checking %s, it charges %i quotas', (_, charged, terms) => {
    const { last, counting } = send(1, accountWith({ plan: 'below-stone' }, LIMITED), {}, terms)
    expect(last.refusal?.problems).toMatchObject([{ code: 'unauthorized', reason: 'plan' }])
    expect([counting.quotas.size, counting.tallies.size, counting.requests]).toEqual([charged, 0, 1])
  })

  it('refuses what is over the quota, and no fault rule is asked then', () => {
    const { decisions, counting } = send(31, accountWith({}, { ...LIMITED, probability: 0 }))
    expect(decisions.map(codeOf)).toEqual([...Array(30).fill(undefined), 'rate_limited'])
    expect(counting.tallies.get('fault_1')).toEqual({ matched: 30, hits: 0 })
    expect(counting.requests).toBe(31)
  })

  it('has higher limits for a new key', () => {
    const account = accountWith({})
    const { last } = send(1, { ...account, keys: account.keys.map((key) => ({ ...key, createdAt: NOW })) })
    expect(last.allowance).toMatchObject({ limit: 300, remaining: 299 })
  })

  it('admits what is over the quota where quotas are not enforced', () => {
    const { last } = send(31, accountWith({}), {}, { ...TERMS, enforceQuotas: false })
    expect([codeOf(last), last.allowance]).toMatchObject([undefined, { allowed: true, remaining: 0 }])
  })

  it('charges the same quota for all operations of a path', () => {
    const account = accountWith({})
    const counting = noCounts()
    for (const [operation, method] of [
      [LIST, 'GET'],
      [ADD, 'POST'],
    ] as const) {
      countRequest(counting, decideAdmission({ ...REQUEST, operation, method }, account, counting, NOW, TERMS), [])
    }
    expect([...counting.quotas.values()].map(({ used }) => used)).toEqual([2])
  })

  it('counts a request without an operation, and charges it to no quota', () => {
    const { last, counting } = send(1, accountWith({}, LIMITED), { operation: undefined })
    expect([last.refusal, last.allowance, last.fault]).toEqual([undefined, undefined, undefined])
    expect([counting.requests, counting.quotas.size, counting.tallies.size]).toEqual([1, 0, 0])
  })

  it('finds the fault rule that acts on the request', () => {
    const { last, counting } = send(2, accountWith({}, { ...LIMITED, skip: 5 }, LIMITED))
    expect(last.fault).toMatchObject({ fault: { id: 'fault_2' }, ordinal: 2 })
    expect(counting.tallies.get('fault_1')).toEqual({ matched: 2, hits: 0 })
  })

  it('asks no fault rule for a request that meets none', () => {
    const { last, counting } = send(1, accountWith({}, LIMITED), { meetsFaults: false })
    expect([last.fault, counting.tallies.size]).toEqual([undefined, 0])
  })

  it('draws for a fault rule from the seed of the account', () => {
    const pattern = (seed: number) => {
      const { decisions } = send(30, accountWith({ seed }, { ...LIMITED, probability: 0.5 }))
      return decisions.map(({ fault }) => (fault === undefined ? '.' : 'x')).join('')
    }
    expect(pattern(42)).toMatch(/x.*\..*x/)
    expect(pattern(42)).toBe(pattern(42))
    expect(pattern(43)).not.toBe(pattern(42))
  })
})
