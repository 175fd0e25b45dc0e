import { type ConnectionOptions, rootCertificates } from 'node:tls'

/** The service to which a proxy passes requests on. */
export interface Target {
  /** As it was given. */
  url: string
  isSecure: boolean
  /** Without brackets. */
  host: string
  port: number
  /** What stands in the field Host: the port only where it is not the usual one. */
  authority: string
  /** The path of its base URL, without a slash at its end; that of the contract where only an origin was given. */
  basePath: string
  tls: ConnectionOptions
}

export interface TlsChoices {
  /** The text of certificates in PEM form that are trusted, beside the usual ones. */
  ca?: string | undefined
  /** Whether any certificate is accepted. */
  insecure?: boolean | undefined
}

/** Reads a target; a text is why it is none, as the end of a sentence that begins with it. */
export function readTarget(written: string, usualPath: string, choices: TlsChoices = {}): Target | string {
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
