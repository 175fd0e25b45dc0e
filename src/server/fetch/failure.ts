/** The error with which the `fetch` of Node.js rejects if it gets no response. Clients look at the code of its cause. */
export function fetchFailed(cause: unknown): TypeError {
  return new TypeError('fetch failed', { cause })
}

/** The error of a body of which the rest does not come. */
export function terminated(): TypeError {
  return new TypeError('terminated', { cause: closed() })
}

/** The server has closed the connection. */
export function closed(): Error {
  return failure('other side closed', { name: 'SocketError', code: 'UND_ERR_SOCKET' })
}

/** The server has reset the connection. */
export function reset(): Error {
  return failure('read ECONNRESET', { errno: -104, code: 'ECONNRESET', syscall: 'read' })
}

/** There is no server any more. */
export function stopped(): Error {
  return failure('The stand-in has stopped, so it answers no request.', { code: 'ECONNREFUSED' })
}

/** The body is not as long as the field Content-Length says. */
export function mismatch(): Error {
  return failure('Request body length does not match content-length header', {
    name: 'RequestContentLengthMismatchError',
    code: 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
  })
}

/** A field has a character that HTTP does not permit. */
export function invalidField(name: string): Error {
  return failure(`invalid ${name} header`, { name: 'InvalidArgumentError', code: 'UND_ERR_INVALID_ARG' })
}

function failure(message: string, properties: object): Error {
  return Object.assign(new Error(message), properties)
}
