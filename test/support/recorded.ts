import type { Exchange, SeenHeaders } from '../../src/exchanges/exchange.ts'
import type { Json } from '../../src/ground/json.ts'
import { API_KEY } from './service.ts'

/** The time of the first request in recordings of tests: 2026-01-15T09:00:00Z. */
export const RECORDED_AT = Date.UTC(2026, 0, 15, 9)

/** The base URL of the service in recordings of tests. */
export const RECORDED_BASE = 'https://dmarc.example/api/v1'

const DATA = '{"success":true,"data":{"domains":["a.example"]}}'

/** How an entry of a recording differs from that of a request for the domains, which was answered. */
export interface EntryOptions {
  method?: string
  url?: string
  /** In milliseconds after `RECORDED_AT`. */
  after?: number
  time?: number
  request?: Json | undefined
  response?: Json | undefined
  content?: Json | undefined
  more?: Json | undefined
}

/** An entry of a HAR file, as most recorders write it. */
export function entryOf(options: EntryOptions = {}): Json {
  const { method = 'GET', url = '/domains', after = 0, time = 20, request, response, content, more } = options
  return {
    startedDateTime: new Date(RECORDED_AT + after).toISOString(),
    time,
    request: {
      method,
      url: url.startsWith('/') ? RECORDED_BASE + url : url,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: [
        { name: 'Host', value: 'dmarc.example' },
        { name: 'Authorization', value: 'Bearer secret-of-mine' },
      ],
      queryString: [],
      headersSize: -1,
      bodySize: 0,
      ...request,
    },
    response: {
      status: 200,
      statusText: 'OK',
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: [
        { name: 'Content-Type', value: 'application/json' },
        { name: 'X-Request-Id', value: `00000000-0000-4000-8000-${String(after).padStart(12, '0')}` },
      ],
      content: { size: DATA.length, mimeType: 'application/json', text: DATA, ...content },
      redirectURL: '',
      headersSize: -1,
      bodySize: -1,
      ...response,
    },
    cache: {},
    timings: { send: 0, wait: time, receive: 0 },
    ...more,
  }
}

/** The text of a HAR file. */
export function harOf(entries: readonly unknown[], log: Json = {}): string {
  return JSON.stringify({
    log: { version: '1.2', creator: { name: 'WebInspector', version: '537.36' }, entries, ...log },
  })
}

/** An exchange as an entry of a recording, in which nobody has taken out the key. */
export function entryFrom({ at, request, response, id }: Exchange, authorization = `Bearer ${API_KEY}`): Json {
  const namesOf = (headers: SeenHeaders) => Object.entries(headers).map(([name, value]) => ({ name, value }))
  const sent = request.body.isKnown ? request.body.bytes.toString() : ''
  const text = response?.body.isKnown ? response.body.bytes.toString() : ''
  return entryOf({
    method: request.method,
    url: `https://dmarc.example${request.target}`,
    after: at - RECORDED_AT,
    request: {
      headers: [...namesOf(request.headers), { name: 'Authorization', value: authorization }],
      ...(sent !== '' && { postData: { mimeType: 'application/json', text: sent } }),
      bodySize: Buffer.byteLength(sent),
    },
    response: {
      status: response?.status ?? 0,
      headers: namesOf(response?.headers ?? {}),
      content: { size: Buffer.byteLength(text), mimeType: 'application/json', text },
    },
    more: { comment: id },
  })
}
