import type { AccountState } from '../../domain/account.ts'
import type { Entry } from '../../journal/entry.ts'
import type { Past } from '../../journal/past.ts'
import type { TrialResult } from '../trial.ts'

/** A request of a trial, and all that it takes to answer it again as the service was then. */
export interface RecordedRequest {
  entry: Entry
  /** The account that it found, and what was counted there; absent where its key belonged to none. */
  past: Past | undefined
  /** Of every account, the state at that time. A request that belongs to none might belong to one of them elsewhere. */
  others: readonly AccountState[]
}

/** What a trial has recorded, to be answered again. */
export interface Recording {
  requests: readonly RecordedRequest[]
  /** One account of each kind that there was: those of one kind differ in their id and key only. */
  origins: readonly AccountState[]
  /** Each account as its first request has found it. */
  firsts: readonly AccountState[]
  /** Whether there were more requests than are recorded. */
  isCut: boolean
}

/** What a trial has recorded. */
export function recordingOf({
  exchanges,
  lost,
  accounts,
}: Pick<TrialResult, 'exchanges' | 'lost' | 'accounts'>): Recording {
  const firsts = new Map<string, AccountState>()
  for (const { before } of exchanges) {
    if (before !== undefined && !firsts.has(before.account.id)) firsts.set(before.account.id, before.account)
  }
  // An account that no request has entered is as the control plane has left it.
  const present = new Map([...accounts, ...firsts])
  const origins = new Map(
    [...accounts.values(), ...exchanges.flatMap(({ before }) => before?.account ?? [])].map((state) => [
      kindOf(state),
      state,
    ]),
  )
  let others: readonly AccountState[] = [...present.values()]
  const lasts = new Map(exchanges.map(({ before }, index) => [before?.account.id, index]))
  const requests = exchanges.map((entry, index): RecordedRequest => {
    const { before, after } = entry
    const request = { entry, past: before, others }
    if (before === undefined) return request
    const { id } = before.account
    if (lasts.get(id) === index && !accounts.has(id)) {
      // It was deleted at some time after its last request.
      present.delete(id)
      others = [...present.values()]
      return request
    }
    const state = after ?? before.account
    if (present.get(id) !== state) {
      present.set(id, state)
      others = [...present.values()]
    }
    return request
  })
  return { requests, origins: [...origins.values()], firsts: [...firsts.values()], isCut: lost > 0 }
}

const fixtures = new WeakMap<object, number>()
let named = 0

/** From what the account was made, except for its id and key. */
function kindOf({ origin: { fixture, key: _, ...chosen } }: AccountState): string {
  if (typeof fixture === 'string') return JSON.stringify([fixture, chosen])
  const number = fixtures.get(fixture) ?? ++named
  fixtures.set(fixture, number)
  return JSON.stringify([number, chosen])
}

/** The state of an account whose key has this hash. */
export function findOwner({ past, others }: RecordedRequest, keyHash: string): AccountState | undefined {
  const owns = ({ keys }: AccountState) => keys.some(({ hash }) => hash === keyHash)
  return past !== undefined && owns(past.account) ? past.account : others.find(owns)
}
