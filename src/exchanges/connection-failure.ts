/** Why a connection to a service gave no response. */
export interface ConnectionFailure {
  /**
   * `plain`: the other side certainly speaks no TLS; `tls`: TLS has failed, perhaps for this reason; `cut`: the connection
   * was open, and broke off, so the service may have got the request.
   */
  kind: 'unreachable' | 'certificate' | 'plain' | 'tls' | 'not HTTP' | 'cut'
  /** A clause with the code of the error, such as `nothing listens there (ECONNREFUSED)`. */
  reason: string
}

const UNREACHABLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no host of this name',
  EAI_AGAIN: 'the name of the host could not be looked up',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to the host',
  ETIMEDOUT: 'the host does not answer',
}

/** The codes of OpenSSL and Node.js for problems with a certificate. */
const CERTIFICATE =
  /^(?:CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/
/** The errors of OpenSSL for an answer that is not TLS. */
const PLAIN_ANSWER = /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|wrong version|packet length/i

/** Explains an error of `node:http`. `isConnected`: whether the connection could be opened. */
export function explainFailure({ code = '', message }: NodeJS.ErrnoException, isConnected: boolean): ConnectionFailure {
  const shown = code || message
  const why = Object.hasOwn(UNREACHABLE, code) ? UNREACHABLE[code] : undefined
  if (why !== undefined) return { kind: 'unreachable', reason: `${why} (${code})` }
  if (code.startsWith('HPE_')) return { kind: 'not HTTP', reason: `what came back is not HTTP (${code})` }
  if (CERTIFICATE.test(code)) return { kind: 'certificate', reason: `its certificate is not trusted (${code})` }
  if (code.startsWith('ERR_SSL') || code === 'EPROTO' || /TLS connection/.test(message)) {
    const kind = PLAIN_ANSWER.test(`${code} ${message}`) ? 'plain' : 'tls'
    return { kind, reason: `there is no TLS at this port (${shown}); an http:// URL may be right` }
  }
  if (isConnected) return { kind: 'cut', reason: `the connection was broken off (${shown})` }
  return { kind: 'unreachable', reason: code === 'ECONNRESET' ? `connections are closed at once (${code})` : shown }
}
