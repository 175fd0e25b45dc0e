import { StoreError, type StoreProblem } from '../store-error.ts'

interface Meaning {
  problem: StoreProblem
  reason: string
  /** Whether another connection may lead to a server that answers differently. */
  isOfConnection?: boolean
}

/** The meaning of the server's errors, by their first word. After such an error, nothing was done. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  OOM: {
    problem: 'full',
    reason:
      'The store has no memory left: it holds as much as its setting maxmemory permits; raise it, or delete accounts',
  },
  READONLY: {
    problem: 'unavailable',
    reason: 'The store refuses changes, because its server is a read-only replica of another one',
    isOfConnection: true,
  },
  MASTERDOWN: {
    problem: 'unavailable',
    reason: 'The store is a replica whose master is away',
    isOfConnection: true,
  },
  // A caller that waits on a blocked command gets this error, because no data follows.
  UNBLOCKED: {
    problem: 'unavailable',
    reason: 'The store has become a replica of another server',
    isOfConnection: true,
  },
  LOADING: { problem: 'unavailable', reason: 'The store is still loading its data' },
  BUSY: { problem: 'unavailable', reason: 'The store is busy with a script that takes too long' },
  MISCONF: { problem: 'unavailable', reason: 'The store refuses changes, because it cannot write them to its disk' },
  NOREPLICAS: { problem: 'unavailable', reason: 'The store refuses changes, because it has too few replicas' },
  NOAUTH: { problem: 'unavailable', reason: 'The store asks for a password', isOfConnection: true },
  WRONGPASS: { problem: 'unavailable', reason: 'The store refuses this user and password', isOfConnection: true },
  NOPERM: { problem: 'unavailable', reason: 'The store does not permit its user a command that is needed' },
  CLUSTERDOWN: { problem: 'unavailable', reason: 'The cluster of the store is down' },
  MOVED: {
    problem: 'unavailable',
    reason: 'The store is a cluster of several nodes, which is not supported; use one server, or a cluster of one node',
  },
  ASK: { problem: 'unavailable', reason: 'The store is a cluster that moves its data, which is not supported' },
  TRYAGAIN: { problem: 'unavailable', reason: 'The store is a cluster that moves its data, which is not supported' },
  ERR: { problem: 'unavailable', reason: 'The store refuses the connection', isOfConnection: true },
}

/** Errors without a code of their own that concern the connection. */
const OF_CONNECTIONS =
  /^ERR (invalid password|AUTH |Client sent AUTH|max number of clients|invalid DB index|DB index is)/i

export interface ReplyProblem {
  error: StoreError
  /** Whether the connection must be replaced. */
  isOfConnection: boolean
}

/** The meaning of the server's error `text`; `undefined` for an error that only a bug can cause. */
export function explainReply(text: string): ReplyProblem | undefined {
  const code = /^[A-Z]+/.exec(text)?.[0] ?? ''
  if (code === 'ERR' && !OF_CONNECTIONS.test(text)) return undefined
  const meaning = Object.hasOwn(MEANINGS, code) ? MEANINGS[code] : undefined
  if (meaning === undefined) return undefined
  const error = new StoreError(meaning.problem, `${meaning.reason} (${text})`)
  error.reported = true
  error.isOutOfMemory = meaning.problem === 'full'
  return { error, isOfConnection: meaning.isOfConnection ?? false }
}
