import { decodePart } from '../ground/target.ts'
import type { StoreAddress } from '../store/redis/client.ts'

/** A parsed URL. `shown` is the URL without user and password, for messages and the log. */
interface ReadUrl {
  address: StoreAddress
  shown: string
}

export const STORE_REMEDY =
  'must be a URL such as redis://127.0.0.1:6379, rediss://USER:PASSWORD@HOST:PORT/DATABASE, valkey://HOST or unix:/PATH'

const SCHEMES: Readonly<Record<string, { tls: boolean }>> = {
  redis: { tls: false },
  rediss: { tls: true },
  valkey: { tls: false },
  valkeys: { tls: true },
}
const USUAL_PORT = 6379
/** Longer than every URL of a store; a hostname has at most 253 characters. */
const LONGEST_URL = 2_000
/** The system truncates a longer path of a socket, and would connect to another one. */
const LONGEST_SOCKET = 107
/** More databases than any server has. The server itself reports its number of databases. */
const HIGHEST_DATABASE = 65_535

const HOST = /^(?:\[[0-9a-f:.]{2,45}\]|[\w.-]{1,253})$/i
/** Scheme, user and password, host, port, path, and the rest. The last `@` ends user and password. */
const URL_PARTS = /^([a-z][a-z0-9+.-]*):\/\/(?:(.*)@)?(\[[^\]]*\]|[^:/?#]*)(?::([^/?#]*))?(\/[^?#]*)?([?#].*)?$/is
/** The same for a Unix socket: user and password, path, and the rest. */
const SOCKET_PARTS = /^unix:(?:\/\/(?:(.*)@)?)?(\/(?!\/)[^?#]*)?([?#].*)?$/is

/** Reads the URL of a store, or returns a remedy. The remedy repeats no part of the URL, which may hold a password. */
export function readStoreUrl(written: string): ReadUrl | { remedy: string } {
  if (written.length > LONGEST_URL) return { remedy: `must be a URL of at most ${LONGEST_URL} characters` }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not pass
  if (/[\s\u0000-\u001f\u007f]/.test(written)) return { remedy: 'must be a URL without spaces; write %20 for a space' }
  return /^unix:/i.test(written) ? readSocketUrl(written) : readHostUrl(written)
}

function readHostUrl(written: string): ReadUrl | { remedy: string } {
  const [, scheme = '', user, host = '', port, path = '', rest] = URL_PARTS.exec(written) ?? []
  const kind = Object.hasOwn(SCHEMES, scheme.toLowerCase()) ? SCHEMES[scheme.toLowerCase()] : undefined
  if (kind === undefined) return { remedy: STORE_REMEDY }
  const caller = readCaller(user)
  if ('remedy' in caller) return caller
  if (rest !== undefined) return { remedy: 'must end after the database, such as redis://HOST:PORT/0, without ? or #' }
  if (host === '') return { remedy: 'must name a host, such as redis://127.0.0.1:6379' }
  if (!HOST.test(host)) return { remedy: 'must name a host by its name or address, such as redis://127.0.0.1:6379' }
  if (port !== undefined && !isBetween(port, 1, 65_535)) return { remedy: 'must have a port from 1 to 65535' }
  const database = readDatabase(path.slice(1))
  if (database === undefined) return { remedy: DATABASE_REMEDY }
  const number = port === undefined ? USUAL_PORT : Number(port)
  const shown = `${scheme.toLowerCase()}://${host}:${number}/${database}`
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  return { address: { kind: 'tcp', host: bare, port: number, ...kind, ...caller, database }, shown }
}

function readSocketUrl(written: string): ReadUrl | { remedy: string } {
  const [, user, path, rest = ''] = SOCKET_PARTS.exec(written) ?? []
  const caller = readCaller(user)
  if ('remedy' in caller) return caller
  const name = path === undefined ? undefined : decodePart(path)
  if (name === undefined || name === '/')
    return { remedy: 'must be the whole path of a socket, such as unix:/run/redis.sock' }
  if (Buffer.byteLength(name) > LONGEST_SOCKET) return { remedy: `must have a path of at most ${LONGEST_SOCKET} bytes` }
  const [, number] = /^\?db=(.*)$/.exec(rest) ?? []
  if (rest !== '' && number === undefined) return { remedy: 'must end after the path, or after ?db=0' }
  const database = readDatabase(number ?? '')
  if (database === undefined) return { remedy: DATABASE_REMEDY }
  const shown = `unix:${name}${database === 0 ? '' : `?db=${database}`}`
  return { address: { kind: 'unix', path: name, ...caller, database }, shown }
}

const DATABASE_REMEDY = `must have the number of a database from 0 to ${HIGHEST_DATABASE} at its end, or none`

function readDatabase(written: string): number | undefined {
  if (written === '') return 0
  return isBetween(written, 0, HIGHEST_DATABASE) ? Number(written) : undefined
}

function readCaller(
  written: string | undefined,
): { username: string | undefined; password: string | undefined } | { remedy: string } {
  if (written === undefined) return { username: undefined, password: undefined }
  const [, user = '', secret] = /^([^:]*)(?::(.*))?$/s.exec(written) ?? []
  const username = decodePart(user)
  const password = secret === undefined ? undefined : decodePart(secret)
  // A colon is valid in a password, and needs no encoding.
  if (/[/?#[\]@]/.test(written) || username === undefined || (secret !== undefined && password === undefined))
    return {
      remedy: 'must have percent-encoding in user and password: %40 for @, %2F for /, %3F for ?, %23 for #, %25 for %',
    }
  return { username: username || undefined, password: password || undefined }
}

function isBetween(written: string, lowest: number, highest: number): boolean {
  return /^\d{1,9}$/.test(written) && Number(written) >= lowest && Number(written) <= highest
}

/**
 * A text that was given as the URL of a store, for a message: without user and password, and without every part that
 * may be meant as one of them. An ellipsis stands for each part that is left out.
 */
export function maskStoreUrl(written: string): string {
  const shortened = written.slice(-LONGEST_URL)
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]{0,20}:(?:\/\/)?)?(.*)$/is.exec(shortened) ?? []
  const end = rest.lastIndexOf('@')
  const user = end < 0 ? '' : '…@'
  const [, host = '', port, path = '', more] =
    /^(\[[^\]]*\]|[^:/?#]*)(?::([^/?#]*))?(\/[^?#]*)?([?#].*)?$/s.exec(rest.slice(end + 1)) ?? []
  if (/^unix:/i.test(scheme)) return `${scheme}${user}${host === '' ? path : '…'}${more === undefined ? '' : '?…'}`
  // Without slashes, it is unknown which part is the host.
  const isHost = host === '' || (HOST.test(host) && (scheme === '' || scheme.endsWith('//') || /^\d+$/.test(host)))
  const portShown = port === undefined ? '' : isBetween(port, 1, 65_535) ? `:${port}` : ':…'
  const pathShown = /^(?:\/\d*)?$/.test(path) ? path : '/…'
  return `${scheme}${user}${isHost ? host : '…'}${portShown}${pathShown}${more === undefined ? '' : '?…'}`
}
