// Makes load over plain sockets: what it costs must be little beside what the server costs.
import { connect } from 'node:net'

/** How many connections make load, each with one open request. */
const CONNECTIONS = 32

const HEADER_END = Buffer.from('\r\n\r\n')
/** Where the status begins in `HTTP/1.1 200 OK`, and how a success begins. */
const [STATUS, SUCCESS] = [9, '2'.charCodeAt(0)]

let ordinals = 0

/**
 * A request that can be sent again and again. `{ordinal}` in the body becomes ten digits that no two requests share.
 *
 * @returns {() => Buffer} The bytes of the next one.
 */
export function assembleRequest(method, path, apiKey, body) {
  const content = body === undefined ? '' : JSON.stringify(body).replace('{ordinal}', '0'.repeat(10))
  const fields = ['Host: 127.0.0.1', `Authorization: Bearer ${apiKey}`]
  if (body !== undefined) fields.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(content)}`)
  const bytes = Buffer.from([`${method} ${path} HTTP/1.1`, ...fields, '', content].join('\r\n'))
  const at = body === undefined ? -1 : bytes.lastIndexOf('0'.repeat(10))
  if (at < 0) return () => bytes
  return () => {
    const own = Buffer.from(bytes)
    own.write(`${++ordinals}`.padStart(10, '0'), at)
    return own
  }
}

/** Sends the request once. @returns The body of the answer. @throws Error for anything but a success */
export async function ask(port, request) {
  const connection = await openConnection(port)
  try {
    return await connection.exchange(request(), true)
  } finally {
    connection.close()
  }
}

/**
 * Sends the request over and over on each connection, until so many answers have arrived or so many seconds have passed.
 *
 * @returns `answers`, `wall` in seconds, and `p99` and `longest` in milliseconds from a request to the end of its answer.
 */
export async function drive(port, request, { answers = Number.POSITIVE_INFINITY, seconds = Number.POSITIVE_INFINITY }) {
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => openConnection(port)))
  const latencies = []
  let sent = 0
  const began = performance.now()
  const until = began + seconds * 1000
  await Promise.all(
    connections.map(async (connection) => {
      while (sent < answers && performance.now() < until) {
        sent += 1
        const sentAt = performance.now()
        await connection.exchange(request())
        latencies.push(performance.now() - sentAt)
      }
    }),
  )
  const wall = (performance.now() - began) / 1000
  for (const connection of connections) connection.close()
  latencies.sort((one, other) => one - other)
  return {
    answers: latencies.length,
    wall,
    p99: latencies[Math.floor(latencies.length * 0.99)],
    longest: latencies.at(-1),
  }
}

/** A connection with one open request at most. Of an answer, only status and `Content-Length` are read. */
function openConnection(port) {
  let [waiting, received, missing, isKept] = [undefined, Buffer.alloc(0), 0, false]
  const parts = []

  function take(length, buffer) {
    const chunk = buffer.subarray(0, length)
    if (missing > 0) {
      if (isKept) parts.push(Buffer.from(chunk))
      missing -= length
    } else {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      const end = received.indexOf(HEADER_END)
      if (end < 0) {
        received = Buffer.from(received)
        return true
      }
      if (received[STATUS] !== SUCCESS) fail(new Error(`The answer was ${received.subarray(0, 2000)}`))
      missing = end + HEADER_END.length + contentLength(received, end) - received.length
      if (isKept) parts.push(Buffer.from(received.subarray(end + HEADER_END.length)))
      received = Buffer.alloc(0)
    }
    if (missing === 0) waiting?.resolve(isKept ? Buffer.concat(parts.splice(0)) : undefined)
    return true
  }

  function fail(error) {
    waiting?.reject(error)
  }

  return new Promise((resolve, reject) => {
    // One buffer for all that is ever received: nothing is allocated for each answer.
    const onread = { buffer: Buffer.alloc(65_536), callback: take }
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread })
    socket.once('error', (error) => (waiting === undefined ? reject(error) : fail(error)))
    socket.once('close', () => fail(new Error('The server closed the connection.')))
    socket.once('connect', () =>
      resolve({
        exchange(bytes, keep = false) {
          isKept = keep
          return new Promise((resolve, reject) => {
            waiting = { resolve, reject }
            socket.write(bytes)
          })
        },
        close: () => socket.destroy(),
      }),
    )
  })
}

function contentLength(received, end) {
  const found = /\r\ncontent-length: *(\d+)/i.exec(received.latin1Slice(0, end))
  if (found === null) throw new Error('The answer has no Content-Length.')
  return Number(found[1])
}
