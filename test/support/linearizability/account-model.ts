import { isDeepStrictEqual } from 'node:util'
import type { Specification } from './checker.ts'

/**
 * What one account is for clients that ask one after the other: its domains and groups, in order. Written from the
 * specification of the service, without any of the server's code. Names of domains are in their canonical form, and
 * group names differ by case at most.
 */

interface Group {
  /** Begins with a question mark where the service has told nobody yet. */
  id: string
  name: string
  domains: readonly string[]
}

export interface AccountState {
  domains: readonly string[]
  groups: readonly Group[]
}

export type AccountCall =
  | { do: 'list domains' }
  | { do: 'add domains'; domains: readonly string[] }
  | { do: 'delete domains'; domains: readonly string[] }
  | { do: 'list groups' }
  | { do: 'read group'; id: string }
  | { do: 'create group'; name: string; domains: readonly string[] }
  | { do: 'update group'; id: string; changes: GroupChanges }
  | { do: 'delete group'; id: string }

interface GroupChanges {
  name?: string
  domains?: readonly string[]
  add_domains?: readonly string[]
}

/** What a client learns: the code of a refusal, or what it was told. */
export type AccountOutcome =
  | { refused: string }
  | { domains: readonly string[] }
  | { groups: readonly Group[] }
  | { group: Group }
  | { done: true }

/** A state and what the client is told when the account comes into it. */
interface Answer {
  state: AccountState
  outcome: AccountOutcome
}

export function accountModel(initial: AccountState): Specification<AccountState, AccountCall, AccountOutcome> {
  const keys = new WeakMap<AccountState, string>()
  return {
    initial,
    step(state, call, outcome, token) {
      if (outcome === undefined) {
        return readings(state, call, outcome).map((read) => answer(read, call, `?${token}`).state)
      }
      return readings(state, call, outcome).flatMap((read) => {
        const told = answer(read, call, 'group' in outcome ? outcome.group.id : '')
        return isDeepStrictEqual(told.outcome, outcome) ? [told.state] : []
      })
    },
    changesNothing: (call, outcome) => isLook(call) || 'refused' in outcome,
    keyOf(state) {
      const known = keys.get(state)
      if (known !== undefined) return known
      const key = JSON.stringify(state)
      keys.set(state, key)
      return key
    },
    keyOfCall: (call) => JSON.stringify(call),
  }
}

/** Whether a call changes nothing, whatever comes of it. */
export function isLook(call: AccountCall): boolean {
  return /^(list|read) /.test(call.do)
}

/**
 * The state, or the states that it can be when ids that nobody was told are those that the call or its outcome names. An
 * id that stands for nothing in the state can be that of any such group, or of none.
 */
function readings(
  state: AccountState,
  call: AccountCall,
  outcome: AccountOutcome | undefined,
): readonly AccountState[] {
  const open = state.groups.filter(({ id }) => id.startsWith('?'))
  if (open.length === 0) return [state]
  if (outcome !== undefined && 'groups' in outcome) {
    // A list tells the id of each group by its name.
    const idOf = new Map(outcome.groups.map(({ name, id }) => [name, id]))
    return [
      {
        ...state,
        groups: state.groups.map((group) =>
          group.id.startsWith('?') ? { ...group, id: idOf.get(group.name) ?? group.id } : group,
        ),
      },
    ]
  }
  const id = 'id' in call ? call.id : undefined
  if (id === undefined || state.groups.some((group) => group.id === id)) return [state]
  return [state, ...open.map((group) => withGroup(state, { ...group, id }, group))]
}

function answer(state: AccountState, call: AccountCall, newId: string): Answer {
  switch (call.do) {
    case 'list domains':
      return { state, outcome: { domains: state.domains } }
    case 'add domains': {
      if (call.domains.some((domain) => state.domains.includes(domain))) return refuse(state, 'invalid_domain')
      return accept({ ...state, domains: [...state.domains, ...call.domains] }, { domains: call.domains })
    }
    case 'delete domains': {
      if (!areMonitored(state, call.domains)) return refuse(state, 'domain_delete_failed')
      const stays = (domain: string) => !call.domains.includes(domain)
      const groups = state.groups.map((group) => ({ ...group, domains: group.domains.filter(stays) }))
      return accept({ domains: state.domains.filter(stays), groups }, { domains: call.domains })
    }
    case 'list groups':
      return { state, outcome: { groups: state.groups } }
    case 'create group': {
      if (!areMonitored(state, call.domains)) return refuse(state, 'not_monitored')
      if (state.groups.some(({ name }) => isSameName(name, call.name))) return refuse(state, 'duplicate_name')
      const group = { id: newId, name: call.name, domains: call.domains }
      return accept({ ...state, groups: [...state.groups, group] }, { group })
    }
    default: {
      const group = state.groups.find(({ id }) => id === call.id)
      if (group === undefined) return refuse(state, 'not_found')
      if (call.do === 'read group') return { state, outcome: { group } }
      if (call.do === 'update group') return updateGroup(state, group, call.changes)
      return accept({ ...state, groups: state.groups.filter((each) => each !== group) }, { done: true })
    }
  }
}

function updateGroup(state: AccountState, group: Group, changes: GroupChanges): Answer {
  const { name = group.name, domains = group.domains, add_domains: added = [] } = changes
  if (!areMonitored(state, [...(changes.domains ?? []), ...added])) return refuse(state, 'not_monitored')
  if (state.groups.some((other) => other !== group && isSameName(other.name, name))) {
    return refuse(state, 'duplicate_name')
  }
  const updated = { id: group.id, name, domains: [...new Set([...domains, ...added])] }
  if (isDeepStrictEqual(updated, group)) return { state, outcome: { group } }
  return accept(withGroup(state, updated, group), { group: updated })
}

function withGroup(state: AccountState, group: Group, former: Group): AccountState {
  return { ...state, groups: state.groups.map((each) => (each === former ? group : each)) }
}

function areMonitored(state: AccountState, domains: readonly string[]): boolean {
  return domains.every((domain) => state.domains.includes(domain))
}

function isSameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

function accept(state: AccountState, outcome: AccountOutcome): Answer {
  return { state, outcome }
}

function refuse(state: AccountState, code: string): Answer {
  return { state, outcome: { refused: code } }
}
