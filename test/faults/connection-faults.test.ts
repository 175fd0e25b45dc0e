import { describe, expect } from 'vitest'
import type { FaultRule } from '../../src/domain/faults.ts'
import { stateOf } from '../support/account.ts'
import { addFault, askControl, faultsOf, journalOf } from '../support/control-plane.ts'
import { it } from '../support/example-service.ts'
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

/** A connection, what it has brought so far, and how it ends: `FIN`, the code of an error, or `left` by the client. */
async function observe(service: TestService) {
  const { socket } = await Connection.open(service)
  const ended = new Promise<string>((resolve) => {
    socket.once('end', () => resolve('FIN'))
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(`${code}`))
    socket.once('close', () => resolve('left'))
  })
  const observer = { socket, ended, bytes: '' }
  socket.on('data', (chunk) => {
    observer.bytes += chunk
  })
  return observer
}

describe.each(['reset', 'hang', 'empty'] as const)('A connection that meets `%s`', (connection) => {
  it('brings no byte, whatever was sent, is told of in the journal, and disturbs no other', async ({ empty }) => {
    await addFault(empty, { match: { path: '/domains' }, connection })
    const other = await Connection.open(empty)
    for (const [index, bytes] of [READ, adding('new.example', 900_000)].entries()) {
      const observer = await observe(empty)
      observer.socket.write(bytes)
      await recorded(empty, 2 * index + 1)
      const fault = { source: 'rule', id: 'fault_1', effect: expect.stringMatching(/connection.*\.$/) }
      const [entry] = await journalOf(empty)
      expect(entry).toMatchObject({
        status: null,
        code: null,
        injected: true,
        fault,
        response: { body: null, body_size: 0 },
      })
      await other.write(requestBytes({ target: '/api/v1/domaingroups' }))
      expect((await other.next()).status).toBe(200)
      if (connection === 'hang') observer.socket.destroy()
      expect(await observer.ended).toBe({ reset: 'ECONNRESET', hang: 'left', empty: 'FIN' }[connection])
      expect(observer.bytes).toBe('')
    }
    await other.destroy()
  })

  it('changes nothing before, and leaves the change behind after', async ({ empty }) => {
    await addFault(empty, { times: 1, connection })
    await addFault(empty, { times: 1, phase: 'after', connection })
    for (const domain of ['before.example', 'after.example']) {
      const client = await Connection.open(empty)
      await client.write(adding(domain))
      await recorded(empty, domain === 'before.example' ? 1 : 2)
      await client.destroy()
    }
    expect((await empty.get('/domains')).body.data.domains).toEqual(['after.example'])
  })
})

describe('`truncate`', () => {
  it('sends the whole head and half of the body, and ends with FIN', async ({ empty }) => {
    await addFault(empty, { connection: 'truncate' })
    const observer = await observe(empty)
    observer.socket.write(READ)
    const ended = await observer.ended
    const [head = '', body] = observer.bytes.split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect(head).toContain(`Content-Length: ${GENUINE.length}`)
    expect([body, ended]).toEqual([GENUINE.slice(0, GENUINE.length >> 1), 'FIN'])
    const effect = 'Half of the body was sent, and the connection was closed.'
    expect((await journalOf(empty))[0]).toMatchObject({ status: 200, injected: true, fault: { effect } })
  })
})

describe('`drip`', () => {
  it('sends the genuine answer in pieces, and the connection goes on', async ({ empty }) => {
    await addFault(empty, { connection: 'drip', delay_ms: 20, times: 1 })
    const observer = await observe(empty)
    let pieces = 0
    observer.socket.on('data', () => pieces++)
    observer.socket.write(READ)
    await expect.poll(() => observer.bytes).toContain(GENUINE)
    observer.socket.write(LAST)
    expect(await observer.ended).toBe('FIN')
    expect(readResponses(observer.bytes).map(({ text }) => text)).toEqual([GENUINE, GENUINE])
    expect(pieces).toBeGreaterThan(2)
    const fault = { id: 'fault_1', effect: 'The body was sent in small pieces, over 20 ms.' }
    expect((await journalOf(empty))[0]).toMatchObject({ status: 200, injected: false, fault })
  })
})

it.for(['truncate', 'drip'] as const)('`%s` leaves HEAD whole, which has no body', async (connection, { empty }) => {
  await addFault(empty, { connection, ...(connection === 'drip' && { delay_ms: 600_000 }) })
  const client = await Connection.open(empty)
  for (let round = 0; round < 2; round++) {
    await client.write(HEAD)
    expect((await client.next('HEAD')).status).toBe(200)
  }
  expect((await journalOf(empty)).map(({ injected }) => injected)).toEqual([false, false])
  await client.destroy()
})

describe('A delay', () => {
  it.for(['a delay', 'drip'] as const)(
    'as %s adds a jitter that is drawn anew for each request, and alike at every start',
    async (kind) => {
      const runs: number[][] = []
      for (let run = 0; run < 2; run++) {
        const service = await startService()
        await addFault(service, { delay_ms: 10, jitter_ms: 20, ...(kind === 'drip' && { connection: 'drip' }) })
        for (let request = 0; request < 5; request++) await service.get('/domains')
        runs.push((await journalOf(service)).map(({ fault }) => Number(/(\d+) ms/.exec(fault?.effect ?? '')?.[1])))
      }
      expect(runs[0]).toEqual(runs[1])
      expect(new Set(runs[0]).size).toBeGreaterThan(1)
      for (const held of runs.flat()) expect([held >= 10, held <= 30]).toEqual([true, true])
    },
  )

  const HELD = 'The answer was held back for 5 ms.'
  const ANSWERED = "The error rate_limited was answered in place of the service's own answer."
  it.for<[more: FaultRule, effect: string, injected: boolean]>([
    [{}, HELD, false],
    [{ respond: { error: 'rate_limited' } }, `${HELD} ${ANSWERED}`, true],
  ])('is told of in the journal, with %j', async ([more, effect, injected], { empty }) => {
    await addFault(empty, { delay_ms: 5, ...more })
    await empty.get('/domains')
    expect((await journalOf(empty))[0]).toMatchObject({ injected, fault: { id: 'fault_1', effect } })
  })

  it.for([
    ['before', []],
    ['after', ['new.example']],
  ] as const)('of phase `%s` leaves %j behind when the client leaves', async ([phase, domains], { empty }) => {
    await addFault(empty, { phase, delay_ms: 600_000, times: 1 })
    const connection = await Connection.open(empty)
    await connection.write(adding('new.example'))
    await acted(empty, 1)
    if (phase === 'after') await monitored(empty, 'new.example')
    await connection.destroy()
    await recorded(empty, 1)
    expect((await journalOf(empty))[0]).toMatchObject({ status: null, injected: true })
    expect((await empty.get('/domains')).body.data.domains).toEqual(domains)
  })
})

describe('A reset of the account', () => {
  const LONG = { delay_ms: 600_000 }
  it.for<[what: string, rule: FaultRule, brought: RegExp]>([
    ['is held back before the change', LONG, /^$/],
    ['is held back after it', { ...LONG, phase: 'after' }, /^$/],
    ['hangs', { connection: 'hang', phase: 'after' }, /^$/],
    ['drips', { ...LONG, connection: 'drip' }, /^HTTP\/1\.1 200 [\s\S]*\r\n\r\n\{"suc[^}]*$/],
  ])('ends an answer that %s, and leaves no trace of it', async ([, rule, brought], { empty }) => {
    await addFault(empty, rule)
    const observer = await observe(empty)
    observer.socket.write(adding('former.example'))
    await acted(empty, 1)
    if (rule !== LONG) await monitored(empty, 'former.example')
    if (rule.connection === 'drip') await expect.poll(() => observer.bytes).toContain('{"suc')
    expect((await askControl(empty, 'POST', '/accounts/default/reset')).status).toBe(200)
    expect(await observer.ended).toBe('FIN')
    expect(observer.bytes).toMatch(brought)
    expect(await journalOf(empty)).toEqual([])
    expect((await empty.get('/domains')).body.data.domains).toEqual([])
  })
})

it('A deletion of the account ends an answer that hangs', async ({ empty }) => {
  await askControl(empty, 'POST', '/accounts', { id: 'gone', api_key: 'key-of-gone' })
  await askControl(empty, 'POST', '/accounts/gone/faults', { connection: 'hang', phase: 'after' })
  const observer = await observe(empty)
  observer.socket.write(requestBytes({ target: '/api/v1/domains', headers: [['Authorization', 'Bearer key-of-gone']] }))
  while ((await journalOf(empty, 'gone')).length === 0) await turn()
  expect((await askControl(empty, 'DELETE', '/accounts/gone')).status).toBe(200)
  expect(await observer.ended).toBe('FIN')
  expect(observer.bytes).toBe('')
})

describe('A stop of the server', () => {
  it.for([
    ['hang', { connection: 'hang' }, /^$/],
    ['hang after', { connection: 'hang', phase: 'after' }, /^$/],
    ['a delay', { delay_ms: 600_000 }, /^HTTP\/1\.1 200 [\s\S]*"success":true/],
    ['a delay after', { delay_ms: 600_000, phase: 'after' }, /^HTTP\/1\.1 200 [\s\S]*"success":true/],
    ['a delayed fault', { delay_ms: 600_000, respond: { error: 'rate_limited' } }, /^HTTP\/1\.1 429 /],
    ['drip', { connection: 'drip', delay_ms: 600_000 }, /^HTTP\/1\.1 200 [\s\S]*"domains":\[\]\}\}$/],
  ] as const)('waits for no %s', async ([, rule, expected], { empty }) => {
    await addFault(empty, rule)
    const observer = await observe(empty)
    observer.socket.write(READ)
    await acted(empty, 1)
    holdTime()
    await empty.stop()
    await observer.ended
    expect(observer.bytes).toMatch(expected)
  })
})

it('a client that leaves a hanging connection ends it', async ({ empty }) => {
  await addFault(empty, { connection: 'hang' })
  const observer = await observe(empty)
  observer.socket.write(READ)
  await recorded(empty, 1)
  holdTime()
  observer.socket.end()
  expect(await observer.ended).toBe('FIN')
})

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
  while (!(await stateOf(service)).domains.some(({ name }) => name === domain)) await turn()
}
