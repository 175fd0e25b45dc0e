import type { StoreAddress } from '../store/redis/connection.ts'
import { StoreError } from '../store/store-error.ts'

/** Hints for failures, by the beginning of the failure's text or by a part of it. */
const HINTS: readonly (readonly [failure: RegExp, hint: string])[] = [
  [/ECONNREFUSED|EHOSTUNREACH|ENETUNREACH/, 'is it running there?'],
  [/ENOTFOUND|EAI_AGAIN/, 'check the name of the host'],
  [/certificate|CERT_|SELF_SIGNED|altnames/i, 'name the file of its authority in NODE_EXTRA_CA_CERTS'],
  [/NOAUTH/, 'write redis://USER:PASSWORD@HOST'],
  [/DB index/, 'end the URL with the number of a database that it has'],
  // What a connection needs, before any other right can be asked for.
  [/NOPERM/, 'give it +@connection +time'],
  [/WRONGPASS|invalid password|AUTH/, 'check user and password in the URL'],
]
/** Errors if only one side speaks TLS. Neither side reports this cause. */
const MISUNDERSTOOD =
  /ECONNRESET|EPROTO|EPIPE|wrong version number|packet length|closed unexpectedly|hang up|has not answered|Connection timeout/i

/** The error with the name of the store and a hint. */
export function nameStore(error: unknown, shown: string, { tls = false }: StoreAddress): unknown {
  if (!(error instanceof StoreError)) return error
  const said = error.message.replace(/^The store /, '')
  const other = tls ? ['does not speak TLS', 'redis://'] : ['speaks TLS', 'rediss://']
  const hint = MISUNDERSTOOD.test(said)
    ? `is it Redis or Valkey? If it ${other[0]}, write ${other[1]}`
    : HINTS.find(([failure]) => failure.test(said))?.[1]
  // Node.js proposes a remedy for its own trusted authorities. It does not help with a private authority.
  const problem = said.replace(/; if the root CA is installed locally, .*$/, '')
  const message = `The store ${shown} ${problem}${hint === undefined || problem.includes(';') ? '' : `; ${hint}`}`
  return new StoreError(error.problem, message, { cause: error })
}
