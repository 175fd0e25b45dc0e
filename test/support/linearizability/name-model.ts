import { type AccountCall, type AccountOutcome, isSameName } from './account-model.ts'
import type { Operation, Specification } from './checker.ts'

/**
 * What one group name is: held by a group, or by none. A whole account has many states; one name has few, so that the
 * search ends where that of the account has to be given up, and what it finds is short.
 */

/** The id of the group that holds the name; of a group that nobody was told of, a text that begins with a question mark. */
export interface NameState {
  holder: string | undefined
}

export type NameCall =
  | { do: 'take' }
  /** A group takes this name or another one. */
  | { do: 'take by'; id: string }
  | { do: 'leave'; id: string }
  | { do: 'look' }
  /** A look at one group. */
  | { do: 'look at'; id: string }

export type NameOutcome = 'taken' | 'gone' | 'elsewhere' | 'done' | { holder: string | undefined }

export type NameOperation = Operation<NameCall, NameOutcome>

const FREE: NameState = { holder: undefined }

export const NAME_MODEL: Specification<NameState, NameCall, NameOutcome> = {
  initial: FREE,
  step(state, call, outcome, token) {
    const { holder } = state
    switch (call.do) {
      case 'take':
        if (outcome === undefined) return [holder === undefined ? { holder: `?${token}` } : state]
        if (outcome === 'taken') return holder === undefined ? [] : [state]
        return holder === undefined && typeof outcome === 'object' ? [{ holder: outcome.holder }] : []
      case 'take by':
        if (outcome === undefined) return [holder === undefined || isBy(state, call.id) ? { holder: call.id } : state]
        if (outcome === 'taken') return holder === undefined || holder === call.id ? [] : [state]
        return hold(state, call.id) ?? (holder === undefined ? [{ holder: call.id }] : [])
      case 'leave':
        // A group that has another name leaves this one alone.
        if (outcome === 'gone') return holder === call.id ? [] : [state]
        return holder === call.id ? [FREE] : isOpen(state) ? [state, FREE] : [state]
      case 'look at':
        if (outcome === 'gone' || outcome === 'elsewhere') return holder === call.id ? [] : [state]
        return hold(state, call.id) ?? []
      case 'look':
        if (typeof outcome !== 'object') return [state]
        if (outcome.holder === undefined) return holder === undefined ? [state] : []
        return hold(state, outcome.holder) ?? []
    }
  },
  changesNothing: ({ do: act }, outcome) => act.startsWith('look') || outcome === 'taken' || outcome === 'gone',
  keyOf: ({ holder }) => `${holder}`,
  keyOfCall: (call) => JSON.stringify(call),
}

function isOpen({ holder }: NameState): boolean {
  return holder?.startsWith('?') === true
}

function isBy(state: NameState, id: string): boolean {
  return state.holder === id || isOpen(state)
}

/** The states in which this group holds the name, if it can. */
function hold(state: NameState, id: string): readonly NameState[] | undefined {
  if (state.holder === id) return [state]
  return isOpen(state) ? [{ holder: id }] : undefined
}

/** What the history of an account says of one of its group names. `name` is held by none at the beginning. */
export function historyOfName(
  history: readonly Operation<AccountCall, AccountOutcome>[],
  name: string,
): NameOperation[] {
  return history.flatMap(({ call, outcome, invoked, returned }) => {
    const seen = lookAt(call, outcome, name)
    return seen === undefined ? [] : [{ invoked, returned, ...seen }]
  })
}

type Seen = Pick<NameOperation, 'call' | 'outcome'> | undefined

function lookAt(call: AccountCall, outcome: AccountOutcome | undefined, name: string): Seen {
  const code = outcome !== undefined && 'refused' in outcome ? outcome.refused : undefined
  const group = outcome !== undefined && 'group' in outcome ? outcome.group : undefined
  switch (call.do) {
    case 'create group': {
      if (!isSameName(call.name, name) || code === 'not_monitored') return undefined
      if (outcome === undefined) return { call: { do: 'take' }, outcome: undefined }
      return { call: { do: 'take' }, outcome: code === undefined ? { holder: group?.id } : 'taken' }
    }
    case 'update group': {
      const { id, changes } = call
      if (code === 'not_monitored') return undefined
      if (code === 'not_found') return { call: { do: 'look at', id }, outcome: 'gone' }
      if (changes.name === undefined) return group === undefined ? undefined : lookAtGroup(id, group.name, name)
      if (!isSameName(changes.name, name)) {
        return code === undefined ? { call: { do: 'leave', id }, outcome: outcome && 'done' } : undefined
      }
      return { call: { do: 'take by', id }, outcome: outcome && (code === undefined ? 'done' : 'taken') }
    }
    case 'delete group': {
      const { id } = call
      return { call: { do: 'leave', id }, outcome: outcome && (code === undefined ? 'done' : 'gone') }
    }
    case 'read group':
      if (group !== undefined) return lookAtGroup(call.id, group.name, name)
      return code === 'not_found' ? { call: { do: 'look at', id: call.id }, outcome: 'gone' } : undefined
    case 'list groups': {
      if (outcome === undefined || !('groups' in outcome)) return undefined
      const holder = outcome.groups.find((each) => isSameName(each.name, name))?.id
      return { call: { do: 'look' }, outcome: { holder } }
    }
    default:
      return undefined
  }
}

function lookAtGroup(id: string, shown: string, name: string): Seen {
  return { call: { do: 'look at', id }, outcome: isSameName(shown, name) ? { holder: id } : 'elsewhere' }
}
