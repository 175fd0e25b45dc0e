import { StoreError } from '../store/store-error.ts'

/** The meaning of the server's errors, by their first word. After such an error, nothing was done. */
const REASONS: Readonly<Record<string, string>> = {
  OOM: 'The store has no memory left: it holds as much as its setting maxmemory permits; raise it, or delete accounts',
  READONLY: 'The store refuses changes, because its server is a read-only replica of another one',
  MASTERDOWN: 'The store is a replica whose master is away',
  // A caller that waits on a blocked command gets this error, because no data follows.
  UNBLOCKED: 'The store has become a replica of another server',
  LOADING: 'The store is still loading its data',
  BUSY: 'The store is busy with a script that takes too long',
  MISCONF: 'The store refuses changes, because it cannot write them to its disk',
  NOREPLICAS: 'The store refuses changes, because it has too few replicas',
  NOAUTH: 'The store asks for a password',
  WRONGPASS: 'The store refuses this user and password',
  NOPERM: 'The store does not permit its user a command that is needed',
  CLUSTERDOWN: 'The cluster of the store is down',
  MOVED: 'The store is a cluster of several nodes, which is not supported; use one server, or a cluster of one node',
  ASK: 'The store is a cluster that moves its data, which is not supported',
  TRYAGAIN: 'The store is a cluster that moves its data, which is not supported',
  ERR: 'The store refuses the connection',
}
/** After these errors, another connection may lead to a server that answers differently. */
const OF_CONNECTION = new Set(['READONLY', 'MASTERDOWN', 'UNBLOCKED', 'NOAUTH', 'WRONGPASS', 'ERR'])

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
  const reason = Object.hasOwn(REASONS, code) ? REASONS[code] : undefined
  if (reason === undefined) return undefined
  const isOutOfMemory = code === 'OOM'
  const error = new StoreError(isOutOfMemory ? 'full' : 'unavailable', `${reason} (${text})`)
  return { error: Object.assign(error, { reported: true, isOutOfMemory }), isOfConnection: OF_CONNECTION.has(code) }
}
