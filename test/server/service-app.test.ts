import { createServer } from 'node:http'
import express from 'express'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startUnderstudy, type UnderstudyWithKey } from '../../src/index.ts'
import { listenOn } from '../support/listening.ts'
import { API_KEY } from '../support/service.ts'
import { AUTHORIZED, CLOSE, JSON_BODY, readResponses, requestBytes, type WireRequest } from '../support/wire.ts'
import { answerTo, ask, converse, serve, tellError } from './application.ts'

async function start(options = {}): Promise<UnderstudyWithKey> {
  const given = { fixture: 'empty', seed: 7, now: '2026-01-15T09:30:00Z', frozen: true, apiKey: API_KEY } as const
  const service = await startUnderstudy({ ...given, ...options })
  onTestFinished(() => service.stop())
  return service
}

const portOf = ({ baseUrl }: { baseUrl: string }) => Number(new URL(baseUrl).port)
const CHANGE = { method: 'POST', headers: [AUTHORIZED, JSON_BODY] }
const LIST = { target: '/api/v1/domains', headers: [AUTHORIZED] }

/** Without what differs from run to run: the name of the server, its port, and the time of the machine. */
function lasting(bytes: string): string {
  return bytes
    .replace(/^Date: .*GMT\r\n/m, '')
    .replace(/"instance":"[^"]*"/, '"instance":""')
    .replace(/:\d{4,5}\b/g, ':0')
}

const STORY: readonly WireRequest[] = [
  { ...CHANGE, target: '/api/v1/domains', body: '{"domains":["a.example"]}' },
  { ...CHANGE, target: '/api/v1/domaingroups', body: '{"name":3}' },
  { method: 'HEAD', target: '/api/v1/domains' },
  ...['/api/v1/domains', '/api/v1', '/api/v10/domains', '/nothing', '/%zz', '//double', '/'].map((target) => ({
    target,
  })),
  { method: 'POST', target: '/' },
  { target: '/', headers: [['Accept', 'text/html']] },
  ...['', '/health', '/health?x=1', '/accounts/default/domains'].map((path) => ({ target: `/__admin${path}` })),
  { target: '/__ADMIN/health' },
  { ...CHANGE, target: '/__admin/accounts', body: '{"id":"other","now":"2026-01-15T09:30:00Z","frozen":true}' },
  { ...CHANGE, target: '/__admin/accounts', body: '{"id":' },
  { method: 'DELETE', target: '/__admin/nothing' },
]

describe('service.app', () => {
  it('answers with the bytes that the port gives, control plane and refusals included', async () => {
    const [own, other] = await Promise.all([start(), start()])
    const port = await listenOn(createServer(other.app))
    for (const request of STORY) {
      const answered = await ask(port, request)
      expect(lasting(answered), JSON.stringify(request)).toBe(lasting(await ask(portOf(own), request)))
      expect(answered, JSON.stringify(request)).toMatch(/^HTTP\/1\.1 \d{3} /)
    }
  })

  it('is mounted in Express, where it answers for all below its place, names it, and leads a browser there', async () => {
    const app = express()
    app.use('/mock', (await start({ listen: false })).app)
    app.use((_request, response) => void response.send('passed on'))
    const port = await serve(app)
    const get = (target: string) => answerTo(port, { ...LIST, target })
    expect(await get('/mock/api/v1/domains')).toMatchObject({
      status: 200,
      text: expect.stringContaining('"domains":[]'),
    })
    expect(await get('/mock/nothing')).toMatchObject({ status: 404, text: expect.stringContaining('"not_found"') })
    expect(await get('/mock/__admin/health')).toMatchObject({ status: 200 })
    expect(await get('/api/v1/domains')).toMatchObject({ status: 200, text: 'passed on' })
    for (const root of ['/mock', '/mock/']) {
      const { headers } = await answerTo(port, { target: root, headers: [['Accept', 'text/html']] })
      expect(headers).toContainEqual(['Location', '/mock/__admin/'])
      const [service, dashboard] = ['http://localhost/mock/api/v1', 'http://localhost/mock/__admin/']
      expect(JSON.parse((await get(root)).text).data).toMatchObject({ service, dashboard })
    }
    const { headers: moved } = await get('/mock/__admin/accounts/acme/time')
    expect(moved).toContainEqual(['Location', '/mock/__admin/page/acme/time'])
    await get('/mock/api/v1/domain')
    expect((await get('/mock/__admin/verdict')).text).toContain('http://localhost/mock/api/v1/domains')
  })

  it('tells an application that has read a body before it, and answers the rest', async () => {
    const app = express().use(express.json(), (await start({ listen: false })).app, tellError)
    const port = await serve(app)
    for (const target of ['/api/v1/domains', '/__admin/accounts']) {
      const { status, text } = await answerTo(port, { ...CHANGE, target, body: '{"domains":["a.example"]}' })
      const told = `The stand-in cannot read the body of POST ${target}, because another middleware has read it. Mount service.app before express.json() and other body parsers.`
      expect([status, text]).toEqual([500, told])
    }
    expect((await answerTo(port, LIST)).status).toBe(200)
  })
})

describe('The port', () => {
  it('lets no later request of a connection overtake one to the control plane', async () => {
    const port = portOf(await start())
    const add = requestBytes({ ...CHANGE, target: '/api/v1/domains', body: '{"domains":["a.example"]}' })
    const clear = requestBytes({ method: 'POST', target: '/__admin/accounts/default/reset', headers: [] })
    const read = requestBytes({ ...LIST, headers: [AUTHORIZED, CLOSE] })
    const responses = readResponses((await converse(port, Buffer.concat([add, clear, read]))).bytes)
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(responses[2]?.text).toBe('{"success":true,"data":{"domains":[]}}')
  })

  it('answers targets that Express cannot read', async () => {
    const port = portOf(await start())
    for (const target of ['//user@host#mark', '//user@[#', '//user@host:x#']) {
      const { status, text } = await answerTo(port, { target })
      expect([status, JSON.parse(text)]).toMatchObject([404, { error: { code: 'not_found' } }])
    }
  })
})
