// Work that few clients cause and all could feel: `npm run bench:load` measures how long another client waits meanwhile,
// and `node bench/burdens.mjs BURDEN PORT` is the load, which runs until it is ended.
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { controlRequest, serviceRequest } from './candidates.mjs'

const MEBIBYTE = 2 ** 20
/** Bytes of the largest bodies that are sent: a little less than what the control plane reads. */
const LARGEST = 8 * MEBIBYTE - 1_000
const KEYS = 1_000
const ACCOUNTS = 20
const LISTENERS = 5

/** A body as long as the journal keeps one, of characters that JSON writes as six. It is no JSON. */
const LONG = '\u0001'.repeat(10_000)

/** About how many such requests are on a page, which has at most 8 MiB. */
const PAGE = 130
let pages = 0

/**
 * Burden → the options of the server, what is done before (`prepare`), what is done meanwhile (`act`, over and over on
 * each of `clients` connections, with the header of the answer before), and how many connections listen to events.
 */
export const BURDENS = {
  'nothing is done': {},
  '20,000 keys and five listeners to events': {
    listeners: LISTENERS,
    async prepare(send) {
      for (let account = 0; account < ACCOUNTS; account++) {
        const keys = Array.from({ length: KEYS }, (_, index) => ({
          key: `a-key-of-account-${account}-number-${index}`,
        }))
        await send(controlRequest('POST', '/accounts', { id: `holder-${account}`, fixture: { keys } }))
      }
    },
  },
  'a journal full of long bodies is listed, page after page': {
    clients: 1,
    async prepare(send) {
      // The client that measures would push them out of the journal of its own account.
      await send(controlRequest('POST', '/accounts', { id: 'long', api_key: 'key-of-long' }))
      for (let index = 0; index < 1_000; index++) await send(rawPost(LONG, 'key-of-long'))
    },
    act: () => controlRequest('GET', `/accounts/long/requests?limit=1000&before=${1_001 - PAGE * (pages++ % 8)}`),
  },
  'bodies of 8 MiB are imported': {
    clients: 1,
    act: () => ({ bytes: IMPORT }),
  },
  'an account of 20,000 domains is rewound again and again': {
    clients: 1,
    prepare: (send) => send(controlRequest('POST', '/accounts', { id: 'wide', api_key: 'key-of-wide', fixture: WIDE })),
    act(answered) {
      const request_id = /^x-request-id: (.+)\r$/im.exec(answered)?.[1]
      // Only the service names its responses.
      if (request_id !== undefined) return controlRequest('POST', '/accounts/wide/rewind', { request_id })
      return serviceRequest('DELETE', '/domains', { domains: WIDE.domains.slice(0, 50) }, 'key-of-wide')
    },
  },
  'sandboxes are opened by four clients': {
    clients: 4,
    act: newSandbox,
  },
  'sandboxes are opened by four clients, in a folder': {
    clients: 4,
    options: (folder) => ['--data', folder],
    act: newSandbox,
  },
  'sandboxes are opened by four clients, where there is no room': {
    clients: 4,
    options: () => ['--max-accounts', '50'],
    async prepare(send) {
      for (let index = 0; index < 49; index++) await send(controlRequest('POST', '/accounts', { id: `named-${index}` }))
    },
    act: newSandbox,
  },
}

const IMPORT = (() => {
  const domains = []
  for (let length = 0; length < LARGEST - 40; length += domains.at(-1).length + 3) {
    domains.push(`host-${domains.length}.example`)
  }
  return controlRequest('PUT', '/accounts/default/state', { domains }).bytes
})()

const WIDE = { domains: Array.from({ length: 20_000 }, (_, index) => `host-${index}.example`) }

let sandboxes = 0

function newSandbox() {
  return serviceRequest('GET', '/domains', undefined, `sandbox_${process.pid}_${++sandboxes}`)
}

function rawPost(body, apiKey) {
  const { bytes } = serviceRequest('POST', '/domaingroups', 0, apiKey)
  const head = bytes
    .toString()
    .split('\r\n\r\n')[0]
    .replace(/Content-Length: \d+/, `Content-Length: ${body.length}`)
  return { bytes: Buffer.from(`${head}\r\n\r\n${body}`) }
}

/** Sends a request on a connection of its own and resolves to the beginning of its answer when that has ended. */
function exchange(port, { bytes }) {
  return new Promise((resolve) => {
    const head = bytes.subarray(0, 2_000).toString('latin1')
    const socket = connect(port, '127.0.0.1')
    socket.write(head.replace('\r\n', '\r\nConnection: close\r\n').slice(0, head.length + 19), 'latin1')
    socket.write(bytes.subarray(2_000))
    let answer = ''
    socket.on('data', (bytes) => {
      answer ||= bytes.toString('latin1')
    })
    socket.on('error', () => {})
    socket.once('close', () => resolve(answer))
  })
}

function listen(port) {
  const socket = connect(port, '127.0.0.1', () => socket.write(controlRequest('GET', '/events').bytes))
  socket.resume()
  socket.on('error', () => {})
}

/** Does what is to be done before. */
export async function prepareBurden(name, port) {
  await BURDENS[name].prepare?.((request) => exchange(port, request))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , name, port] = process.argv
  const { clients = 0, listeners = 0, act } = BURDENS[name]
  let acts = 0
  async function repeat() {
    let answered = ''
    for (;;) {
      answered = await exchange(Number(port), act(answered))
      acts++
    }
  }
  for (let index = 0; index < listeners; index++) listen(Number(port))
  for (let index = 0; index < clients; index++) void repeat()
  setTimeout(() => console.log('there'), 300)
  process.on('SIGTERM', () => {
    console.log(`done ${acts}`)
    process.exit()
  })
  setInterval(() => {}, 1_000)
}
