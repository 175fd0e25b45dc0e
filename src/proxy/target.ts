import { lookup } from 'node:dns/promises'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type ConnectionOptions, connect as connectSecurely, rootCertificates } from 'node:tls'
import { clearTimeout, setTimeout } from '../ground/timers.ts'
import { isLoopback } from '../http/hosts.ts'

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

/** Whether the target is the address on which a proxy would listen. */
export async function isOwnAddress(target: ProxyTarget, host: string, port: number): Promise<boolean> {
  if (port === 0 || target.port !== port) return false
  const addressesOf = (name: string) => lookup(name, { all: true }).catch(() => [])
  const [theirs, bound] = await Promise.all([addressesOf(target.host), addressesOf(host)])
  const interfaces = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  const isAny = host === '0.0.0.0' || host === '::'
  const own = new Set([...bound, ...(isAny ? interfaces : [])].map(({ address }) => address))
  return theirs.some(({ address }) => own.has(address) || (isAny && isLoopback(address)))
}

/** The error codes of OpenSSL and Node.js for certificate problems. */
const CERTIFICATE =
  /^(?:CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/

/** `isLasting`: whether the problem stays until the user changes something; `isUsage`: whether the target is wrong. */
export interface ConnectionFailure {
  text: string
  isLasting: boolean
  isUsage: boolean
}

/** Connects to the service once, within `patience` milliseconds; resolves to what is wrong, if anything is. */
export function probeTarget(target: ProxyTarget, patience: number): Promise<ConnectionFailure | undefined> {
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

/** Why a connection to the service failed. `isConnected`: whether it could be opened before. */
export function describeFailure(
  error: NodeJS.ErrnoException,
  { url, host, port, isSecure }: ProxyTarget,
  isConnected = false,
): ConnectionFailure {
  const { code = '' } = error
  if (isConnected) {
    const text = `${url} has broken the connection off (${code || error.message}).`
    return { text, isLasting: false, isUsage: false }
  }
  if (CERTIFICATE.test(code)) {
    const remedy = '--ca FILE trusts the authority behind it, --insecure trusts any'
    const text = `${url} has a certificate that is not trusted (${code}); ${remedy}.`
    return { text, isLasting: true, isUsage: false }
  }
  if (isSecure && /^(?:ERR_SSL_|EPROTO)/.test(code)) {
    const text = `${url} does not speak TLS (${code}); is it http://${host}${port === 443 ? '' : `:${port}`}?`
    const isLasting = PLAIN_ANSWER.test(`${code} ${error.message}`)
    return { text, isLasting, isUsage: true }
  }
  const why = REASONS[code] ?? `cannot be reached (${code || error.message})`
  return { text: `${url} ${why}.`, isLasting: false, isUsage: false }
}

/** The errors of OpenSSL for an answer that is not TLS. */
const PLAIN_ANSWER = /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|wrong version|packet length/i

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'does not answer: nothing listens there (ECONNREFUSED)',
  ENOTFOUND: 'cannot be found: there is no such host (ENOTFOUND)',
  EAI_AGAIN: 'cannot be found: the names of hosts are not answered (EAI_AGAIN)',
  ETIMEDOUT: 'does not answer in time (ETIMEDOUT)',
  ECONNRESET: 'closes connections at once (ECONNRESET)',
}
