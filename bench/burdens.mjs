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
/** A body of the same length that can be read, and has a word that a secret could hide. */
const NAMES = `{"name":"absent.example","domains":["${Array.from({ length: 600 }, (_, index) => `host-${index}.example`)
  .join('","')
  .slice(0, 9_900)}"]}`

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
    prepare: (send) => openLong(send),
    act: () => controlRequest('GET', `/accounts/long/requests?limit=1000&before=${1_001 - PAGE * (pages++ % 8)}`),
  },
  'bodies of 8 MiB are imported': {
    clients: 1,
    act: () => ({ bytes: IMPORT }),
  },
  'an account of 20,000 domains is rewound again and again': {
    clients: 1,
    prepare: (send) => send(controlRequest('POST', '/accounts', { id: 'wide', api_key: 'key-of-wide', fixture: WIDE })),
    act: (answered) => {
      const request_id = requestIdIn(answered)
      if (request_id !== undefined) return controlRequest('POST', '/accounts/wide/rewind', { request_id })
      return serviceRequest('DELETE', '/domains', { domains: WIDE.domains.slice(0, 50) }, 'key-of-wide')
    },
  },
  'refused requests of an account of 300 full groups are explained': {
    clients: 1,
    prepare: openFull,
    act: (answered) => {
      const id = requestIdIn(answered)
      if (id !== undefined) return controlRequest('GET', `/explain/${id}`)
      return serviceRequest('POST', '/domaingroups', { name: 'One more', domains: ['unknown.example'] }, 'key-of-full')
    },
  },
  'changes of an account of 300 full groups are explained': {
    clients: 1,
    prepare: openFull,
    act: (answered) => {
      const id = requestIdIn(answered)
      if (id !== undefined) return controlRequest('GET', `/explain/${id}`)
      return serviceRequest(
        'POST',
        '/domaingroups',
        { name: `One more ${++acts}`, domains: WIDE.domains.slice(0, 1) },
        'key-of-full',
      )
    },
  },
  'the overview of 10,000 domains is read after each change': {
    clients: 1,
    prepare: (send) =>
      send(controlRequest('POST', '/accounts', { id: 'wide', api_key: 'key-of-wide', fixture: TENTH })),
    act: inTurn(
      () => controlRequest('POST', '/accounts/wide/domains', { domains: [`more-${++acts}.example`] }),
      () => controlRequest('GET', '/accounts/wide/overview'),
    ),
  },
  'a full journal of long bodies is searched': {
    clients: 1,
    async prepare(send) {
      for (const account of ['one', 'two', 'three']) await openLong(send, account, NAMES)
    },
    act: () => controlRequest('GET', '/requests?search=host-7+absent.example'),
  },
  'a full journal of long bodies is verified': {
    clients: 1,
    prepare: (send) => openLong(send),
    act: () => controlRequest('POST', '/accounts/long/requests/verify', { match: { body: { name: 'none' } } }),
  },
  'an account of 20,000 domains is exported and imported': {
    clients: 1,
    prepare: openWide,
    act: inTurn(
      () => controlRequest('GET', '/accounts/wide/state'),
      () => controlRequest('PUT', '/accounts/wide/state', WIDE),
    ),
  },
  'an account of 300 full groups is exported': {
    clients: 1,
    prepare: openFull,
    act: () => controlRequest('GET', '/accounts/full/state'),
  },
  'a fixture of 300 groups of 1,000 domains is imported': {
    clients: 1,
    prepare: openThousands,
    act: () => controlRequest('PUT', '/accounts/full/state', FULL),
  },
  'an account of 300 groups of 1,000 domains is reset': {
    clients: 1,
    prepare: openThousands,
    act: () => controlRequest('POST', '/accounts/full/reset'),
  },
  'an account of 300 full groups is brought back': {
    clients: 1,
    prepare: async (send) => {
      await openFull(send)
      await send(controlRequest('POST', '/accounts/full/snapshots', { name: 'first' }))
    },
    act: inTurn(
      () => serviceRequest('DELETE', '/domains', { domains: WIDE.domains.slice(900, 950) }, 'key-of-full'),
      () => controlRequest('POST', '/accounts/full/snapshots/first/restore'),
    ),
  },
  'GET /dmarc of 20,000 domains is read on one day after another': {
    clients: 1,
    prepare: openWide,
    act: inTurn(
      () => controlRequest('PATCH', '/accounts/wide/clock', { advance: 'P1D' }),
      () => serviceRequest('GET', '/dmarc', undefined, 'key-of-wide'),
    ),
  },
  'GET /dmarc of 20,000 domains is read after each change': {
    clients: 1,
    prepare: openWide,
    act: inTurn(
      () => controlRequest('POST', '/accounts/wide/domains', { domains: [`more-${++acts}.example`] }),
      () => serviceRequest('GET', '/dmarc', undefined, 'key-of-wide'),
      () => serviceRequest('GET', '/domains', undefined, 'key-of-wide'),
    ),
  },
  'the records of 120,000 days are listed': {
    clients: 1,
    prepare: (send) =>
      send(controlRequest('POST', '/accounts', { id: 'wide', api_key: 'key-of-wide', fixture: TENTH })),
    act: () => controlRequest('GET', '/accounts/wide/dmarc?from=2026-01-01&to=2026-01-12'),
  },
  'groups of as many members as a body can name are made': {
    clients: 1,
    prepare: openWide,
    act: () =>
      serviceRequest('POST', '/domaingroups', { name: `Group ${++acts}`, domains: WIDE.domains }, 'key-of-wide'),
  },
  'groups of 300 full groups are read and changed': {
    clients: 1,
    prepare: openFull,
    act: inTurn(
      () => serviceRequest('POST', '/domaingroups', { name: `More ${++acts}`, domains: [] }, 'key-of-full'),
      () => serviceRequest('GET', '/domaingroups', undefined, 'key-of-full'),
      () => controlRequest('GET', '/accounts/full/groups?limit=1000'),
    ),
  },
  'domains of 300 full groups are removed by the control plane': {
    clients: 1,
    prepare: openFull,
    act: inTurn(
      () => controlRequest('DELETE', '/accounts/full/domains', { domains: WIDE.domains.slice(0, 990) }),
      () => controlRequest('POST', '/accounts/full/domains', { domains: WIDE.domains.slice(0, 990) }),
    ),
  },
  'the verdict and the coverage are read': {
    clients: 1,
    prepare: async (send) => {
      for (let account = 0; account < 500; account++)
        await send(controlRequest('POST', '/accounts', { id: `holder-${account}` }))
      for (let account = 0; account < 500; account++)
        await send(serviceRequest('GET', '/domains', undefined, `sandbox_v_${account}`))
    },
    act: inTurn(
      () => controlRequest('GET', '/verdict'),
      () => controlRequest('GET', '/coverage'),
      () => controlRequest('GET', '/accounts?limit=1000'),
      () => controlRequest('GET', '/requests?limit=1000'),
    ),
  },
  'an account of 20,000 domains is changed, in a folder': {
    clients: 4,
    options: (folder) => ['--data', folder],
    prepare: openWide,
    act: () => serviceRequest('POST', '/domains', { domains: [`more-${++acts}.example`] }, 'key-of-wide'),
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

/** The body of a fixture cannot hold more groups of as many members. */
const FULL = (() => {
  const domains = Array.from({ length: 1_000 }, (_, index) => `host-${index}.example`)
  return { domains, groups: Array.from({ length: 300 }, (_, index) => ({ name: `Group ${index}`, domains })) }
})()

const IMPORT = (() => {
  const domains = []
  for (let length = 0; length < LARGEST - 40; length += domains.at(-1).length + 3) {
    domains.push(`host-${domains.length}.example`)
  }
  return controlRequest('PUT', '/accounts/default/state', { domains }).bytes
})()

const WIDE = { domains: Array.from({ length: 20_000 }, (_, index) => `host-${index}.example`) }

const TENTH = { domains: WIDE.domains.slice(0, 10_000) }

let acts = 0
let sandboxes = 0

function openWide(send) {
  return send(controlRequest('POST', '/accounts', { id: 'wide', api_key: 'key-of-wide', fixture: WIDE }))
}

/** Every group has every domain, which is more than one fixture could say. */
async function openFull(send) {
  const domains = WIDE.domains.slice(0, 5_000)
  await send(controlRequest('POST', '/accounts', { id: 'full', api_key: 'key-of-full', fixture: { domains } }))
  for (let index = 0; index < 300; index++) {
    await send(serviceRequest('POST', '/domaingroups', { name: `Group ${index}`, domains }, 'key-of-full'))
  }
}

function openThousands(send) {
  return send(controlRequest('POST', '/accounts', { id: 'full', api_key: 'key-of-full', fixture: FULL }))
}

/** The client that measures would push the requests out of the journal of its own account. */
async function openLong(send, id = 'long', body = LONG) {
  await send(controlRequest('POST', '/accounts', { id, api_key: `key-of-${id}` }))
  for (let index = 0; index < 1_000; index++) await send(rawPost(body, `key-of-${id}`))
}

function inTurn(...requests) {
  let next = 0
  return () => requests[next++ % requests.length]()
}

/** Only the service names its responses. */
function requestIdIn(answered) {
  return /^x-request-id: (.+)\r$/im.exec(answered)?.[1]
}

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
