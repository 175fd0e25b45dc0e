import { type Exchange, KnownBody } from '../../src/exchanges/exchange.ts'
import { createReader, type ReadExchange } from '../../src/exchanges/reading.ts'
import { choices } from '../support/choices.ts'
import { headersOf } from '../support/exchanges.ts'

export const DATE = Date.parse('2026-01-15T09:30:00Z')
const USUAL = {
  'Content-Type': 'application/json',
  Date: 'Thu, 15 Jan 2026 09:30:00 GMT',
  'X-Request-Id': '5ecb3e29-3c77-4a1f-8a3e-0f6a1c0a9d11',
}
const QUOTA = { 'X-RateLimit-Limit': '100', 'X-RateLimit-Remaining': '98', 'X-RateLimit-Reset': '1768471200' }
export interface Made {
  method?: string
  path: string
  sent?: unknown
  fields?: Record<string, string>
  status?: number
  headers?: Record<string, string>
  body?: unknown
  /** When it was sent, in milliseconds on the clock of the recorder. */
  at?: number
  /** How long it took. */
  lasts?: number
}

/** An exchange as it would be recorded; a body is written as JSON unless it is a text. */
export function exchangeOf({
  method = 'GET',
  path,
  sent,
  fields,
  status = 200,
  headers,
  body,
  at = DATE,
  lasts = 0,
}: Made): Exchange {
  const bytesOf = (value: unknown) => {
    return Buffer.from(value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value))
  }
  const request = sent === undefined ? {} : { 'Content-Type': 'application/json' }
  return {
    id: 'one',
    at,
    until: at + lasts,
    overlaps: false,
    request: {
      method,
      target: `/api/v1${path}`,
      headers: headersOf(Object.entries({ ...request, ...fields })),
      credentials: { kind: 'sent', scheme: 'Bearer', key: 'key 1', isWord: true },
      body: new KnownBody(bytesOf(sent)),
    },
    response: {
      status,
      headers: headersOf(Object.entries({ ...USUAL, ...QUOTA, ...headers })),
      body: new KnownBody(bytesOf(body)),
    },
  }
}

const read = createReader(choices.contract)

/** What is read of such an exchange, which can be changed before. */
export function readingOf(made: Made, change = (exchange: Exchange) => exchange): ReadExchange {
  return read(change(exchangeOf(made)))
}

export const success = (data: unknown) => ({ success: true, data })
export const failure = (code: string, message = 'No.') => ({ success: false, error: { code, message } })
