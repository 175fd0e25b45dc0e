// Compares contract() of dmarc-understudy/express with express-openapi-validator before the same small application: what
// each finds, what each changes in lawful responses, and what each costs. docs/express.md has the results.
import { connect } from 'node:net'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { API_KEY } from './accounts.mjs'
import { always, assembleRequest, drive } from './load.mjs'
import { pinThisProcess, portOf, startProgram, stopAll } from './processes.mjs'
import { MIDDLEWARES, openApplication } from './servers/contract-app.mjs'
import { takeTurns } from './statistics.mjs'
import { measureLoad } from './throughput.mjs'

const APPLICATION = fileURLToPath(new URL('servers/contract-app.mjs', import.meta.url))
const [NONE, ...NAMES] = Object.keys(MIDDLEWARES)
const COMPARED = NAMES.filter((name) => !name.includes(','))
const isQuick = process.argv.includes('--quick')
const [ROUNDS, SECONDS] = isQuick ? [2, 0.3] : [11, 1]

const KEY = ['Authorization', `Bearer ${API_KEY}`]
const ADD = { method: 'POST', body: '{"domains":["a.example"]}' }

/** Case → the request, and the part in which the violation is. */
const PLANTED = {
  ...Object.fromEntries(
    [
      ...['missing field', 'wrong type', 'null in place of a list', 'unknown field', 'no hostname in the list'],
      ...[
        'a domain twice',
        'no envelope',
        'unknown error code',
        'code of another operation',
        'code with another status',
      ],
      ...['undocumented status', 'no JSON', 'HTML', 'HTML by res.end', 'wrong type by res.end', 'wrong type, streamed'],
      ...['wrong type, gzip', 'empty body', 'no X-Request-Id', 'no X-RateLimit-Limit', 'more left than the limit'],
    ].map((name) => [name, { part: 'response', request: {} }]),
  ),
  'accepts a wrong body': { part: 'response', request: { ...ADD, body: '{"domains":3}' } },
  'answers without a key': { part: 'response', request: { headers: [] } },
  'body: wrong type': { part: 'request', request: { ...ADD, body: '{"domains":3}' }, act: 'refuses a wrong body' },
  'body: unknown field': {
    part: 'request',
    request: { ...ADD, body: '{"domains":["a.example"],"x":1}' },
    act: 'refuses a wrong body',
  },
  'body: no hostname': { part: 'request', request: { ...ADD, body: '{"domains":["-"]}' }, act: 'refuses a wrong body' },
  'body: 51 domains': {
    part: 'request',
    request: {
      ...ADD,
      body: JSON.stringify({ domains: Array.from({ length: 51 }, (_, index) => `d${index}.example`) }),
    },
    act: 'refuses a wrong body',
  },
  'body: no Content-Type': { part: 'request', request: { ...ADD, type: undefined }, act: 'refuses a wrong body' },
  'no key': { part: 'request', request: { headers: [] }, act: 'a refusal' },
  'unknown path': { part: 'request', request: { path: '/nothing' }, act: 'a refusal' },
  'unknown method': { part: 'request', request: { method: 'PATCH' }, act: 'a refusal' },
}
/** The specification does not show these, so they are no violations. */
const LEFT_OPEN = ['code with another status', 'body: no Content-Type']
const LAWFUL = ['res.json', 'res.send of text', 'res.end', 'pieces', 'a stream', 'gzip', 'writeHead', 'a refusal']

/** Sends a request on a connection of its own; resolves to all bytes that come back. */
function exchange(port, { method = 'GET', path = '/domains', headers = [KEY], body, type = 'application/json' }, name) {
  const fields = [['Host', '127.0.0.1'], ...headers, ['X-Case', name], ['Connection', 'close']]
  if (body !== undefined) fields.push(['Content-Length', String(Buffer.byteLength(body))])
  if (body !== undefined && type !== undefined) fields.push(['Content-Type', type])
  const head = [`${method} /api/v1${path} HTTP/1.1`, ...fields.map((field) => field.join(': ')), '', ''].join('\r\n')
  return new Promise((resolve) => {
    const chunks = []
    const socket = connect(port, '127.0.0.1')
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('error', () => {})
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')))
    socket.write(head + (body ?? ''))
  })
}

async function compareFindings() {
  const rows = Object.keys(PLANTED).map((name) => [name, PLANTED[name].part])
  for (const name of COMPARED) {
    const found = []
    const { server, port } = await openApplication(name, (part, reason) => found.push({ part, reason }))
    for (const row of rows) {
      const { request, act, part } = PLANTED[row[0]]
      found.length = 0
      await exchange(port, request, act ?? row[0])
      const [right] = found.filter((each) => each.part === part)
      const missed = LEFT_OPEN.includes(row[0]) ? 'no (left open)' : 'no'
      row.push(right !== undefined ? 'yes' : found.length > 0 ? `as ${found[0].part}` : missed)
    }
    server.close()
  }
  return rows
}

async function compareChanges() {
  const { server, port } = await openApplication(NONE, () => {})
  const rows = LAWFUL.map((name) => [name])
  const expected = await Promise.all(LAWFUL.map((name) => exchange(port, {}, name)))
  server.close()
  for (const name of NAMES) {
    const found = []
    const { server, port } = await openApplication(name, (part, reason) => found.push(`${part}: ${reason}`))
    for (const [index, row] of rows.entries()) {
      found.length = 0
      const bytes = await exchange(port, {}, row[0])
      const changed = bytes === expected[index] ? 'nothing' : `${bytes.split('\r\n')[0]} in place of it`
      row.push(found.length === 0 ? changed : `${changed}; accused: ${found[0].slice(0, 60)}`)
    }
    server.close()
  }
  return rows
}

async function compareCosts() {
  pinThisProcess()
  const candidates = []
  for (const name of [NONE, ...NAMES]) {
    const child = startProgram([APPLICATION, name])
    candidates.push({ name, child, port: await portOf(child) })
  }
  const rows = []
  for (const [what, method, body] of [
    ['GET, 25 domains', 'GET', undefined],
    ['POST, one domain', 'POST', ADD.body],
  ]) {
    const sequence = always(assembleRequest(method, '/api/v1/domains', API_KEY, body))
    for (const { port } of candidates) await drive(port, sequence, { seconds: isQuick ? 0.5 : 3 })
    const results = await takeTurns(candidates, ROUNDS, (candidate) => measureLoad(candidate, sequence, SECONDS))
    rows.push([what, ...results.map(({ perCpuSecond }) => Math.round(perCpuSecond).toLocaleString('en-US'))])
  }
  await stopAll()
  return rows
}

function print(title, head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  console.log([`\n${title}\n`, line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n'))
}

print('Planted violations', ['planted', 'in the', ...COMPARED], await compareFindings())
print('Changes of lawful responses', ['sent by', ...NAMES], await compareChanges())
print('Requests per second of processor time', ['request', NONE, ...NAMES], await compareCosts())
console.log(`\n${new Date().toISOString().slice(0, 10)}, Node.js ${process.version}, ${cpus()[0].model}`)
