import { readFileSync } from 'node:fs'
import fc, { type Arbitrary } from 'fast-check'
import type { Operation } from '../../src/contract/api.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { isObject } from '../../src/ground/json.ts'
import { controlApi } from '../support/control-plane.ts'
import type { Received } from '../support/request.ts'
import { API_KEY } from '../support/service.ts'
import { weighted } from '../support/weighted.ts'
import { fixtures, groupNames, HOSTNAMES, hostnames } from './fixtures.ts'
import { DAYS, orNothing, type Texts, valuesFor, withoutNothing } from './values.ts'

/** A request. References in it, such as `<group:3>`, stand for what the service has named so far. */
export interface Asked {
  method: string
  /** With the query. */
  path: string
  body: unknown
  /** Only of a request to the service; absent where it has none. */
  key?: string | undefined
  isControl: boolean
  operation?: string
}

/**
 * `carry`: what is exported is imported elsewhere, and exported there. `hours`: so many pass on the machine. `during`: the
 * server is lost while it has the request, so many turns of the event loop after the client has begun to send it.
 */
export type Step = Asked | (typeof EVENTS)[number] | { hours: number } | { during: Asked; turns: number }
const EVENTS = ['restart', 'loss', 'carry', 'read everything', 'use everything'] as const

export const OTHER_KEY = 'the-key-of-the-other-account'

/** What comes never to an end, is of the process and not of the account, or is a page. */
const LEFT_OUT = /^(stream.*|get(Dashboard|Health|Readiness|Document))$/
const { operations: SERVICE } = await loadContract()
const CONTROL = controlApi.operations.filter(({ id }) => !LEFT_OUT.test(id))

const reference = (kind: string) => fc.nat({ max: 5 }).map((number) => `<${kind}:${number}>`)
const crowds = fc.constantFrom(50, 51).map((count) => Array.from({ length: count }, (_, n) => `n${n}.example`))
const members = weighted([12, fc.array(hostnames, { maxLength: 4 })], [1, crowds])
const snapshotNames = fc.constantFrom('one', 'two')
const accounts = weighted([8, fc.constant('default')], [3, fc.constant('other')], [1, reference('account')])

/** What the documents do not say of texts. */
const TEXTS: Texts = {
  account: accounts,
  like: accounts,
  fixture: fixtures,
  domain: fc.constantFrom(...HOSTNAMES.map((name) => name.toLowerCase())),
  domains: members,
  add_domains: members,
  remove_domains: members,
  group: reference('group'),
  id: reference('group'),
  key: reference('key'),
  fault: reference('fault'),
  request_id: reference('request'),
  'request-id': reference('request'),
  before: reference('request'),
  snapshot: snapshotNames,
  set: fc.constantFrom('flaky', 'quota-storm', 'lossy-writes', 'slow', 'none'),
  plan: fc.constantFrom('stone', 'above-stone', 'below-stone', 'gold'),
  bucket: fc.constantFrom('dmarc', 'domains', 'domaingroups', 'nothing'),
  features: fc.subarray(['bimi', 'mta-sts']),
  from: DAYS,
  to: DAYS,
  operation: fc.constantFrom(...SERVICE.map(({ id }) => id)),
  error: fc.constantFrom('internal_error', 'rate_limited', 'not_found', 'duplicate_name', 'none'),
}
const OF_ONE: Readonly<Record<string, Texts>> = {
  takeSnapshot: { name: snapshotNames },
  createAccount: { id: fc.constantFrom('other', 'third', 'fourth') },
  updateClock: { to: fc.constantFrom('window-end', 'refresh', 'grace-end') },
}

const fixtureDocuments = fixtures.map((fixture) =>
  typeof fixture === 'string' ? JSON.parse(readFileSync(`fixtures/${fixture}.json`, 'utf8')) : fixture,
)

const otherKeys = fc.constantFrom(OTHER_KEY, 'sandbox_new', '<secret:0>', '<secret:1>', 'nobody', undefined)
const keys = weighted([20, fc.constant<string | undefined>(API_KEY)], [3, otherKeys])

function requestsOf(operation: Operation, isControl: boolean): Arbitrary<Asked> {
  const { id, method, path, bodySchema, parameterSchemas, bodyOptional } = operation
  const texts: Texts = { ...TEXTS, name: groupNames, ...OF_ONE[id] }
  const steps = [...path.matchAll(/\{([\w-]+)\}/g)].map(([, name = '']) => [name, texts[name]])
  const query = [...parameterSchemas].map(([name, schema]) => {
    return [name, orNothing(texts[name] ?? valuesFor(schema, { texts }), isControl ? 8 : 60)] as const
  })
  const drawnBody = id === 'importState' ? fixtureDocuments : valuesFor(bodySchema, { texts })
  return fc
    .record({
      steps: fc.record(Object.fromEntries(steps) as Record<string, Arbitrary<string>>),
      query: fc.record(Object.fromEntries(query)).map(withoutNothing),
      body: bodySchema === undefined ? fc.constant(undefined) : bodyOptional ? orNothing(drawnBody) : drawnBody,
      key: isControl ? fc.constant(undefined) : keys,
    })
    .map(({ steps, query, body, key }) => {
      const route = path.replaceAll(/\{([\w-]+)\}/g, (_, name) => encode(steps[name]))
      const parameters = Object.entries(query).map(([name, value]) => `${name}=${encode(value)}`)
      const target = parameters.length === 0 ? route : `${route}?${parameters.join('&')}`
      return { operation: id, method, path: target, body, key, isControl }
    })
}

/** A reference is encoded where it is resolved. */
function encode(value: unknown): string {
  const text = [value].flat().join(',')
  return text.startsWith('<') ? text : encodeURIComponent(`${Buffer.from(text)}`)
}

/** Changes come more often than what only reads, which is done at the end anyway. */
const weightOf = ({ method }: Operation) => (method === 'GET' ? 1 : 3)

const requests = weighted<Asked>(
  ...SERVICE.map((each) => [3 * weightOf(each), requestsOf(each, false)] as const),
  ...CONTROL.map((each) => [weightOf(each), requestsOf(each, true)] as const),
)

export const stepLists: Arbitrary<Step[]> = fc.array(
  weighted<Step>(
    [80, requests],
    [12, fc.constantFrom<Step>(...EVENTS)],
    [3, fc.constantFrom(1, 25, 24 * 400).map((hours) => ({ hours }))],
    [4, fc.record({ during: requests, turns: fc.constantFrom(1, 30, 100, 300, 1_000) })],
  ),
  { minLength: 1, maxLength: 30, size: 'max' },
)

function service(method: string, path: string, body?: unknown, key = API_KEY): Asked {
  return { method, path, body, key, isControl: false }
}

export function control(method: string, path: string, body?: unknown): Asked {
  return { method, path, body, isControl: true }
}

const PERIOD = '?from=2026-01-01&to=2026-01-20'

/** Every request that only reads an account, or what belongs to none. */
export function readings(account: string, key: string): Asked[] {
  const readsOf = (operations: readonly Operation[]) =>
    operations
      .filter(({ method, path }) => method === 'GET' && !path.replace('{account}', '').includes('{'))
      .map(({ id, path }) => path.replace('{account}', account) + (id === 'listDailyRecords' ? PERIOD : ''))
  return [
    ...readsOf(SERVICE).map((path) => service('GET', path, undefined, key)),
    ...readsOf(CONTROL).map((path) => control('GET', path)),
  ]
}

const ofDefault = (method: string, path: string, body?: unknown) => control(method, `/accounts/default${path}`, body)

/** A use of whatever changes an account, such as succeeds in nearly every one, however near to a limit it is. */
export const USES: readonly Asked[] = [
  service('POST', '/domaingroups', { name: 'Used 1' }),
  service('PATCH', '/domaingroups?id=<group:0>', { name: 'Used' }),
  service('DELETE', '/domaingroups?id=<group:0>'),
  service('POST', '/domains', { domains: ['used.example'] }),
  service('DELETE', '/domains', { domains: ['used.example'] }),
  ofDefault('POST', '/domains', { domains: ['used.example'] }),
  ofDefault('PUT', '/domains/used.example/features', { features: ['bimi'] }),
  ofDefault('PUT', '/domains/used.example/dmarc', { p: 'reject', dmarc: 100 }),
  ofDefault('POST', '/groups', { name: 'Used 2', domains: ['used.example'] }),
  ofDefault('POST', '/groups', { name: 'Used 3' }),
  ofDefault('POST', '/groups', { name: 'Used 4' }),
  ofDefault('PATCH', '/groups/<group:0>', { name: 'Used 5' }),
  ofDefault('DELETE', '/groups/<group:0>'),
  ofDefault('POST', '/keys', {}),
  ofDefault('PATCH', '/keys/<key:0>', { disabled: true }),
  ofDefault('DELETE', '/keys/<key:0>'),
  ofDefault('PATCH', '/quotas', { bucket: 'domains', remaining: 9 }),
  ofDefault('PATCH', '/clock', { advance: 'PT1S' }),
  ofDefault('POST', '/snapshots', { name: 'used' }),
  ofDefault('POST', '/snapshots/used/restore'),
  ofDefault('DELETE', '/snapshots/used'),
  ofDefault('POST', '/requests/verify', { match: {} }),
]

/** What answers have named: groups, keys, faults, accounts, secrets, requests. References of later requests mean them. */
export class Known {
  readonly #names = new Map<string, string[]>()

  /** A request of nobody is of one server, so nobody asks for it. */
  learn({ status, headers, body }: Received, { isControl }: Asked): void {
    if (!isControl && status !== 401 && headers['x-request-id'] !== undefined)
      this.#add('request', headers['x-request-id'])
    if (isObject(body)) this.#search(body['data'])
  }

  /** Nobody can ask for a request that nobody remembers. */
  forgetRequests(): void {
    this.#names.delete('request')
  }

  resolve({ path, body, key, ...asked }: Asked): Asked {
    return {
      ...asked,
      path: this.#replace(path, encodeURIComponent),
      body: body === undefined ? undefined : JSON.parse(this.#replace(JSON.stringify(body))),
      key: key === undefined ? undefined : this.#replace(key),
    }
  }

  /** A group is what a field `group` or `groups` holds, with its `id`, and so on. */
  #search(data: unknown): void {
    for (const [name, value] of Object.entries(isObject(data) ? data : {})) {
      if (name === 'api_key' && typeof value === 'string') this.#add('secret', value)
      for (const item of [value].flat()) {
        if (isObject(item) && typeof item['id'] === 'string') this.#add(name.replace(/s$/, ''), item['id'])
      }
    }
  }

  #add(kind: string, name: string): void {
    const names = this.#names.get(kind) ?? []
    if (!names.includes(name)) this.#names.set(kind, [...names, name])
  }

  /** The newest has the number 0. */
  #replace(text: string, write: (name: string) => string = (name) => name): string {
    return text.replaceAll(/<(\w+):(\d+)>/g, (_, kind, number) => {
      const names = this.#names.get(kind) ?? []
      return write(names.at(-1 - (Number(number) % Math.max(1, names.length))) ?? `no-${kind}`)
    })
  }
}
