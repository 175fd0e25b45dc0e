import type { StoreAddress } from '../store/redis/connection.ts'
import { StoreError } from '../store/store-error.ts'

/** What helps against a failure, where its text begins like this or has this in it. */
const HINTS: readonly (readonly [failure: RegExp, hint: string])[] = [
  [/ECONNREFUSED|ENOENT|EHOSTUNREACH|ENETUNREACH/, 'is it running there?'],
  [/ENOTFOUND|EAI_AGAIN/, 'check the name of the host'],
  [/EACCES/, 'this user may not use it'],
  [/certificate|CERT_|SELF_SIGNED|altnames/i, 'name the file of its authority in NODE_EXTRA_CA_CERTS'],
  [/NOAUTH/, 'write redis://USER:PASSWORD@HOST'],
  [/DB index/, 'end the URL with the number of a database that it has'],
  [/WRONGPASS|invalid password|AUTH/, 'check user and password in the URL'],
]
/** What happens where one side speaks TLS and the other does not. Neither of them says so. */
const MISUNDERSTOOD =
  /ECONNRESET|EPROTO|EPIPE|wrong version number|packet length|closed unexpectedly|hang up|has not answered/i

/** The error with the name of the store, and with what helps. */
export function nameStore(error: unknown, shown: string, { kind, tls = false }: StoreAddress): unknown {
  if (!(error instanceof StoreError)) return error
  const said = error.message.replace(/^The store /, '')
  const other = tls ? ['does not speak TLS', 'redis://'] : ['speaks TLS', 'rediss://']
  const hint =
    kind === 'tcp' && MISUNDERSTOOD.test(said)
      ? `is it Redis or Valkey? If it ${other[0]}, write ${other[1]}`
      : HINTS.find(([failure]) => failure.test(said))?.[1]
  // What Node.js proposes may help with its own trust, and not with that of a private authority.
  const problem = said.replace(/; if the root CA is installed locally, .*$/, '')
  const message = `The store ${shown} ${problem}${hint === undefined || problem.includes(';') ? '' : `; ${hint}`}`
  return new StoreError(error.problem, message, { cause: error })
}
