import type { AccountState } from '../../domain/account.ts'
import { type Entry, PAST, type Past } from '../../journal/entry.ts'
import type { TrialResult } from '../trial.ts'

/** A request of a trial, with the state that is necessary to answer it again. */
export interface RecordedRequest {
  entry: Entry
  /** The account and its counters before the request; absent if no account has the key. */
  past: Past | undefined
  /** The state of every account then. Under another contract, a key without an account may belong to one of them. */
  others: readonly AccountState[]
}

/** The recording of a trial. */
export interface Recording {
  requests: readonly RecordedRequest[]
  /** One account of each kind. Accounts of one kind differ only in their id and key. */
  origins: readonly AccountState[]
  /** The state of each account before its first request. */
  firsts: readonly AccountState[]
  /** Whether some requests were not recorded. */
  isCut: boolean
}

/** Makes the recording of a trial. */
export function recordingOf({
  exchanges,
  lost,
  accounts,
}: Pick<TrialResult, 'exchanges' | 'lost' | 'accounts'>): Recording {
  const firsts = new Map<string, AccountState>()
  for (const { [PAST]: past } of exchanges) {
    if (past !== undefined && !firsts.has(past.account.id)) firsts.set(past.account.id, past.account)
  }
  // Accounts without a request are in the state in which the control plane left them.
  const present = new Map([...accounts, ...firsts])
  const origins = new Map(
    [...accounts.values(), ...exchanges.flatMap(({ [PAST]: past }) => past?.account ?? [])].map((state) => [
      kindOf(state),
      state,
    ]),
  )
  let others: readonly AccountState[] = [...present.values()]
  const lasts = new Map(exchanges.map(({ [PAST]: past }, index) => [past?.account.id, index]))
  const requests = exchanges.map((entry, index): RecordedRequest => {
    const { [PAST]: past } = entry
    const request = { entry, past, others }
    if (past === undefined) return request
    const { account, after = account } = past
    const { id } = account
    if (lasts.get(id) === index && !accounts.has(id)) {
      // The account was deleted after its last request. The exact time is unknown.
      present.delete(id)
      others = [...present.values()]
      return request
    }
    if (present.get(id) !== after) {
      present.set(id, after)
      others = [...present.values()]
    }
    return request
  })
  return { requests, origins: [...origins.values()], firsts: [...firsts.values()], isCut: lost > 0 }
}

const fixtures = new WeakMap<object, number>()
let named = 0

/** The origin of an account without its id and key. */
function kindOf({ origin: { fixture, key: _, ...chosen } }: AccountState): string {
  if (typeof fixture === 'string') return JSON.stringify([fixture, chosen])
  const number = fixtures.get(fixture) ?? ++named
  fixtures.set(fixture, number)
  return JSON.stringify([number, chosen])
}

/** The state of the account whose key has this hash. */
export function findOwner({ past, others }: RecordedRequest, keyHash: string): AccountState | undefined {
  const owns = ({ keys }: AccountState) => keys.some(({ hash }) => hash === keyHash)
  return past !== undefined && owns(past.account) ? past.account : others.find(owns)
}
