// The small application that bench/contract-middleware.mjs puts behind each middleware.
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import express from 'express'

const DOCUMENT = fileURLToPath(new URL('../../openapi.yaml', import.meta.url))
export const FIELDS = {
  'X-Request-Id': '6b5bd7b8-6a8e-4c5c-9f4f-0c8d5a1f0b11',
  'X-RateLimit-Limit': '30',
  'X-RateLimit-Remaining': '29',
  'X-RateLimit-Reset': '1768471200',
}
const LIST = { success: true, data: { domains: Array.from({ length: 25 }, (_, index) => `domain-${index}.example`) } }
const ADDED = { success: true, data: { message: 'Added.', domains: ['a.example'], count: 1 } }
const REFUSED = { success: false, error: { code: 'invalid_field_type', message: 'No.' } }

const json = (response) => response.set(FIELDS).type('application/json')
const say = (status, body, without) => (response) => {
  response.set(FIELDS).status(status)
  if (without !== undefined) response.removeHeader(without)
  response.json(body)
}
const data = (content) => say(200, { success: true, data: content })
const failure = (status, code) => say(status, { success: false, error: { code, message: 'No.' } })

/** What the application does if a request has the field `X-Case` with this name; otherwise it answers as it should. */
export const CASES = {
  'missing field': data({}),
  'wrong type': data({ domains: 'a.example' }),
  'null in place of a list': data({ domains: null }),
  'unknown field': data({ domains: [], total: 0 }),
  'no hostname in the list': data({ domains: ['-'] }),
  'a domain twice': data({ domains: ['a.example', 'a.example'] }),
  'no envelope': say(200, { domains: [] }),
  'unknown error code': failure(400, 'teapot'),
  'code of another operation': failure(409, 'duplicate_name'),
  'code with another status': failure(418, 'unauthorized'),
  'undocumented status': say(418, LIST),
  'no JSON': (response) => json(response).send('[object Object]'),
  HTML: (response) => response.set(FIELDS).send('<h1>Hello</h1>'),
  'HTML by res.end': (response) => response.set({ ...FIELDS, 'Content-Type': 'text/html' }).end('<h1>Hello</h1>'),
  'wrong type by res.end': (response) => json(response).end('{"success":true,"data":{"domains":3}}'),
  'wrong type, streamed': (response) =>
    Readable.from(['{"success":true,', '"data":{"domains":3}}']).pipe(json(response)),
  'wrong type, gzip': (response) =>
    json(response).set('Content-Encoding', 'gzip').end(gzipSync('{"success":true,"data":{"domains":3}}')),
  'empty body': (response) => json(response).end(),
  'no X-Request-Id': say(200, LIST, 'X-Request-Id'),
  'no X-RateLimit-Limit': say(200, LIST, 'X-RateLimit-Limit'),
  'more left than the limit': (response) => response.set({ ...FIELDS, 'X-RateLimit-Remaining': '31' }).json(LIST),
  'accepts a wrong body': say(200, ADDED),
  'refuses a wrong body': say(400, REFUSED),
  // Lawful ones.
  'res.json': say(200, LIST),
  'res.send of text': (response) => json(response).send(JSON.stringify(LIST)),
  'res.end': (response) => json(response).end(JSON.stringify(LIST)),
  pieces: (response) => {
    json(response).write('{"success":true,')
    response.end('"data":{"domains":[]}}')
  },
  'a stream': (response) => Readable.from(['{"success":true,', '"data":{"domains":[]}}']).pipe(json(response)),
  gzip: (response) =>
    json(response)
      .set('Content-Encoding', 'gzip')
      .end(gzipSync(JSON.stringify(LIST))),
  writeHead: (response) =>
    response.writeHead(200, { ...FIELDS, 'Content-Type': 'application/json' }).end(JSON.stringify(LIST)),
  'a refusal': failure(401, 'unauthorized'),
}

/** By name, what is mounted before the application. `found` is told of each violation: its part, and what is wrong. */
export const MIDDLEWARES = {
  none: async () => [express.json()],
  async 'dmarc-understudy'(found) {
    const { contract } = await import('../../dist/express.js')
    const check = contract({ onViolation: ({ part, id }) => found(part, id) })
    await check.ready()
    return [check, express.json()]
  },
  async 'dmarc-understudy, refuse and error'(found) {
    const { contract } = await import('../../dist/express.js')
    const options = { requests: 'refuse', responses: 'error' }
    const check = contract({ ...options, onViolation: ({ part, id }) => found(part, id) })
    await check.ready()
    return [check, express.json()]
  },
  async 'express-openapi-validator'(found) {
    const { default: validator } = await import('express-openapi-validator')
    const validateResponses = { onError: (error) => found('response', error.message) }
    return [express.json(), validator.middleware({ apiSpec: DOCUMENT, validateRequests: true, validateResponses })]
  },
}

/** The application behind a middleware. */
export async function openApplication(name, found) {
  const app = express()
  app.set('env', 'test')
  for (const middleware of await MIDDLEWARES[name](found)) app.use(middleware)
  app.use((request, response) => {
    response.sendDate = false
    const act = CASES[request.get('X-Case')] ?? say(200, request.method === 'POST' ? ADDED : LIST)
    act(response)
  })
  app.use((error, _request, response, _next) => {
    found('request', error.message)
    if (response.headersSent) response.socket.destroy()
    else response.status(error.status ?? 500).json({ message: error.message })
  })
  const server = createServer(app)
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, port: server.address().port }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { port } = await openApplication(process.argv[2], (part, reason) => console.error(part, reason))
  console.log(`http://127.0.0.1:${port}`)
}
