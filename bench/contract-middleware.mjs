// contract() of dmarc-understudy/express beside express-openapi-validator before the same small application: what each finds,
// what each changes in lawful responses, and what each costs.
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { API_KEY } from './accounts.mjs'
import { serverCommand } from './candidates.mjs'
import { always, assembleRequest, drive } from './load.mjs'
import { portOf, printed, startProgram, stopAll, stopProgram } from './processes.mjs'
import { MIDDLEWARES, openApplication } from './servers/contract-app.mjs'
import { median, takeTurns } from './statistics.mjs'
import { measureLoad } from './throughput.mjs'

const APPLICATION = fileURLToPath(new URL('servers/contract-app.mjs', import.meta.url))
const [NONE, ...NAMES] = Object.keys(MIDDLEWARES)
const COMPARED = NAMES.filter((name) => !name.includes(','))
/** Changes nothing that a validator reads, but with it, the document is validated and compiled at the start. */
const OVERLAY = {
  overlay: '1.0.0',
  info: { title: 'Bench', version: '1' },
  actions: [{ target: '$.info', update: { title: 'Bench' } }],
}

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

/** How each middleware names each planted violation: as what it is, as one of another part, or not at all. */
async function compareFindings() {
  const rows = Object.entries(PLANTED).map(([name, { part }]) => ({
    name,
    part,
    isLeftOpen: LEFT_OPEN.includes(name),
    found: {},
  }))
  for (const candidate of COMPARED) {
    const told = []
    const { server, port } = await openApplication(candidate, (part) => told.push(part))
    for (const { name, part, found } of rows) {
      const { request, act } = PLANTED[name]
      told.length = 0
      await exchange(port, request, act ?? name)
      found[candidate] = told.includes(part) ? 'yes' : told.length > 0 ? `as ${told[0]}` : 'no'
    }
    server.close()
  }
  return rows
}

/** How many of the lawful responses each middleware changes, or finds fault with. */
async function compareChanges() {
  const { server, port } = await openApplication(NONE, () => {})
  const expected = await Promise.all(LAWFUL.map((name) => exchange(port, {}, name)))
  server.close()
  const rows = []
  for (const candidate of NAMES) {
    const changed = new Set()
    let current
    const { server, port } = await openApplication(candidate, () => changed.add(current))
    for (const [index, name] of LAWFUL.entries()) {
      current = name
      if ((await exchange(port, {}, name)) !== expected[index]) changed.add(name)
    }
    server.close()
    rows.push({ candidate, lawful: LAWFUL.length, changed: changed.size })
  }
  return rows
}

async function compareCosts(plan) {
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
    for (const { port } of candidates) await drive(port, sequence, { seconds: plan.warmUp })
    const results = await takeTurns(candidates, plan.rounds, (candidate) =>
      measureLoad(candidate, sequence, { seconds: plan.seconds }),
    )
    rows.push(
      ...results.map(({ perCpuSecond }, index) => ({ request: what, candidate: candidates[index].name, perCpuSecond })),
    )
  }
  await stopAll()
  return rows
}

/** Processor time until the middleware is ready, in milliseconds, of a process for each start. */
async function measureReady(plan, folder) {
  const overlay = join(folder, 'overlay.json')
  writeFileSync(overlay, JSON.stringify(OVERLAY))
  const starts = { 'openapi.yaml alone': [], 'with an overlay': [] }
  for (let round = 0; round < plan.starts; round++) {
    for (const [contract, overlays] of [
      ['openapi.yaml alone', []],
      ['with an overlay', [overlay]],
    ]) {
      const child = startProgram(serverCommand('contract-ready', ...overlays))
      starts[contract].push(Number(await printed(child, /^([\d.]+) ms$/m)))
      await stopProgram(child)
    }
  }
  return Object.entries(starts).map(([contract, each]) => ({ contract, cpuMilliseconds: median(each) }))
}

export async function measureContract(plan, folder) {
  const [ready, costs] = [await measureReady(plan, folder), await compareCosts(plan)]
  const planted = await compareFindings()
  return { ready, costs, planted, changes: await compareChanges() }
}
