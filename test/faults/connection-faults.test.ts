import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { startUnderstudy } from '../../src/start/server.ts'
import { addFault, askControl, faultsOf, journalOf } from '../support/control-plane.ts'
import { holdTime } from '../support/held-time.ts'
import { startService, type TestService } from '../support/service.ts'
import { AUTHORIZED, CLOSE, Connection, JSON_BODY, readResponses, requestBytes } from '../support/wire.ts'

const READ = requestBytes({ target: '/api/v1/domains' })
const HEAD = requestBytes({ method: 'HEAD', target: '/api/v1/domains' })
const LAST = requestBytes({ target: '/api/v1/domains', headers: [AUTHORIZED, CLOSE] })
const GENUINE = '{"success":true,"data":{"domains":[]}}'

function adding(domain: string, padding = 0): Buffer {
  const body = JSON.stringify({ domains: [domain] }) + ' '.repeat(padding)
  return requestBytes({ method: 'POST', target: '/api/v1/domains', headers: [AUTHORIZED, JSON_BODY], body })
}

/** A client that sees everything that happens to its connection. */
class Observer {
  readonly socket: Socket
  bytes = ''
  /** `FIN`, or the code of the error with which it was cut off; `left` when the client itself went. */
  readonly ended: Promise<string>

  constructor({ baseUrl }: Pick<TestService, 'baseUrl'>) {
    const { hostname, port } = new URL(baseUrl)
    this.socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
    this.socket.on('data', (chunk) => {
      this.bytes += chunk
    })
    this.ended = new Promise((resolve) => {
      this.socket.once('end', () => {
        this.socket.end()
        resolve('FIN')
      })
      this.socket.once('error', (error: NodeJS.ErrnoException) => resolve(String(error.code)))
      this.socket.once('close', () => resolve('left'))
    })
  }

  /** What the connection brings after these bytes, and how it ends. */
  async see(...bytes: Buffer[]): Promise<{ bytes: string; ended: string }> {
    this.socket.write(Buffer.concat(bytes))
    const ended = await this.ended
    return { bytes: this.bytes, ended }
  }

  async receives(text: string): Promise<void> {
    while (!this.bytes.includes(text)) await once(this.socket, 'data')
  }
}

describe.each(['reset', 'hang', 'empty'] as const)('A connection that meets `%s`', (connection) => {
  it('brings not one byte, and is marked in the journal', async () => {
    const service = await startService()
    await addFault(service, { connection })
    const observer = new Observer(service)
    const seen = observer.see(READ)
    await recorded(service, 1)
    if (connection === 'hang') await service.stop()
    expect(await seen).toEqual({ bytes: '', ended: connection === 'reset' ? 'ECONNRESET' : 'FIN' })
  })

  it('is told of in the journal, without an answer', async () => {
    const service = await startService()
    await addFault(service, { connection })
    const observer = new Observer(service)
    observer.socket.write(READ)
    await recorded(service, 1)
    expect((await journalOf(service))[0]).toMatchObject({
      status: null,
      code: null,
      injected: true,
      fault: { source: 'rule', id: 'fault_1', effect: expect.stringMatching(/connection.*\.$/) },
      response: { body: null, body_size: 0 },
    })
    observer.socket.destroy()
  })

  it('leaves other connections alone', async () => {
    const service = await startService()
    await addFault(service, { match: { method: 'GET', path: '/domains' }, connection })
    const other = await Connection.open(service)
    const observer = new Observer(service)
    observer.socket.write(READ)
    await recorded(service, 1)
    for (let round = 0; round < 3; round++) {
      await other.write(requestBytes({ target: '/api/v1/domaingroups' }))
      expect((await other.next()).status).toBe(200)
    }
    observer.socket.destroy()
    await other.destroy()
  })

  it('has the answers that came before, and nothing of what was sent behind without waiting', async () => {
    const service = await startService()
    await addFault(service, { skip: 1, times: 1, match: { path: '/domains' }, connection })
    const connectionInHand = await Connection.open(service)
    await connectionInHand.write(READ)
    expect((await connectionInHand.next()).text).toBe(GENUINE)
    await connectionInHand.write(Buffer.concat([READ, adding('lost.example')]))
    await recorded(service, 2)
    if (connection === 'hang') connectionInHand.socket.destroy()
    await connectionInHand.closed
    expect((await service.get('/domains')).body.data.domains).toEqual([])
    expect((await journalOf(service)).map(({ status }) => status)).toEqual([200, null, 200])
  })

  it('changes nothing before, and leaves the change behind after', async () => {
    const service = await startService()
    await addFault(service, { times: 1, connection })
    await addFault(service, { times: 1, phase: 'after', connection })
    for (const domain of ['before.example', 'after.example']) {
      const observer = new Observer(service)
      observer.socket.write(adding(domain))
      await recorded(service, domain === 'before.example' ? 1 : 2)
      observer.socket.destroy()
    }
    expect((await service.get('/domains')).body.data.domains).toEqual(['after.example'])
  })

  it('may have a body that nobody reads', async () => {
    const service = await startService()
    await addFault(service, { connection })
    const observer = new Observer(service)
    const seen = observer.see(adding('new.example', 900_000))
    await recorded(service, 1)
    if (connection === 'hang') observer.socket.destroy()
    const { bytes, ended } = await seen
    expect([bytes, ended]).toEqual(['', { reset: 'ECONNRESET', hang: 'left', empty: 'FIN' }[connection]])
  })
})

it('A connection that is cut brings the answers to what was asked before', async () => {
  const service = await startService({ enforceQuotas: false })
  await addFault(service, { match: { operation: 'listDomainGroups' }, connection: 'empty' })
  const groups = requestBytes({ target: '/api/v1/domaingroups', headers: [AUTHORIZED] })
  const { bytes } = await new Observer(service).see(Buffer.concat([...Array(11).fill(READ), groups]))
  expect(readResponses(bytes).map(({ status }) => status)).toEqual(Array(11).fill(200))
})

describe('`truncate`', () => {
  it('sends the whole head and half of the body, and ends with FIN', async () => {
    const service = await startService()
    await addFault(service, { connection: 'truncate' })
    const { bytes, ended } = await new Observer(service).see(READ)
    const [head = '', body] = bytes.split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect(head).toContain(`Content-Length: ${GENUINE.length}`)
    expect([body, ended]).toEqual([GENUINE.slice(0, GENUINE.length >> 1), 'FIN'])
    expect((await journalOf(service))[0]).toMatchObject({
      status: 200,
      injected: true,
      fault: { effect: 'Half of the body was sent, and the connection was closed.' },
    })
  })

  it('leaves the change behind, and what was sent behind it undone', async () => {
    const service = await startService()
    await addFault(service, { times: 1, connection: 'truncate' })
    await new Observer(service).see(adding('done.example'), adding('lost.example'))
    expect((await service.get('/domains')).body.data.domains).toEqual(['done.example'])
  })

  it('ends with FIN also where the body of the request was refused unread', async () => {
    const service = await startService()
    await addFault(service, { connection: 'truncate' })
    const bytes = requestBytes({ method: 'POST', target: '/api/v1/domains', body: 'x'.repeat(900_000) })
    const seen = await new Observer(service).see(bytes)
    expect(seen.bytes).toMatch(/^HTTP\/1\.1 400 /)
    expect(seen.ended).toBe('FIN')
  })

  it('leaves HEAD whole, which has no body', async () => {
    const service = await startService()
    await addFault(service, { connection: 'truncate' })
    const connection = await Connection.open(service)
    for (let round = 0; round < 2; round++) {
      await connection.write(HEAD)
      expect((await connection.next('HEAD')).status).toBe(200)
    }
    expect((await journalOf(service)).map(({ injected }) => injected)).toEqual([false, false])
    await connection.destroy()
  })
})

describe('`drip`', () => {
  it('sends the genuine answer in pieces, and the connection goes on', async () => {
    const service = await startService()
    await addFault(service, { connection: 'drip', delay_ms: 20, times: 1 })
    const observer = new Observer(service)
    const pieces: string[] = []
    observer.socket.on('data', (chunk) => pieces.push(String(chunk)))
    observer.socket.write(READ)
    await observer.receives(GENUINE)
    const { bytes, ended } = await observer.see(LAST)
    expect(readResponses(bytes).map(({ text }) => text)).toEqual([GENUINE, GENUINE])
    expect(ended).toBe('FIN')
    expect(pieces.length).toBeGreaterThan(2)
    expect((await journalOf(service))[0]).toMatchObject({
      status: 200,
      injected: false,
      fault: { id: 'fault_1', effect: 'The body was sent in small pieces, over 20 ms.' },
    })
  })

  it('takes as long as delay and jitter say, and the same again at the next start', async () => {
    const effects: (string | null | undefined)[] = []
    for (let run = 0; run < 2; run++) {
      const service = await startService()
      await addFault(service, { connection: 'drip', delay_ms: 10, jitter_ms: 20 })
      await service.get('/domains')
      effects.push((await journalOf(service))[0]?.fault?.effect)
    }
    const [, milliseconds] = /over (\d+) ms/.exec(effects[0] ?? '') ?? []
    expect(Number(milliseconds)).toBeGreaterThan(10)
    expect(Number(milliseconds)).toBeLessThanOrEqual(30)
    expect(effects[1]).toBe(effects[0])
  })

  it('holds no answer of another connection up', async () => {
    const service = await startService()
    await addFault(service, { connection: 'drip', delay_ms: 600_000, times: 1 })
    const observer = new Observer(service)
    observer.socket.write(READ)
    await observer.receives('HTTP/1.1 200')
    expect((await service.get('/domains')).status).toBe(200)
    expect(observer.bytes).not.toContain(GENUINE)
    observer.socket.destroy()
  })

  it('answers HEAD at once', async () => {
    const service = await startService()
    await addFault(service, { connection: 'drip', delay_ms: 600_000 })
    const connection = await Connection.open(service)
    await connection.write(HEAD)
    expect((await connection.next('HEAD')).status).toBe(200)
    await connection.destroy()
  })
})

describe('A delay', () => {
  it('lets requests on other connections pass', async () => {
    const service = await startService()
    await addFault(service, { delay_ms: 600_000, times: 1 })
    const slow = service.get('/domains')
    await acted(service, 1)
    expect((await service.get('/domains')).status).toBe(200)
    expect(await journalOf(service)).toHaveLength(1)
    await service.stop()
    expect((await slow).status).toBe(200)
  })

  it('is told of in the journal, and the answer is genuine', async () => {
    const service = await startService()
    await addFault(service, { delay_ms: 5 })
    await service.get('/domains')
    expect((await journalOf(service))[0]).toMatchObject({
      status: 200,
      injected: false,
      fault: { id: 'fault_1', effect: 'The answer was held back for 5 ms.' },
    })
  })

  it('keeps the order of what was sent without waiting', async () => {
    const service = await startService()
    await addFault(service, { delay_ms: 20, times: 1 })
    const responses = readResponses(await service.sendRaw(Buffer.concat([adding('one.example'), LAST])))
    expect(responses.map(({ status }) => status)).toEqual([200, 200])
    expect(responses[1]?.text).toContain('one.example')
  })

  it('adds a jitter that is drawn anew for each request, and alike at every start', async () => {
    const runs: (string | null | undefined)[][] = []
    for (let run = 0; run < 2; run++) {
      const service = await startService()
      await addFault(service, { jitter_ms: 30 })
      for (let request = 0; request < 5; request++) await service.get('/domains')
      runs.push((await journalOf(service)).map(({ fault }) => fault?.effect))
    }
    expect(runs[0]).toEqual(runs[1])
    expect(new Set(runs[0]).size).toBeGreaterThan(1)
  })

  it('comes before an injected answer as well', async () => {
    const service = await startService()
    await addFault(service, { delay_ms: 5, respond: { error: 'rate_limited' } })
    await service.get('/domains')
    expect((await journalOf(service))[0]?.fault?.effect).toBe(
      "The answer was held back for 5 ms. The error rate_limited was answered in place of the service's own answer.",
    )
  })

  it.each([
    ['before', []],
    ['after', ['new.example']],
  ] as const)('of phase `%s` leaves %j behind when the client leaves', async (phase, domains) => {
    const service = await startService()
    await addFault(service, { phase, delay_ms: 600_000, times: 1 })
    const connection = await Connection.open(service)
    await connection.write(adding('new.example'))
    await acted(service, 1)
    if (phase === 'after') await monitored(service, 'new.example')
    await connection.destroy()
    await recorded(service, 1)
    expect((await journalOf(service))[0]).toMatchObject({ status: null, injected: true })
    expect((await service.get('/domains')).body.data.domains).toEqual(domains)
  })
})

describe('A stop of the server', () => {
  it.each([
    ['hang', { connection: 'hang' }, /^$/],
    ['hang after', { connection: 'hang', phase: 'after' }, /^$/],
    ['a delay', { delay_ms: 600_000 }, /^HTTP\/1\.1 200 [\s\S]*"success":true/],
    ['a delay after', { delay_ms: 600_000, phase: 'after' }, /^HTTP\/1\.1 200 [\s\S]*"success":true/],
    ['a delayed fault', { delay_ms: 600_000, respond: { error: 'rate_limited' } }, /^HTTP\/1\.1 429 /],
    ['drip', { connection: 'drip', delay_ms: 600_000 }, /^HTTP\/1\.1 200 [\s\S]*"domains":\[\]\}\}$/],
  ] as const)('waits for no %s', async (_, rule, expected) => {
    const service = await startService()
    await addFault(service, rule)
    const observer = new Observer(service)
    observer.socket.write(READ)
    await acted(service, 1)
    holdTime()
    await service.stop()
    await observer.ended
    expect(observer.bytes).toMatch(expected)
  })

  it('cuts off an `empty` whose body never ends', async () => {
    const service = await startService()
    await addFault(service, { connection: 'empty' })
    const observer = new Observer(service)
    observer.socket.write(adding('new.example').subarray(0, -5))
    await recorded(service, 1)
    holdTime()
    await service.stop()
    expect(await observer.ended).toBeTypeOf('string')
  })

  it('leaves no timer and no socket behind', async () => {
    const before = handles()
    const service = await startUnderstudy({ fixture: 'empty' })
    await service.account.faults.add({ connection: 'hang', times: 1 })
    await service.account.faults.add({ delay_ms: 600_000, times: 1 })
    await service.account.faults.add({ connection: 'drip', delay_ms: 600_000, times: 1 })
    const pending = [1, 2, 3].map(() =>
      fetch(`${service.baseUrl}/domains`, { headers: { ...service.account.headers, connection: 'close' } })
        .then((response) => response.text())
        .catch(() => ''),
    )
    while ((await service.account.faults.list()).some(({ hits }) => hits === 0)) await turn()
    await service.stop()
    await Promise.all(pending)
    expect(handles().filter((type) => type === 'Timeout').length).toBeLessThanOrEqual(
      before.filter((type) => type === 'Timeout').length,
    )
  })
})

it('a client that leaves a hanging connection ends it', async () => {
  const service = await startService()
  await addFault(service, { connection: 'hang' })
  const observer = new Observer(service)
  observer.socket.write(READ)
  await recorded(service, 1)
  observer.socket.end()
  expect(await observer.ended).toBe('FIN')
})

function handles(): string[] {
  return process.getActiveResourcesInfo()
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Resolves when the journal has so many entries. */
async function recorded(service: TestService, count: number): Promise<void> {
  while ((await journalOf(service)).length < count) await turn()
}

/** Resolves when rules have acted on so many requests. */
async function acted(service: TestService, count: number): Promise<void> {
  while ((await faultsOf(service)).reduce((sum, { hits }) => sum + hits, 0) < count) await turn()
}

async function monitored(service: TestService, domain: string): Promise<void> {
  for (;;) {
    const { data } = await askControl(service, 'GET', '/accounts/default/state')
    if (JSON.stringify(data.domains).includes(domain)) return
    await turn()
  }
}
