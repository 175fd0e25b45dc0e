import type { Api, Operation } from '../../src/contract/api.ts'
import { type Chance, Values } from './values.ts'

/** A request, and what it is to be held to. */
export interface FuzzedRequest {
  plane: 'service' | 'control'
  method: string
  /** As the documents have it: below the version segment, or below the control plane's own. */
  path: string
  bytes: Buffer
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PURGE']
const PATHS = [
  ...['/', '/unknown', '//', '/domains/', '/DOMAINS', '/domains%2f', '/%', '/%ff', '/..'],
  `/${'x'.repeat(4_000)}`,
]
const PREFERENCES = [
  ...['code=rate_limited', 'code=500, delay=2', 'delay=1', 'code=nonsense', 'code="404"', ';;=,"'],
  ...['code=internal_error', 'code=unauthorized', 'respond-async, code=invalid_json;delay=1'],
  `code=${'x'.repeat(500)}`,
]
const FIELDS = [
  ...['Accept: text/html', 'Origin: http://evil.example', 'X-Forwarded-For: 10.0.0.1', 'If-None-Match: *'],
  ...['Range: bytes=0-1', 'Expect: 100-continue', 'Expect: 200-maybe', 'Connection: close', 'Connection: Upgrade'],
  ...['Upgrade: websocket', 'Upgrade: h2c', 'Content-Encoding: gzip', 'Content-Type: text/plain'],
  ...['TE: trailers', 'X:', 'Last-Event-ID: 3', 'Host: evil.example', 'Date: \xff', `X-Long: ${'x'.repeat(8_000)}`],
]
const BAD_TEXTS = [
  ...['{', '', 'null', '[]', '"x"', '{"a":1,"a":2}', '\ufeff{}', '{"domains":[}', 'NaN', '{}{}', '\0', '\xff'],
]
const TOKENS = ['\r\n', '\n', ' ', '\0', ':', '\r\n ', 'Content-Length: 5\r\n', '0\r\n\r\n', '\x80']

/** Makes requests from the two documents, lawful ones and such as are nearly or not at all. */
export class Requests {
  readonly #chance: Chance
  readonly #values: Values
  readonly #service: Api
  readonly #control: Api
  readonly #known: readonly string[]
  readonly #keys: readonly string[]

  /** `known` and `keys` grow with what the answers name. */
  constructor(chance: Chance, apis: { service: Api; control: Api }, known: readonly string[], keys: readonly string[]) {
    this.#chance = chance
    this.#values = new Values(chance, known)
    this.#service = apis.service
    this.#control = apis.control
    this.#known = known
    this.#keys = keys
  }

  next(): FuzzedRequest {
    return this.#chance.happens(0.6) ? this.#toService() : this.#toControl()
  }

  /** The same with some of its bytes changed. */
  spoil({ bytes }: FuzzedRequest): Buffer {
    const chance = this.#chance
    let spoilt = bytes
    for (let round = 1 + chance.below(4); round > 0; round--) {
      // What makes it a request stands at its beginning.
      const at = chance.below(chance.happens(0.7) ? Math.min(spoilt.length, 300) : spoilt.length)
      const to = Math.min(spoilt.length, at + 1 + chance.below(20))
      const [before, within, after] = [spoilt.subarray(0, at), spoilt.subarray(at, to), spoilt.subarray(to)]
      const spoil = chance.pick<() => Buffer[]>([
        () => [before, Buffer.from([chance.below(256)]), spoilt.subarray(at + 1)],
        () => [before, after],
        () => [before, within, within, after],
        () => [before],
        () => [before, Buffer.from(chance.pick(TOKENS), 'latin1'), spoilt.subarray(at)],
        () => [spoilt, bytes.subarray(0, chance.below(bytes.length))],
      ])
      spoilt = Buffer.concat(spoil())
    }
    return spoilt
  }

  #toService(): FuzzedRequest {
    const chance = this.#chance
    const operation = chance.pick(this.#service.operations)
    const key = chance.happens(0.9)
      ? chance.pick(this.#keys)
      : chance.pick(['', 'x', 'sandbox_', `sandbox_${chance.below(9)}`])
    const fields = chance.happens(0.97) ? [`Authorization: Bearer ${key}`] : ['Authorization: Basic eDp5']
    if (chance.happens(0.05)) fields.push(`Prefer: ${chance.pick(PREFERENCES)}`)
    return this.#write('service', operation, operation.path, fields)
  }

  #toControl(): FuzzedRequest {
    const operation = this.#chance.pick(this.#control.operations)
    const path = operation.path.replaceAll(/\{([\w-]+)\}/g, (_, name: string) => this.#parameter(name))
    return this.#write('control', operation, path, [])
  }

  #parameter(name: string): string {
    const chance = this.#chance
    if (name === 'account' && chance.happens(0.5)) return 'default'
    if (name === 'set') return chance.pick(['flaky', 'quota-storm', 'lossy-writes', 'unknown'])
    if (this.#known.length === 0 || chance.happens(0.1)) return chance.pick(['x', '%', '%00', '..', '%2F', '__proto__'])
    return escapeText(chance.pick(this.#known)) || 'x'
  }

  #write(plane: FuzzedRequest['plane'], operation: Operation, place: string, fields: string[]): FuzzedRequest {
    const chance = this.#chance
    const method = chance.happens(0.96) ? operation.method : chance.pick(METHODS)
    const path = (chance.happens(0.97) ? place : chance.pick(PATHS)) + this.#query(operation)
    const base = plane === 'service' ? this.#service.basePath : '/__admin'
    const all = ['Host: localhost', ...fields]
    while (chance.happens(0.06)) all.push(chance.pick(FIELDS))
    const body = operation.readsBody || chance.happens(0.03) ? Buffer.from(this.#body(operation), 'utf8') : undefined
    if (body !== undefined && chance.happens(0.97)) all.push('Content-Type: application/json')
    const chunked = body !== undefined && chance.happens(0.1)
    if (body !== undefined) all.push(chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`)
    const head = Buffer.from([`${method} ${base}${path} HTTP/1.1`, ...all, '', ''].join('\r\n'), 'latin1')
    return { plane, method, path, bytes: Buffer.concat([head, ...(body === undefined ? [] : frame(body, chunked))]) }
  }

  #query({ parameters }: Operation): string {
    const chance = this.#chance
    const parts: string[] = []
    for (const [name, schema] of parameters) {
      if (!chance.happens(0.5)) continue
      const value = this.#values.of(schema)
      const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
      parts.push(`${name}=${escapeText(text)}`)
    }
    if (chance.happens(0.03))
      parts.push(chance.pick(['x=1', 'id=', '&&', '%', 'id=%ff', 'id=a&id=b', '__proto__=x', '=']))
    return parts.length === 0 ? '' : `?${parts.join('&')}`
  }

  #body({ bodySchema }: Operation): string {
    const chance = this.#chance
    if (chance.happens(0.03)) return chance.pick(BAD_TEXTS)
    if (chance.happens(0.004)) return '['.repeat(100_000)
    if (chance.happens(0.004)) return `{"domains":${'['.repeat(50_000)}${']'.repeat(50_000)}}`
    if (chance.happens(0.002))
      return JSON.stringify({ name: 'x', domains: Array(150_000).fill(chance.pick(['', 0, 'a.b'])) })
    return tame(JSON.stringify(this.#values.of(bodySchema)) ?? '')
  }
}

/** A text for a target; lone surrogates, which have no UTF-8, are replaced. */
function escapeText(text: string): string {
  return encodeURIComponent(Buffer.from(text.slice(0, 1_000)).toString())
}

/** A fault may keep an answer back for minutes or for good, which proves nothing here. */
function tame(json: string): string {
  return json
    .replaceAll(/"(delay_ms|jitter_ms)":(\d+)/g, (whole, name, digits) =>
      Number(digits) > 600_000 ? whole : `"${name}":${Number(digits) % 4}`,
    )
    .replaceAll('"hang"', '"reset"')
}

function frame(body: Buffer, chunked: boolean): Buffer[] {
  if (!chunked) return [body]
  const size = Buffer.from(`${body.length.toString(16)};extension=x\r\n`)
  return body.length === 0 ? [Buffer.from('0\r\n\r\n')] : [size, body, Buffer.from('\r\n0\r\nX-Trailer: x\r\n\r\n')]
}
