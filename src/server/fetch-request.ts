import { show } from '../ground/show.ts'

/** The same as the global `fetch` of Node.js. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/**
 * The request that `fetch` would send with these arguments. It may come from another implementation of the standard.
 * @throws TypeError for anything else, and for a body that was read before
 */
export function readRequest(input: unknown, init: RequestInit | undefined, example: string): Request {
  if (!isRequest(input)) {
    if (typeof input !== 'string' && !isUrl(input)) {
      throw new TypeError(`fetch takes a Request, or a URL such as ${example}; ${show(input)} is neither.`)
    }
    checkUrl(`${input}`, example)
    return new Request(`${input}`, init)
  }
  if (input.bodyUsed || input.body?.locked) {
    throw new TypeError(`The body of ${input.method} ${input.url} was read before, so it cannot be sent; pass a clone.`)
  }
  checkUrl(input.url, example)
  if (!(input instanceof Request)) {
    const { url, method, headers, body, signal } = input as Request
    return new Request(url, { method, headers: [...headers], body, signal, duplex: 'half', ...init } as RequestInit)
  }
  return init === undefined ? input : new Request(input, init)
}

function checkUrl(url: string, example: string): void {
  if (!URL.canParse(url)) throw new TypeError(`${show(url)} is no absolute URL; give one such as ${example}.`)
  const { protocol } = new URL(url)
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new TypeError(`${show(url)} is no URL of HTTP; give one such as ${example}.`)
  }
}

/** Whether it is a URL. A test runner with a browser's globals has a class of its own. */
function isUrl(input: unknown): input is URL {
  return typeof input === 'object' && input !== null && typeof (input as Partial<URL>).href === 'string'
}

/** Whether it has what a request has. Each implementation of the standard has a class of its own. */
function isRequest(input: unknown): input is Request {
  if (typeof input !== 'object' || input === null) return false
  const { url, method, headers } = input as Partial<Record<keyof Request, unknown>>
  return typeof url === 'string' && typeof method === 'string' && typeof Object(headers)[Symbol.iterator] === 'function'
}

/** The part of a URL that a server gets (RFC 9112 §3.2.1). */
export function targetOf({ url }: Request): string {
  const { pathname, search } = new URL(url)
  return pathname + search
}

/** Fields about the connection on which an application has received the request, or would send it. */
const OF_CONNECTION = new Set(
  'connection content-length expect host keep-alive proxy-connection te trailer transfer-encoding upgrade'.split(' '),
)

/** The fields of a request that are not about a connection; names and values alternate. */
export function fieldsOf({ headers }: Request): string[] {
  return [...headers].flatMap((field) => (OF_CONNECTION.has(field[0]) ? [] : field))
}

/** The error with which the `fetch` of Node.js rejects if it gets no response. Clients look at the code of its cause. */
export function fetchFailed(cause: unknown): TypeError {
  return new TypeError('fetch failed', { cause })
}

/** The server has closed the connection. */
export function closed(): Error {
  return Object.assign(new Error('other side closed'), { name: 'SocketError', code: 'UND_ERR_SOCKET' })
}

/** The server has reset the connection. */
export function reset(): Error {
  return Object.assign(new Error('read ECONNRESET'), { errno: -104, code: 'ECONNRESET', syscall: 'read' })
}

/** There is no server any more. */
export function stopped(): Error {
  return Object.assign(new Error('The stand-in has stopped, so it answers no request.'), { code: 'ECONNREFUSED' })
}
