import { isObject, type Json } from '../../ground/json.ts'
import { show } from '../../ground/show.ts'
import { queryOf, readParameters } from '../../ground/target.ts'
import { RealDate } from '../../ground/timers.ts'
import { isCredential } from '../../journal/redaction/redaction.ts'
import type { HeaderFields } from '../keys.ts'
import { isReplaced, isReplacedSecret } from './blacked-out.ts'

/** In milliseconds. No request takes longer, whatever a recorder says. */
const LONGEST_DURATION = 86_400_000
/** In milliseconds: the assumed duration if the recorder does not know it. */
const UNKNOWN_DURATION = 30_000

/** When a request was in progress, in milliseconds since the Unix epoch. */
export interface TimeSpan {
  at: number
  until: number
  /**
   * A later request of the same recording that was sent before this time overlaps. In the millisecond in which one
   * request ends, the next one begins: within a millisecond, the order is that of the file. A coarser clock, or a
   * missing duration, leaves more open.
   */
  over: number
}

/**
 * Why an entry is no exchange with the service: a CORS preflight of a browser, a response from its cache, or one that a
 * test, a tool or a service worker made up.
 */
export type Aside = 'preflight' | 'cache' | 'fulfilled'

/** A token (RFC 9110 §5.6.2), not longer than any existing method. */
const METHOD = /^[\w!#$%&'*+.^`|~-]{1,64}$/

/** Clients send these methods in capitals, so another spelling is that of the recorder; `patch` goes as it was written. */
const CAPITAL: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'])

/** The method and the URL of an entry, `isOwn` if they are as they were sent; `undefined` if it is not a HAR entry. */
export function requestLineOf(entry: Json, isOwn = false): { method: string; url: string } | undefined {
  const { method, url } = isObject(entry['request']) ? entry['request'] : {}
  if (typeof method !== 'string' || typeof url !== 'string' || !METHOD.test(method)) return undefined
  const capital = method.toUpperCase()
  return { method: !isOwn && CAPITAL.has(capital) ? capital : method, url }
}

/** Whether the address of a request does not show which group it is about. */
export function hidesId(target: string): boolean {
  const parameters = target.includes('?') ? readParameters(queryOf(target)) : []
  return parameters.some(([name, value]) => isReplaced(name) || (name === 'id' && isReplaced(value)))
}

/** When the request of an entry was in progress, or why the entry does not say it: a phrase whose subject is the entry. */
export function spanOf({ startedDateTime: started, time, timings }: Json): TimeSpan | string {
  if (started === undefined) return 'has no startedDateTime'
  const instant = typeof started === 'string' ? readInstant(started) : undefined
  if (instant === undefined) return `has a startedDateTime that is no date and time: ${show(started)}`
  const { at, tick } = instant
  const duration = isDuration(time) ? time : sumOf(timings)
  if (duration === undefined) return { at, until: at, over: at + UNKNOWN_DURATION }
  const end = at + Math.min(duration, LONGEST_DURATION)
  const until = tick === 1 ? Math.floor(end) : end
  return { at, until, over: tick > 1 ? until + tick : until }
}

/** A time in milliseconds, and the unit in which it was written. Without a time zone it is UTC. */
function readInstant(written: string): { at: number; tick: number } | undefined {
  const text = written.trim()
  const hasZone = /(?:Z|[+-]\d\d:?\d\d)$/i.test(text)
  const at = RealDate.parse(hasZone ? text : `${text}Z`)
  if (!Number.isFinite(at)) return undefined
  const digits = /\.(\d+)/.exec(text)?.[1] ?? ''
  const rest = digits.length > 3 ? Number(`0.${digits.slice(3, 9)}`) : 0
  return { at: at + rest, tick: 1000 / 10 ** Math.min(digits.length, 6) }
}

function isDuration(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && Number.isFinite(value)
}

/** The sum of the phases of an entry; `undefined` if none is known. */
function sumOf(timings: unknown): number | undefined {
  if (!isObject(timings)) return undefined
  // The connection time includes the TLS time.
  const parts = ['blocked', 'dns', 'connect', 'send', 'wait', 'receive'].map((name) => timings[name]).filter(isDuration)
  return parts.length === 0 ? undefined : parts.reduce((sum, part) => sum + part, 0)
}

/**
 * Whether an entry looks as if a browser had the response already. Firefox and Firebug tell it by the entry of their
 * cache. Playwright tells it by a body of which nothing was transferred, from which it subtracts the header. Other
 * recorders may write the same always, so it is known only if some entry of the file does not look so.
 */
export function looksCached({ request, response, cache }: Json): boolean {
  if (!isObject(request) || request['method'] !== 'GET' || !isObject(response)) return false
  const { status, content, bodySize, _transferSize: transferred } = response
  if (isObject(cache) && (isObject(cache['afterRequest']) || isObject(cache['beforeRequest']))) return status !== 304
  const hasContent = isObject(content) && Number(content['size']) > 0
  return transferred === 0 && Number(bodySize) < 0 && hasContent && response['_fetchedViaServiceWorker'] !== true
}

/** Why an entry is no exchange with the service; `undefined` if it is one. `isCached`: whether it certainly looks cached. */
export function asideOf(entry: Json, method: string, isCached: boolean): Aside | undefined {
  const response = isObject(entry['response']) ? entry['response'] : {}
  const { _fetchType: fetched } = entry
  const isMarked = [entry['_fromCache'], entry['fromCache']].some(
    (from) => from === true || (typeof from === 'string' && from !== ''),
  )
  if (isCached || isMarked || response['_fromDiskCache'] === true || /cache/i.test(String(fetched))) return 'cache'
  if (entry['_wasFulfilled'] === true || response['_wasFulfilled'] === true || fetched === 'Inspector Override')
    return 'fulfilled'
  const source = response['_serviceWorkerResponseSource'] ?? response['_responseServiceWorkerSource']
  if (response['_fetchedViaServiceWorker'] === true && typeof source === 'string' && source !== 'network')
    return /cache/i.test(source) ? 'cache' : 'fulfilled'
  if (method !== 'OPTIONS') return undefined
  return fieldsOf(entry['request'], 'access-control-request-method').length > 0 ||
    entry['_resourceType'] === 'preflight'
    ? 'preflight'
    : undefined
}

/** The header fields of a message, or those with a name in lower case. Pseudo-header fields of HTTP/2 (`:path`) do not count. */
export function fieldsOf(message: unknown, wanted?: string): HeaderFields {
  const list = isObject(message) ? message['headers'] : undefined
  const pairs = isObject(list) ? Object.entries(list).map(([name, value]) => ({ name, value })) : list
  if (!Array.isArray(pairs)) return []
  const fields: [name: string, value: string][] = []
  for (const each of pairs) {
    if (!isObject(each)) continue
    const { name, value } = each
    if (typeof name !== 'string' || name === '' || name.startsWith(':')) continue
    if (wanted !== undefined && !isNamed(name, wanted)) continue
    if (typeof value === 'number') fields.push([name, String(value)])
    // Some recorders write the fields of one name as lines.
    if (typeof value === 'string') fields.push([name, LINES.test(value) ? value.split(LINES).join(', ') : value])
  }
  return fields
}

const LINES = /[\r\n]+/

/** The header fields whose values the recording shows, and the names of the others. */
export function splitFields(fields: HeaderFields): { shown: HeaderFields; hidden: readonly string[] } {
  const replaced = fields.filter(([name, value]) => (isCredential(name) ? isReplacedSecret(value) : isReplaced(value)))
  if (replaced.length === 0) return { shown: fields, hidden: [] }
  return {
    shown: fields.filter((field) => !replaced.includes(field)),
    hidden: [...new Set(replaced.map(([name]) => name.toLowerCase()))],
  }
}

/** The header fields of a request. If the recording lacks the type of the body, the body itself may have it. */
export function requestFieldsOf(request: Json, fields: HeaderFields): HeaderFields {
  const mimeType = isObject(request['postData']) ? request['postData']['mimeType'] : undefined
  const type = fieldOf(fields, 'content-type')
  const isMissing = fields.length === 0 || (type !== undefined && isReplaced(type))
  if (!isMissing || typeof mimeType !== 'string' || mimeType === '' || isReplaced(mimeType)) return fields
  return [...fields.filter(([name]) => name.toLowerCase() !== 'content-type'), ['content-type', mimeType]]
}

/** The header fields of a response of another site that a browser always shows to the script of a page (Fetch §2.2.2). */
const SAFELISTED = /^(?:cache-control|content-(?:language|length|type)|expires|last-modified|pragma)$/i

/** Whether a recorder in a page sees a header field of this name. If it sees no others, it does not show what was sent. */
export function isSafelisted(name: string): boolean {
  return SAFELISTED.test(name)
}

export function fieldOf(fields: HeaderFields, wanted: string): string | undefined {
  return fields.find(([name]) => isNamed(name, wanted))?.[1]
}

function isNamed(name: string, wanted: string): boolean {
  return name.length === wanted.length && name.toLowerCase() === wanted
}

/** The status of a response; `undefined` if none came, which recorders write as 0 or -1. */
export function statusOf(response: unknown): number | undefined {
  const status = isObject(response) ? Number(response['status']) : Number.NaN
  return Number.isInteger(status) && status >= 200 && status <= 599 ? status : undefined
}
