import { lookup } from 'node:dns/promises'
import { BlockList, connect, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type ConnectionOptions, connect as connectSecurely, rootCertificates } from 'node:tls'
import { type ConnectionFailure, explainFailure } from '../exchanges/connection-failure.ts'
import { clearTimeout, setTimeout } from '../ground/timers.ts'

/** The service to which a proxy passes requests on. */
export interface ProxyTarget {
  /** As it was given. */
  url: string
  isSecure: boolean
  /** Without brackets. */
  host: string
  port: number
  /** The value of the Host field. It has the port only if that is not the default port. */
  authority: string
  /** The path of the base URL without a trailing slash. If only an origin was given, it is that of the contract. */
  basePath: string
  tls: ConnectionOptions
}

export interface TlsChoices {
  /** PEM certificates that are trusted in addition to the default ones. */
  ca?: string | undefined
  /** Whether every certificate is accepted. */
  insecure?: boolean | undefined
}

/** The service at a base URL, which must be valid and without credentials. */
export function targetAt(written: string, usualPath: string, choices: TlsChoices = {}): ProxyTarget {
  const url = new URL(written)
  const isSecure = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const path = url.pathname.replace(/\/+$/, '')
  return {
    url: written,
    isSecure,
    host,
    port: Number(url.port) || (isSecure ? 443 : 80),
    authority: url.host,
    basePath: path === '' ? usualPath : path,
    tls: {
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: choices.insecure !== true,
      ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }),
      ...(choices.ca === undefined ? {} : { ca: [...rootCertificates, choices.ca] }),
    },
  }
}

/**
 * Whether a connection to the target reaches a proxy that listens on this host and port, so that each request would go
 * round for ever.
 */
export async function isOwnAddress(target: ProxyTarget, host: string, port: number): Promise<boolean> {
  if (port !== target.port) return false
  const listening = await addressesOf(host)
  const machine = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address))
  const own = new BlockList()
  for (const address of listening.some((each) => LOOPBACK_OF.has(each)) ? machine : listening) {
    own.addAddress(address, familyOf(address))
  }
  const asked = await addressesOf(target.host)
  return asked.map((each) => LOOPBACK_OF.get(each) ?? each).some((each) => own.check(each, familyOf(each)))
}

/** The addresses that stand for all of a machine. A connection to one of them reaches its loopback address. */
const LOOPBACK_OF: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
])

/** Those of a name, or an address itself; none if the name is not known. */
async function addressesOf(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true }).catch(() => [])
  return found.map(({ address }) => address)
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4'
}

/** Connects to the service once, within `patience` milliseconds; resolves to what is wrong, if anything is. */
export function probeTarget(
  target: ProxyTarget,
  patience: number,
): Promise<ReturnType<typeof describeFailure> | undefined> {
  const { host, port, isSecure, tls } = target
  const socket = isSecure ? connectSecurely({ ...tls, host, port }) : connect({ host, port })
  return new Promise((resolve) => {
    const end = (error?: NodeJS.ErrnoException) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(error && describeFailure(error, target))
    }
    const timer = setTimeout(() => end(tooLate()), patience)
    socket.once(isSecure ? 'secureConnect' : 'connect', () => end())
    socket.on('error', end)
  })
}

/** The error of a connection that could not be opened in time. */
export function tooLate(): NodeJS.ErrnoException {
  return Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' })
}

/** Why a connection to the service failed, as a sentence. `isConnected`: whether it could be opened before. */
export function describeFailure(
  error: NodeJS.ErrnoException,
  { url }: ProxyTarget,
  isConnected = false,
): { kind: ConnectionFailure['kind']; text: string } {
  const { kind, reason } = explainFailure(error, isConnected)
  const remedy = kind === 'certificate' ? '; --ca FILE trusts the authority behind it, --insecure trusts any' : ''
  const failed = kind === 'cut' ? 'gives no whole response' : 'cannot be reached'
  return { kind, text: `${url} ${failed}: ${reason}${remedy}.` }
}
