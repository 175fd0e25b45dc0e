import { decodePart } from '../ground/target.ts'
import type { StoreAddress } from '../store/redis/connection.ts'

/** A parsed URL. `shown` is the URL without user and password, for messages and the log. */
interface ReadUrl {
  address: StoreAddress
  shown: string
}

export const STORE_REMEDY =
  'must be a URL such as redis://127.0.0.1:6379 or rediss://USER:PASSWORD@HOST:PORT/DATABASE, with %40 for @ in a password'

/** The schemes, and whether they mean TLS. */
const SCHEMES = new Map([
  ['redis:', false],
  ['rediss:', true],
  ['valkey:', false],
  ['valkeys:', true],
])
const USUAL_PORT = 6379
/** Longer than every URL of a store; a hostname has at most 253 characters. */
const LONGEST_URL = 2_000

/** Reads the URL of a store; `undefined` if it is none. */
export function readStoreUrl(written: string): ReadUrl | undefined {
  if (written.length > LONGEST_URL || !URL.canParse(written)) return undefined
  const { protocol, username, password, hostname, port, pathname, search, hash } = new URL(written)
  const tls = SCHEMES.get(protocol)
  const [, database] = /^(?:\/(\d{0,5}))?$/.exec(pathname) ?? []
  const isOther = tls === undefined || hostname === '' || port === '0' || search !== '' || hash !== ''
  if (isOther || (database === undefined && pathname !== '')) return undefined
  const [user, secret] = [decodePart(username), decodePart(password)]
  if (user === undefined || secret === undefined) return undefined
  const place = { port: Number(port || USUAL_PORT), database: Number(database ?? 0) }
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  return {
    address: { host, tls, username: user || undefined, password: secret || undefined, ...place },
    shown: `${protocol}//${hostname}:${place.port}/${place.database}`,
  }
}

/**
 * A text that was given as the URL of a store, for a message: without user and password. Of a text that is no such URL,
 * every part may be meant as one of them, so only its scheme is shown.
 */
export function maskStoreUrl(written: string): string {
  const [scheme = ''] = /^(?:https?|rediss?|valkeys?):\/\//i.exec(written) ?? []
  return readStoreUrl(written)?.shown ?? (written === '' ? '' : `${scheme}…`)
}
