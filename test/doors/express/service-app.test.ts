import { createServer } from 'node:http'
import type { ErrorRequestHandler } from 'express'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startUnderstudy, type UnderstudyWithKey } from '../../../src/index.ts'
import { listenOn } from '../../support/listening.ts'
import { API_KEY } from '../../support/service.ts'
import {
  AUTHORIZED,
  CLOSE,
  type Header,
  JSON_BODY,
  readResponses,
  requestBytes,
  type WireRequest,
} from '../../support/wire.ts'
import { ask, converse, EXPRESSES, responseIn, serve } from './application.ts'

const OPTIONS = { fixture: 'empty', seed: 7, now: '2026-01-15T09:30:00Z', frozen: true, apiKey: API_KEY } as const
const NOW: Header = ['X-Irrelevant', 'x'.repeat(10)]

async function start(options = {}): Promise<UnderstudyWithKey> {
  const service = await startUnderstudy({ ...OPTIONS, ...options })
  onTestFinished(() => service.stop())
  return service
}

const portOf = ({ baseUrl }: { baseUrl: string }) => Number(new URL(baseUrl).port)
const CHANGE = { method: 'POST', headers: [AUTHORIZED, JSON_BODY, NOW] }

/** Without what differs from run to run: the name of the server, and the time of the machine. */
function lasting(bytes: string): string {
  return bytes
    .replace(/^Date: .*GMT\r\n/m, '')
    .replace(/"instance":"[^"]*"/, '"instance":""')
    .replace(/:\d{4,5}\b/g, ':0')
}

const STORY: readonly WireRequest[] = [
  { target: '/api/v1/domains' },
  { ...CHANGE, target: '/api/v1/domains', body: '{"domains":["a.example"]}' },
  { ...CHANGE, target: '/api/v1/domaingroups', body: '{"name":3}' },
  { method: 'HEAD', target: '/api/v1/domains' },
  { method: 'PUT', target: '/api/v1/domains' },
  { target: '/api/v1' },
  { target: '/api/v10/domains' },
  { target: '/nothing' },
  { target: '/%zz' },
  { target: '//double' },
  { method: 'POST', target: '/' },
  { target: '/' },
  { target: '/', headers: [['Accept', 'text/html']] },
  { target: '/__admin' },
  { target: '/__ADMIN/health' },
  { target: '/__admin/health' },
  { target: '/__admin/health?x=1' },
  { target: '/__admin/accounts/default' },
  { target: '/__admin/accounts/default/domains' },
  { ...CHANGE, target: '/__admin/accounts', body: '{"id":"other","now":"2026-01-15T09:30:00Z","frozen":true}' },
  { ...CHANGE, target: '/__admin/accounts', body: '{"id":' },
  { method: 'DELETE', target: '/__admin/nothing' },
]

describe('service.app', () => {
  it('answers with the bytes that the port gives, control plane and refusals included', async () => {
    const [own, other] = await Promise.all([start(), start()])
    const port = await listenOn(createServer(other.app))
    for (const request of STORY) {
      const [expected, answered] = await Promise.all([ask(portOf(own), request), ask(port, request)])
      expect(lasting(answered), JSON.stringify(request)).toBe(lasting(expected))
      expect(answered, JSON.stringify(request)).toMatch(/^HTTP\/1\.1 \d{3} /)
    }
  })

  it.each(EXPRESSES)('is mounted in %s, where it answers for everything below its place', async (_, express) => {
    const app = express()
    app.use('/mock', (await start({ listen: false })).app)
    app.use((_request, response) => void response.send('passed on'))
    const port = await serve(app)
    const answers = ['/mock/api/v1/domains', '/mock/nothing', '/mock/__admin/health', '/api/v1/domains'].map(
      async (target) => responseIn(await ask(port, { target, headers: [AUTHORIZED] })),
    )
    const told = (await Promise.all(answers)).map(({ status, text }) => [status, text.slice(0, 45)])
    expect(told).toEqual([
      [200, '{"success":true,"data":{"domains":[]}}'],
      [404, expect.stringContaining('"code":"not_found"')],
      [200, expect.stringContaining('"status":"ok"')],
      [200, 'passed on'],
    ])
  })

  it.each(EXPRESSES)(
    'tells an application of %s that has read a body before it, and answers the rest',
    async (_, express) => {
      const app = express()
      app.use(express.json(), (await start({ listen: false })).app)
      app.use(
        ((error, _request, response, _next) => void response.status(500).send(error.message)) as ErrorRequestHandler,
      )
      const port = await serve(app)
      for (const target of ['/api/v1/domains', '/__admin/accounts']) {
        const { status, text } = responseIn(await ask(port, { ...CHANGE, target, body: '{"domains":["a.example"]}' }))
        const told = `The stand-in cannot read the body of POST ${target}, because another middleware has read it. Mount service.app before express.json() and other body parsers.`
        expect([status, text]).toEqual([500, told])
      }
      expect(responseIn(await ask(port, { target: '/api/v1/domains', headers: [AUTHORIZED] })).status).toBe(200)
    },
  )

  it.each(EXPRESSES)('names its place in %s, and leads a browser there', async (_, express) => {
    const app = express()
    app.use('/mock', (await start({ listen: false })).app)
    const port = await serve(app)
    const get = async (target: string, headers: Header[] = []) => responseIn(await ask(port, { target, headers }))
    for (const root of ['/mock', '/mock/']) {
      const { headers } = await get(root, [['Accept', 'text/html']])
      expect(headers).toContainEqual(['Location', '/mock/__admin/'])
      expect(JSON.parse((await get(root)).text).data).toMatchObject({
        service: 'http://localhost/mock/api/v1',
        dashboard: 'http://localhost/mock/__admin/',
      })
    }
    await get('/mock/api/v1/domain', [AUTHORIZED])
    expect((await get('/mock/__admin/verdict')).text).toContain('http://localhost/mock/api/v1/domains')
  })

  it('has no control plane where that is switched off', async () => {
    const port = await listenOn(createServer((await start({ admin: false })).app))
    expect(responseIn(await ask(port, { target: '/__admin/health' })).status).toBe(404)
  })

  it('lets no later request of a connection overtake one to the control plane, by the port', async () => {
    const port = portOf(await start())
    const add = requestBytes({ ...CHANGE, target: '/api/v1/domains', body: '{"domains":["a.example"]}' })
    const clear = requestBytes({ method: 'POST', target: '/__admin/accounts/default/reset', headers: [] })
    const read = requestBytes({ target: '/api/v1/domains', headers: [AUTHORIZED, CLOSE] })
    const responses = readResponses((await converse(port, Buffer.concat([add, clear, read]))).bytes)
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(responses[2]?.text).toBe('{"success":true,"data":{"domains":[]}}')
  })

  it.each(['//user@host#mark', '//user@[#', '//user@host:x#'])(
    'by the port, answers %s, which Express cannot read',
    async (target) => {
      const { status, text } = responseIn(await ask(portOf(await start()), { target }))
      expect([status, JSON.parse(text)]).toMatchObject([404, { error: { code: 'not_found' } }])
    },
  )

  it('is one application, and of Express', async () => {
    const service = await start()
    expect({ ...service.app }).toMatchObject({ mountpath: '/', use: expect.any(Function) })
    expect(service.app).toBe(service.app)
  })
})
