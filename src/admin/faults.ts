import type { FaultReport, FaultSetReport, Schemas } from '../contract/control-plane.ts'
import type { AccountState } from '../domain/account.ts'
import { accept, refuse } from '../domain/errors.ts'
import { type Fault, type FaultRule, faultId, isExpired, NO_TALLY } from '../domain/faults.ts'
import { writeInstant } from '../domain/iso-8601.ts'
import { type FaultSet, readyMadeSets } from '../faults/fault-sets.ts'
import { phaseOf } from '../faults/kinds.ts'
import { findRuleProblem } from '../faults/rule-check.ts'
import {
  type AccountContext,
  type ControlContext,
  type ControlOutcome,
  changeAccount,
  done,
  type Handlers,
} from './handler.ts'
import { answerPage } from './paging.ts'
import { notFound, tooMany } from './refusals.ts'

export const faultHandlers = {
  // The schema admits only rules of known kinds.
  listFaultSets: (call) => done({ sets: structuredClone(setsOf(call)) as FaultSetReport[] }),

  addFaultSet(call) {
    const { set: name } = call.parameters
    const sets = setsOf(call)
    const set = sets.find((each) => each.name === name)
    const names = sets.map((each) => each.name)
    return set === undefined ? notFound('fault set', name, names) : addRules(call, set.rules, name)
  },

  async listFaults(call) {
    const { tallies } = (await call.store.read(call.account.id)).counters
    return answerPage(call, 'faults', {
      items: call.account.faults,
      idOf: ({ id }) => id,
      report: (fault) => reportFault(call, fault, tallies.get(fault.id)),
    })
  },

  async addFault(call) {
    // This is a copy, because a caller in the same process may change its own object later.
    const rule = JSON.parse(JSON.stringify(call.body)) as FaultRule
    const problem = findRuleProblem(rule, call.contract, call.limits)
    if (problem) return refuse(problem)
    const added = await addRules(call, [rule])
    return added.ok ? done({ fault: added.data.faults[0] as FaultReport }) : added
  },

  clearFaults: (call) => removeFaults(call, () => false),

  deleteFault(call) {
    const { fault: id } = call.parameters
    return call.account.faults.some((fault) => fault.id === id)
      ? removeFaults(call, (fault) => fault.id !== id)
      : notFound('fault', id)
  },
} satisfies Handlers

function setsOf({ faultSets }: Pick<ControlContext, 'faultSets'>): FaultSet[] {
  const own = new Set(faultSets.map(({ name }) => name))
  return [...readyMadeSets().filter(({ name }) => !own.has(name)), ...faultSets]
}

function addRules(call: AccountContext, rules: readonly FaultRule[], set?: string) {
  const { faultsPerAccount: limit } = call.limits
  const decide = (state: AccountState) => {
    if (state.faults.length + rules.length > limit) return tooMany(limit, 'fault rules')
    const added = rules.map((rule, index): Fault => {
      const id = faultId(state.faultsCreated + index + 1)
      return { id, createdAt: call.now, rule, ...(set !== undefined && { set }) }
    })
    const faultsCreated = state.faultsCreated + rules.length
    return accept({ ...state, faults: [...state.faults, ...added], faultsCreated }, added)
  }
  return changeAccount(call, decide, (_, added) => ({ faults: added.map((fault) => reportFault(call, fault)) }))
}

function removeFaults(
  call: AccountContext,
  stays: (fault: Fault) => boolean,
): Promise<ControlOutcome<Record<string, never>>> {
  const decide = (state: AccountState) => accept({ ...state, faults: state.faults.filter(stays) }, undefined)
  return changeAccount(call, decide, () => ({}))
}

function reportFault({ now }: AccountContext, fault: Fault, { matched, hits } = NO_TALLY): FaultReport {
  const { id, set, createdAt, rule } = fault
  const spent = hits >= (rule.times ?? Number.POSITIVE_INFINITY)
  return {
    id,
    ...(set !== undefined && { set }),
    created_at: writeInstant(createdAt),
    phase: phaseOf(rule),
    matched,
    hits,
    state: spent ? 'spent' : isExpired(fault, now) ? 'expired' : 'active',
    // The schema admits only rules of known kinds.
    rule: structuredClone(rule) as Schemas['FaultRule'],
  }
}
