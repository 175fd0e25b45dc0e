import type { Contract } from '../contract/contract.ts'
import type { AccountState } from '../domain/account.ts'
import { accept } from '../domain/errors.ts'
import { type Fault, type FaultRule, faultId, isExpired, phaseOf, UNTOUCHED } from '../domain/faults.ts'
import { writeInstant } from '../domain/iso-8601.ts'
import { type AdminCode, type AdminRefusal, invalid, notFound, tooMany } from './codes.ts'
import { type FaultSet, readyMadeSets } from './fault-sets.ts'
import { type AccountCall, type AccountVerb, type ControlCall, type ControlOutcome, done, type Verb } from './verb.ts'

export const listFaultSets: Verb = async (call) => done({ sets: await setsOf(call) })

export const addFaultSet: AccountVerb = async (call) => {
  const name = call.parameters['set'] ?? ''
  const set = (await setsOf(call)).find((each) => each.name === name)
  if (set === undefined) return notFound('fault set', name)
  const added = await addRules(
    call,
    set.rules.map((rule) => ({ set: name, rule })),
  )
  return added.ok ? listFaults({ ...call, account: added.state }) : added
}

export const listFaults: AccountVerb = async (call) => {
  const { tallies } = await call.store.counters(call.account.id)
  return done({ faults: call.account.faults.map((fault) => describeFault(call, fault, tallies.get(fault.id))) })
}

export const addFault: AccountVerb = async (call) => {
  const rule = call.body as FaultRule
  const refusal = findUnlawfulRule(rule, call.contract, call.limits.answerLimit)
  if (refusal) return refusal
  const added = await addRules(call, [{ rule }])
  const fault = added.ok ? added.state.faults.at(-1) : undefined
  if (!added.ok) return added
  return done(fault && { fault: describeFault(call, fault) })
}

export const clearFaults: AccountVerb = (call) => removeFaults(call, () => false)

export const deleteFault: AccountVerb = (call) => {
  const id = call.parameters['fault'] ?? ''
  return call.account.faults.some((fault) => fault.id === id)
    ? removeFaults(call, (fault) => fault.id !== id)
    : notFound('fault', id)
}

/** What the schema cannot say of a rule, because the service's contract says it. */
export function findUnlawfulRule(rule: FaultRule, contract: Contract, answerLimit: number): AdminRefusal | undefined {
  const { match = {}, respond } = rule
  const operation = contract.operations.find(({ id }) => id === match.operation)
  if (match.operation !== undefined && operation === undefined) {
    const allowed = contract.operations.map(({ id }) => id).join(', ')
    return invalid('/match/operation', match.operation, 'choice', { allowed })
  }
  if (match.path !== undefined && !contract.routes.has(match.path)) {
    return invalid('/match/path', match.path, 'choice', { allowed: [...contract.routes.keys()].join(', ') })
  }
  if (respond === undefined) return undefined
  if ('error' in respond) {
    const codes = codesOf(operation === undefined ? contract.operations : [operation])
    if (!contract.catalogue.has(respond.error)) {
      return invalid('/respond/error', respond.error, 'choice', { allowed: [...codes].join(', ') })
    }
    if (operation !== undefined && !codes.has(respond.error)) {
      const about = { operation: operation.id, allowed: [...codes].join(', ') }
      return invalid('/respond/error', respond.error, 'never', about)
    }
    const { status } = respond
    if (status !== undefined && contract.catalogue.problemWith(respond.error, status) === undefined) {
      const allowed = [...contract.catalogue.statusesOf(respond.error)].join(', ')
      return invalid('/respond/status', status, 'choice', { allowed })
    }
    return undefined
  }
  const size = respond.body === undefined ? 0 : Buffer.byteLength(JSON.stringify(respond.body))
  return size > answerLimit ? invalid('/respond/body', `${size} bytes`, 'too-long', { limit: answerLimit }) : undefined
}

function codesOf(operations: Contract['operations']): Set<string> {
  return new Set(operations.flatMap(({ responses }) => [...responses.values()].flatMap(({ codes }) => [...codes])))
}

async function setsOf({ faultSets }: ControlCall): Promise<FaultSet[]> {
  const own = new Set(faultSets.map(({ name }) => name))
  return [...(await readyMadeSets()).filter(({ name }) => !own.has(name)), ...faultSets]
}

function addRules({ store, account, now, limits }: AccountCall, rules: readonly Pick<Fault, 'set' | 'rule'>[]) {
  return store.update<undefined, AdminCode>(account.id, (state) => {
    if (state.faults.length + rules.length > limits.faultsPerAccount)
      return tooMany(limits.faultsPerAccount, 'fault rules')
    const added = rules.map((rule, index) => ({
      id: faultId(state.faultsCreated + index + 1),
      createdAt: now,
      ...rule,
    }))
    const faultsCreated = state.faultsCreated + rules.length
    return accept<AccountState, undefined>({ ...state, faults: [...state.faults, ...added], faultsCreated }, undefined)
  })
}

async function removeFaults(
  { store, account }: AccountCall,
  stays: (fault: Fault) => boolean,
): Promise<ControlOutcome> {
  const decision = await store.update<undefined, AdminCode>(account.id, (state) =>
    accept({ ...state, faults: state.faults.filter(stays) }, undefined),
  )
  return decision.ok ? done() : decision
}

function describeFault({ now }: AccountCall, fault: Fault, { matched, hits } = UNTOUCHED): object {
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
    rule,
  }
}
