import { gunzipSync } from 'node:zlib'
import { type Exchange, KnownBody } from '../../src/exchanges/exchange.ts'
import { headersOf } from '../support/exchanges.ts'
import type { Departure } from './departures.ts'
import { draws } from './draw.ts'
import type { Trouble } from './listener.ts'
import type { Profile } from './profile.ts'
import { emptyAccount, IndependentService, type ServiceRequest, type ServiceResponse } from './service.ts'
import type { Asking, AskOptions, Session } from './sessions.ts'

export const KEY = 'key-of-the-account'
/** In the middle of an hour of the day, and two days before the end of a month. */
export const BEGIN = Date.parse('2026-01-29T09:20:00Z')
const LASTS = 40
/** Slow enough that a read shows what was written before it, even where reads are a second old. */
const PACE = 1_500

/**
 * A service with a departure and its honest twin, which is asked the same. Where they answer the same, no judge in the
 * world can see the departure.
 */
export class Twins {
  readonly service: IndependentService
  readonly #honest: IndependentService
  /** The first answer that the honest service would not have given. */
  shown: string | undefined
  /** Its number among all answers. */
  shownAt = 0
  #answers = 0

  constructor(profile: Profile, departure?: Departure, domains: readonly string[] = []) {
    this.service = new IndependentService(profile, departure, accountOf(domains))
    this.#honest = new IndependentService(profile, {}, accountOf(domains))
  }

  get account() {
    return this.service.account
  }

  answer(request: ServiceRequest, now: number): ServiceResponse {
    const response = this.service.answer(request, now)
    const honest = this.#honest.answer(request, now)
    this.#answers += 1
    if (this.shown === undefined && !isSame(response, honest)) {
      this.shownAt = this.#answers
      this.shown = `${request.method} ${request.target.replace('/api/v1', '')} → ${response.status}`
    }
    return response
  }
}

function isSame(one: ServiceResponse, other: ServiceResponse): boolean {
  const isEqual = one.status === other.status && Buffer.compare(one.body, other.body) === 0
  return isEqual && JSON.stringify(one.headers) === JSON.stringify(other.headers)
}

function accountOf(domains: readonly string[]) {
  const account = emptyAccount([KEY])
  account.domains.push(...domains)
  return account
}

export interface Played {
  /** What becomes of a request on its way. */
  trouble?: Trouble | undefined
  begin?: number | undefined
  /** Milliseconds from one request to the next. */
  pace?: number
}

/** The exchanges of a session, as a recorder keeps them that sees no key. */
export function play(
  session: Session,
  service: Pick<IndependentService, 'answer'>,
  { trouble, begin = BEGIN, pace = PACE }: Played = {},
): Exchange[] {
  const exchanges: Exchange[] = []
  let now = begin
  const ask = (method: string, target: string, options: AskOptions = {}) => {
    const number = exchanges.length + 1
    const request = requestOf(method, target, options)
    const came = trouble?.with(request, now, number) ?? 'pass'
    const response = came === 'pass' ? service.answer(request, now) : came === 'cut' ? undefined : came
    exchanges.push(exchangeOf(request, response, now, number))
    now += pace
    const content = response === undefined ? undefined : readEnvelope(response)
    return { status: response?.status ?? 0, data: (content?.data ?? {}) as Record<string, unknown> }
  }
  const wait = (milliseconds: number) => {
    now += milliseconds
  }
  session(Object.assign(ask, { wait }) as Asking)
  return exchanges
}

function requestOf(method: string, target: string, { body, authorization, headers }: AskOptions): ServiceRequest {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const key = authorization === undefined ? `Bearer ${KEY}` : authorization
  return {
    method,
    target: `/api/v1${target}`,
    headers: {
      host: 'dmarc.example',
      ...(key !== null && { authorization: key }),
      ...(text !== undefined && {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(text)),
      }),
      ...headers,
    },
    body: Buffer.from(text ?? ''),
  }
}

function readEnvelope(response: ServiceResponse): { data?: unknown } | undefined {
  try {
    return JSON.parse(bytesOf(response).toString())
  } catch {
    return undefined
  }
}

function bytesOf({ headers, body }: ServiceResponse): Buffer {
  const isPacked = headers.some(([name, value]) => name === 'Content-Encoding' && value === 'gzip')
  return isPacked && body.length > 0 ? gunzipSync(body) : Buffer.from(body)
}

function exchangeOf(
  request: ServiceRequest,
  response: ServiceResponse | undefined,
  at: number,
  number: number,
): Exchange {
  const { authorization, ...headers } = request.headers
  const [scheme = '', ...rest] = (authorization ?? '').split(' ')
  const secret = rest.join(' ')
  const fields = (response?.headers ?? []).filter(([name]) => name !== 'Content-Encoding')
  return {
    id: `exchange ${number}`,
    at,
    until: at + LASTS,
    overlaps: false,
    request: {
      method: request.method,
      target: request.target,
      headers: headersOf(Object.entries(headers)),
      credentials:
        authorization === undefined
          ? { kind: 'none' }
          : {
              kind: 'sent',
              scheme,
              key: secret === KEY ? 'key 1' : `key of ${secret.length}`,
              isWord: /^\S+$/.test(secret),
            },
      body: new KnownBody(Buffer.from(request.body)),
    },
    response: response && {
      status: response.status,
      headers: headersOf([...fields, ['Date', new Date(at).toUTCString()]]),
      body: new KnownBody(bytesOf(response)),
    },
  }
}

/** A session that a client might have had: requests of all kinds, in any order. */
export function randomSession(seed: number, length: number): Session {
  const { one, chance, number } = draws(seed)
  const names = ['a.example', 'b.example', 'c.a.example', 'd-e.example', 'F.example', 'a.example.']
  const odd = ['bad name', '', 'x..y', 'bücher.example', 'under_score.example', 'single', '10.0.0.1', 'a.example.']
  const titles = ['Web', 'web', 'Mail', ' Mail ', 'Straße', 'STRASSE', '', 'n'.repeat(100), 'n'.repeat(101), '📮']
  const some = <T>(from: readonly T[]) => from.filter(() => chance(0.4))
  return (ask) => {
    const ids = ['none']
    const id = () => one(ids)
    const learn = ({ data }: { data: Record<string, unknown> }) => {
      const listed = Array.isArray(data?.['groups']) ? data['groups'] : []
      for (const group of [data?.['group'], ...listed] as ({ id?: string } | undefined)[]) {
        if (group?.id !== undefined && !ids.includes(encodeURIComponent(group.id)))
          ids.unshift(encodeURIComponent(group.id))
      }
    }
    const acts: (() => void)[] = [
      () => ask('GET', '/domains'),
      () => ask('GET', '/dmarc'),
      () => learn(ask('GET', '/domaingroups')),
      () => ask('GET', `/domaingroups?id=${id()}`),
      () => ask('POST', '/domains', { body: { domains: some(names) } }),
      () => ask('POST', '/domains', { body: { domains: [...some(odd), ...some(names)] } }),
      () => ask('DELETE', '/domains', { body: { domains: some(names) } }),
      () => learn(ask('POST', '/domaingroups', { body: { name: one(titles), domains: some(names) } })),
      () => learn(ask('POST', '/domaingroups', { body: { name: one(titles) } })),
      () => ask('PATCH', `/domaingroups?id=${id()}`, { body: { name: one(titles) } }),
      () => ask('PATCH', `/domaingroups?id=${id()}`, { body: { domains: some(names) } }),
      () => ask('PATCH', `/domaingroups?id=${id()}`, { body: { add_domains: some(names), remove_domains: some(odd) } }),
      () => ask('DELETE', `/domaingroups?id=${id()}`),
      () => ask('DELETE', '/domaingroups'),
      () =>
        ask('GET', one(['/domaingroups?id=', '/domains?page=2', '/nowhere', '/domains/', '/domaingroups?id=a&id=b'])),
      () => ask(one(['PUT', 'PATCH', 'OPTIONS', 'HEAD']), one(['/domains', '/dmarc'])),
      () =>
        ask('POST', one(['/domains', '/domaingroups']), { body: one(['{', '[]', 'null', '7', '', '{}', '{"x":1}']) }),
      () => ask('POST', '/domains', { body: { domains: one([null, 'a.example', [7], [null], {}]) } }),
      () => ask('POST', '/domaingroups', { body: { name: one([null, 7, []]), domains: some(names) } }),
      () =>
        ask('POST', '/domains', {
          body: { domains: some(names) },
          headers: { 'content-type': one(['text/plain', 'application/json; charset=latin1']) },
        }),
      () =>
        ask('POST', '/domains', {
          body: { domains: some(names) },
          headers: { 'content-encoding': one(['gzip', 'identity']) },
        }),
      () =>
        ask('GET', one(['/domains', '/dmarc', '/domaingroups']), {
          authorization: one([null, 'Bearer wrong', 'Bearer', `bearer ${KEY}`]),
        }),
      () => ask.wait(one([1_000, 60_000, 3_600_000, 26 * 3_600_000])),
      () => {
        const path = one(['/dmarc', '/domains'] as const)
        if (chance(0.3)) for (let request = 0; request < (path === '/dmarc' ? 12 : 32); request++) ask('GET', path)
      },
    ]
    for (let step = 0; step < length; step++) (acts[Math.floor(number() * acts.length)] as () => void)()
  }
}
