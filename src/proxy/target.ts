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

/** Parses a target. A string says why it is invalid, as the end of a sentence that begins with the target. */
export function readTarget(written: string, usualPath: string, choices: TlsChoices = {}): ProxyTarget | string {
  const schemed = /^https?:\/\//i.test(written)
  if (!schemed) {
    const isOther = /^[a-z][a-z0-9+.-]*:\/\//i.test(written)
    return isOther
      ? 'must begin with http:// or https://'
      : `must begin with http:// or https://, such as https://${written.replace(/^\/+/, '') || 'api.example.com'}`
  }
  if (!URL.canParse(written)) return 'must be a URL such as https://api.example.com'
  const url = new URL(written)
  if (url.username !== '' || url.password !== '') {
    return 'must not hold credentials; the client sends its own key'
  }
  if (url.search !== '' || url.hash !== '') return 'must not have a query or a fragment'
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
