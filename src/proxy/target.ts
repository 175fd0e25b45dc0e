import { type ConnectionOptions, rootCertificates } from 'node:tls'

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
