// Clients that a server should survive: `node bench/crowds.mjs CROWD PORT` sends one crowd until it is ended, and says
// when all of them are there.
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { domainName } from './accounts.mjs'
import { serviceRequest } from './candidates.mjs'

const READ = serviceRequest('GET', '/domains').bytes
const POST = ['POST', '/domaingroups', { name: 'G', domains: [] }]
const MEBIBYTE = serviceRequest('POST', '/domains', { domains: Array(52_000).fill('not-there.example') }).bytes
/** Milliseconds between two bytes of those who are slow. */
const SLOW = 100

/**
 * Crowd → how many clients it has, what each does with its connection, and whether it leaves the server nothing to do,
 * so that others must not feel it.
 */
export const CROWDS = {
  'connect and say nothing': { clients: 500, idle: true, begin: () => {} },
  'send a header byte by byte': {
    clients: 200,
    idle: true,
    begin: (socket) => trickle(socket, READ.subarray(0, 40), 'x'),
  },
  'send a body byte by byte': {
    clients: 200,
    idle: true,
    begin: (socket) => trickle(socket, withLength(1_000_000).subarray(0, -1), ' '),
  },
  'close their side in the middle of a request': {
    clients: 200,
    idle: true,
    begin: (socket) => socket.end(READ.subarray(0, 40)),
  },
  'open 2,000 connections a second and reset them': {
    clients: 20,
    begin: (socket) => socket.write(READ.subarray(0, 40), () => socket.resetAndDestroy()),
  },
  'send 10,000 requests at once and never read': {
    clients: 20,
    idle: true,
    begin: (socket) => {
      socket.pause()
      socket.write(Buffer.concat(Array(10_000).fill(READ)))
    },
  },
  'send 10,000 requests at once and read': {
    clients: 8,
    begin: (socket) => {
      const requests = Buffer.concat(Array(10_000).fill(READ))
      const send = () => socket.write(requests, send)
      send()
      socket.resume()
    },
  },
  'send bodies of 1 MiB': {
    clients: 16,
    begin: (socket) => {
      socket.on('data', () => socket.write(MEBIBYTE))
      socket.write(MEBIBYTE)
    },
  },
  'do mixed work on 256 connections': {
    clients: 256,
    begin: (socket, index) => {
      const domains = [domainName(index)]
      const works = [
        ['GET', '/domains'],
        ['GET', '/dmarc'],
        ['GET', '/domaingroups'],
        ['POST', '/domains', { domains: [`own-${index}.example`] }],
        ['DELETE', '/domains', { domains: [`own-${index}.example`] }],
        ['POST', '/domaingroups', { name: `Group of ${index}`, domains }],
        ['POST', '/domains', { domains: 'wrong' }],
        ['PUT', '/domains'],
      ].map((work) => serviceRequest(...work).bytes)
      let next = index
      socket.on('data', (chunk) => {
        // The rest of a long answer is not another one.
        if (chunk.subarray(0, 5).toString() === 'HTTP/') socket.write(works[next++ % works.length])
      })
      socket.write(READ)
    },
  },
}

function withLength(length) {
  const { bytes } = serviceRequest(...POST)
  return Buffer.from(bytes.toString().replace(/Content-Length: \d+/, `Content-Length: ${length}`))
}

function trickle(socket, beginning, more) {
  socket.write(beginning)
  const timer = setInterval(() => socket.write(more), SLOW)
  socket.once('close', () => clearInterval(timer))
}

/** Opens a connection again whenever it is closed: a crowd does not grow smaller. */
function join({ begin }, port, index) {
  const socket = connect(port, '127.0.0.1', () => begin(socket, index))
  socket.on('error', () => {})
  socket.once('close', () => setTimeout(join, 10, { begin }, port, index))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , name, port] = process.argv
  const crowd = CROWDS[name]
  for (let index = 0; index < crowd.clients; index++) join(crowd, Number(port), index)
  setTimeout(() => console.log('there'), 300)
}
