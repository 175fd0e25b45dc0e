import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { Exchange } from '../../src/exchanges/exchange.ts'
import { systemClock } from '../../src/ground/timers.ts'
import { ConnectionError, type WireRequest, type WireResponse } from '../../src/verify/client.ts'
import { Conversation } from '../../src/verify/conversation.ts'
import { Holdings } from '../../src/verify/holdings.ts'
import type { ProbeRequest } from '../../src/verify/probe.ts'
import { choices } from '../support/choices.ts'
import { NO_LEDGER } from './runs.ts'

type Reply = WireResponse | ConnectionError

const JSON_TYPE = ['Content-Type', 'application/json']
const answer = (data: unknown, status = 200): WireResponse => ({
  status,
  rawHeaders: JSON_TYPE,
  body: Buffer.from(JSON.stringify({ success: true, data })),
})
const page = (status: number): WireResponse => ({
  status,
  rawHeaders: ['Content-Type', 'text/html'],
  body: Buffer.from(`<html><title>${status}</title></html>`),
})
const CUT = new ConnectionError('the connection was closed without a response', true)
const OWN_FAILURE: WireResponse = {
  status: 503,
  rawHeaders: JSON_TYPE,
  body: Buffer.from('{"success":false,"error":{"code":"internal_error","message":"No."}}'),
}
const DOMAINS: ProbeRequest = { method: 'GET', path: '/domains' }
const ADD: ProbeRequest = { method: 'POST', path: '/domains', body: { domains: ['verify-x1-1.example'] } }

/** A conversation with a service that gives these answers, one after the other. */
function converse(replies: readonly Reply[]) {
  const sent: WireRequest[] = []
  const pauses: number[] = []
  const judged: Exchange[] = []
  const holdings = new Holdings('verify-x1')
  const conversation = new Conversation({
    async send(request) {
      const reply = replies[sent.push(request) - 1]
      if (reply === undefined) throw new Error('More was sent than expected.')
      if (reply instanceof ConnectionError) throw reply
      return reply
    },
    ...{ contract: choices.contract, reserve: 0, clock: systemClock, holdings, apiKey: 'a-key-of-the-account' },
    ...{ ledger: NO_LEDGER, writes: true, waits: false, tell: () => {} },
    judge: {
      take(exchange) {
        judged.push(exchange)
        return []
      },
    },
    signal: new AbortController().signal,
    sleep: async (milliseconds) => void pauses.push(milliseconds),
  })
  return { conversation, holdings, sent, pauses, judged }
}

describe('a read of verify', () => {
  it.each<[what: string, trouble: Reply]>([
    ['502 of a gateway', page(502)],
    ['503 of the service', OWN_FAILURE],
    ['page that says 200', page(200)],
    ['cut connection', CUT],
  ])('is sent again after a %s', async (_, trouble) => {
    const { conversation, pauses } = converse([trouble, answer({ domains: ['a.example'] })])
    expect(await conversation.ask(DOMAINS)).toMatchObject({ data: { domains: ['a.example'] }, isLost: false })
    expect(conversation.exchanges).toHaveLength(1)
    expect(pauses).toHaveLength(1)
  })

  it('is sent twice at most', async () => {
    const bad = converse([page(502), page(502)])
    expect((await bad.conversation.ask(DOMAINS)).response.status).toBe(502)
    await expect(converse([CUT, CUT]).conversation.ask(DOMAINS)).rejects.toBe(CUT)
  })

  it('is sent again if it does not show what was created before, and later ones wait', async () => {
    const own = { domains: ['verify-x1-1.example'] }
    const old = answer({ domains: [] })
    const { conversation, pauses } = converse([answer(own), old, answer(own), answer(own), answer(own)])
    await conversation.ask(ADD)
    expect(await conversation.ask(DOMAINS)).toMatchObject({ data: own })
    expect(conversation.exchanges.map(({ exchange }) => exchange.response?.status)).toEqual([200, 200])
    await conversation.ask(ADD)
    expect(pauses).toHaveLength(1)
    await conversation.ask(DOMAINS)
    expect(pauses).toHaveLength(2)
  })

  it('loses its content coding, although nobody asked for it', async () => {
    const { rawHeaders, body, status } = answer({ domains: ['a.example'] })
    const packed = { status, rawHeaders: [...rawHeaders, 'Content-Encoding', 'gzip'], body: gzipSync(body) }
    expect(await converse([packed]).conversation.ask(DOMAINS)).toMatchObject({ data: { domains: ['a.example'] } })
  })
})

describe('a write of verify', () => {
  it.each<[what: string, trouble: Reply]>([
    ['a cut connection', CUT],
    ['the page of a gateway', page(502)],
  ])('is not sent again after %s, and what it names is of no use for questions', async (_, trouble) => {
    const own = { domains: ['verify-x1-1.example', 'verify-x1-2.example'] }
    const { conversation, holdings, sent } = converse([answer(own), trouble])
    await conversation.ask({ method: 'POST', path: '/domains', body: own })
    expect(holdings).toMatchObject({ free: own.domains, isUncertain: false })
    const removal = { method: 'DELETE', path: '/domains', body: { domains: ['verify-x1-1.example'] } }
    expect(await conversation.ask(removal)).toMatchObject({ isLost: true })
    expect(sent).toHaveLength(2)
    expect(holdings).toMatchObject({ free: ['verify-x1-2.example'], isUncertain: true })
  })

  it.each<[what: string, answered: WireResponse, said: object]>([
    ['it is refused, also with a page', page(400), { response: { status: 400 } }],
    ['the service itself says that it failed', OWN_FAILURE, { code: 'internal_error' }],
  ])('has got its answer if %s', async (_, answered, said) => {
    expect(await converse([answered]).conversation.ask(ADD)).toMatchObject({ isLost: false, ...said })
  })

  it('leaves unknown what it has created if no answer comes in time', async () => {
    const late = new ConnectionError('no complete response came within 30 s (--timeout)')
    const { conversation, holdings, judged } = converse([late])
    await expect(conversation.ask(ADD)).rejects.toBe(late)
    expect(holdings.isUncertain).toBe(true)
    expect(judged).toMatchObject([{ request: { method: 'POST' }, response: undefined }])
  })
})
