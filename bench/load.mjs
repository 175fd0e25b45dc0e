import { connect } from 'node:net'

const HEADER_END = Buffer.from('\r\n\r\n')
/** The spellings that servers use. */
const LENGTHS = ['\r\nContent-Length: ', '\r\ncontent-length: '].map((name) => Buffer.from(name))
/** Where the status begins in `HTTP/1.1 200 OK`, and how a success begins. */
const [STATUS, SUCCESS] = [9, 50]
const ZERO = 48
const ENDLESS = Number.POSITIVE_INFINITY

/**
 * A request as bytes, ready to be sent again and again. `{ordinal}` in the body becomes a number of ten digits that
 * no two requests share; its length never changes, so only those digits are written anew.
 */
export function assembleRequest(method, path, apiKey, body) {
  const content = body?.replace('{ordinal}', '0'.repeat(10)) ?? ''
  const head = [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: Bearer ${apiKey}`,
    ...(body === undefined ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(content)}`]),
    '\r\n',
  ].join('\r\n')
  const ordinalAt = body?.includes('{ordinal}') ? head.length + body.indexOf('{ordinal}') : undefined
  return { bytes: Buffer.from(head + content), ordinalAt }
}

let ordinals = 0

function writeOrdinal(bytes, at) {
  let rest = ++ordinals
  for (let place = at + 9; place >= at; place--) {
    bytes[place] = ZERO + (rest % 10)
    rest = Math.floor(rest / 10)
  }
}

/** Sends the request once and resolves to the body of the answer. */
export function ask(port, request) {
  return new Promise((resolve, reject) => {
    const bytes = Buffer.from(request.bytes)
    if (request.ordinalAt !== undefined) writeOrdinal(bytes, request.ordinalAt)
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    let received = Buffer.alloc(0)
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('The connection was closed without an answer.')))
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      const end = received.indexOf(HEADER_END)
      if (end < 0 || received.length < end + 4 + contentLength(received, end)) return
      socket.destroy()
      if (received[STATUS] === SUCCESS) resolve(received.subarray(end + 4))
      else reject(new Error(`The answer was ${received.subarray(0, 2000)}`))
    })
  })
}

/** One request for so many connections to send over and over. */
export function always(request, connections = CONNECTIONS) {
  return Array.from({ length: connections }, () => [request])
}

/** How many connections make load, unless it is said otherwise. */
export const CONNECTIONS = 32

/**
 * Keeps a connection busy for each of the sequences, which it sends in a circle, one request at a time: for so many
 * seconds, or until so many answers have arrived. Counts the answers that arrived whole; any but a success is an error.
 * Headers are read only as far as counting needs, because what the load costs must be little beside what the server
 * costs.
 */
export async function drive(port, sequences, { seconds = ENDLESS, answers = ENDLESS }) {
  const counts = { answers: 0, limit: answers, latencies: [] }
  const clients = await Promise.all(sequences.map((sequence) => openClient(port, sequence, counts)))
  const began = performance.now()
  const until = began + seconds * 1000
  await Promise.all(clients.map((client) => client.run(until)))
  const wall = (performance.now() - began) / 1000
  for (const client of clients) client.close()
  counts.latencies.sort((one, other) => one - other)
  const { latencies } = counts
  return {
    answers: counts.answers,
    wall,
    p99: latencies[Math.floor(latencies.length * 0.99)],
    longest: latencies.at(-1),
  }
}

/** Where each sequence goes on: one that adds and removes in turn must not add twice. */
const positions = new WeakMap()

function openClient(port, sequence, counts) {
  const own = sequence.map(({ bytes, ordinalAt }) => ({
    bytes: ordinalAt === undefined ? bytes : Buffer.from(bytes),
    ordinalAt,
  }))
  let next = positions.get(sequence) ?? 0
  let missing = 0
  let partial
  let sentAt = 0
  let until = 0
  let finish
  let fail

  function send() {
    const { bytes, ordinalAt } = own[next]
    next = next + 1 === own.length ? 0 : next + 1
    positions.set(sequence, next)
    if (ordinalAt !== undefined) writeOrdinal(bytes, ordinalAt)
    sentAt = performance.now()
    socket.write(bytes)
  }

  function take(length, buffer) {
    if (missing > 0) {
      missing -= length
    } else {
      const received =
        partial === undefined ? buffer.subarray(0, length) : Buffer.concat([partial, buffer.subarray(0, length)])
      const end = received.indexOf(HEADER_END)
      if (end < 0) {
        partial = Buffer.from(received)
        return true
      }
      partial = undefined
      if (received[STATUS] !== SUCCESS) fail(new Error(`The answer was ${received.subarray(0, 2000)}`))
      missing = end + 4 + contentLength(received, end) - received.length
    }
    if (missing === 0) complete()
    return true
  }

  function complete() {
    const now = performance.now()
    counts.answers += 1
    counts.latencies.push(now - sentAt)
    if (now < until && counts.answers < counts.limit) send()
    else finish()
  }

  // One buffer for all that is ever received: nothing is allocated for each answer.
  const socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    onread: { buffer: Buffer.alloc(65_536), callback: take },
  })
  return new Promise((resolve, reject) => {
    fail = reject
    socket.once('error', (error) => fail(error))
    socket.once('close', () => fail(new Error('The server closed the connection.')))
    socket.once('connect', () =>
      resolve({
        run(deadline) {
          until = deadline
          return new Promise((resolveRun, rejectRun) => {
            finish = resolveRun
            fail = rejectRun
            send()
          })
        },
        close: () => socket.destroy(),
      }),
    )
  })
}

function contentLength(received, end) {
  const head = received.subarray(0, end)
  for (const name of LENGTHS) {
    const at = head.indexOf(name)
    if (at >= 0) return readNumber(head, at + name.length)
  }
  throw new Error('The answer has no Content-Length.')
}

function readNumber(bytes, from) {
  let number = 0
  for (let place = from; bytes[place] >= ZERO && bytes[place] <= ZERO + 9; place++) {
    number = number * 10 + bytes[place] - ZERO
  }
  return number
}
