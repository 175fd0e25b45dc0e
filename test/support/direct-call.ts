import { textOf } from '../../src/ground/message.ts'
import { waitUntil } from '../../src/ground/timers.ts'
import type { StandIn } from '../../src/server/stand-in.ts'
import { encodeBody, fieldsOf, type Received, receivedOf, type SentHeaders } from './request.ts'

/** Fields that are about the connection, so that only a real one gives them a meaning. */
const OF_CONNECTION = ['connection', 'content-length', 'expect', 'transfer-encoding', 'upgrade']

/** Whether a request can be answered without a connection. */
export function canCallDirectly(url: URL, base: string, headers: SentHeaders): boolean {
  const names = Object.keys(headers).map((name) => name.toLowerCase())
  return url.pathname.startsWith(base) && !OF_CONNECTION.some((name) => names.includes(name))
}

/**
 * Has the service answer a request without a connection; the response is as `sendRequest` would receive it. Rejects if the
 * service sends no response, or not the whole.
 */
export async function callDirectly(
  { answer }: StandIn,
  method: string,
  { host, pathname, search }: URL,
  content: unknown,
  given: SentHeaders = {},
): Promise<Received> {
  const body = encodeBody(content)
  const fieldsByName = new Map([['host', host], ...fieldsOf(body, given)])
  const delivery = await answer({
    ...{ method, url: pathname + search, httpVersion: '1.1', body: body ?? Buffer.alloc(0) },
    ...{ headers: Object.fromEntries(fieldsByName), rawHeaders: [...fieldsByName].flat() },
    isAbandoned: false,
    wait: waitUntil,
  })
  if (delivery === undefined || 'lost' in delivery || delivery.transmission?.way === 'half') {
    throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
  }
  const fields: Record<string, string> = { 'content-length': `${delivery.body.size}` }
  for (let index = 0; index < delivery.headers.length; index += 2) {
    fields[`${delivery.headers[index]}`.toLowerCase()] = `${delivery.headers[index + 1]}`
  }
  return receivedOf(delivery.status, fields, method === 'HEAD' ? '' : textOf(delivery.body))
}
