/**
 * What browsers and other user agents ask a server for by themselves, at the root of its origin: icons, the rules for
 * robots (RFC 9309), and well-known URIs (RFC 8615), for example those of the developer tools of Chrome.
 */
const UNBIDDEN = /^\/(?:favicon\.ico|apple-touch-icon(?:-\d+x\d+)?(?:-precomposed)?\.png|robots\.txt|\.well-known\/.*)$/

/** The parts of a request that tell who sends it. */
interface AskedFile {
  method: string | undefined
  path: string
  /** The header field with the key. */
  authorization: string | undefined
}

/**
 * Whether a user agent sends the request, and no client of the service: it asks for one of these files without a key. A
 * client that has forgotten the base path asks for a path of the service.
 */
export function isUnbidden({ method, path, authorization }: AskedFile): boolean {
  return authorization === undefined && (method === 'GET' || method === 'HEAD') && UNBIDDEN.test(path)
}
