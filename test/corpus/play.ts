import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import type { PlannedRequest } from '../../src/behaviour/planned-request.ts'
import type { ExplanationReport } from '../../src/explain/explanation.ts'
import type { Understudy } from '../../src/index.ts'
import { ACCOUNT } from '../support/account.ts'
import { type ControlResponse, expectDocumented } from '../support/control-plane.ts'
import { encodeBody, fieldsOf, type Received, receivedOf, type SentHeaders } from '../support/request.ts'
import { expectLawful, operationAt, START } from '../support/service.ts'
import type { Row, Sent } from './corpus.ts'

/** Where requests to the service are sent; the control plane is asked by `service.fetch`, whatever the surface. */
export interface Surface {
  service: Understudy
  /** `target` begins at the root of the server. */
  send(method: string, target: string, headers: SentHeaders, body?: Buffer): Promise<Received>
}

/** What has become of a row. */
export interface Played {
  service: Understudy
  /** The account that the row had for itself. */
  account: string
  /** Below the account's path. */
  control(method: string, path: string, body?: unknown): Promise<ControlResponse>
  send(sent: Sent): Promise<Received>
  /** The account's domains and groups, as a fixture, before the request; `undefined` if nobody watches. */
  before: unknown
  received: Received
}

/**
 * Sends the request of a row to an account of its own, which is as the row wants it, and holds the answer to the contract.
 * `isWatched` tells whether the state before it is asked for.
 */
export async function play(surface: Surface, row: Row, isWatched = false): Promise<Played> {
  const { given } = row
  const number = numberOf(row)
  const [account, keys] = [accountOf(row), keysOf(number)]

  const control = (method: string, path: string, body?: unknown) =>
    askDirectly(surface.service, method, `/accounts/${account}${path}`, body)
  const send = (sent: Sent) => sendTo(surface, sent, keys)
  const fixture = {
    ...(given.account ?? { domains: ACCOUNT.domains, groups: ACCOUNT.groups }),
    keys: [
      { key: keys.second },
      { key: keys.disabled, disabled: true },
      { key: keys.new, created_at: given.clock ?? new Date(START - 1_800_000).toISOString() },
    ],
  }
  const created = await askDirectly(surface.service, 'POST', '/accounts', {
    id: account,
    fixture,
    now: given.clock ?? new Date(START).toISOString(),
    frozen: true,
    api_key: keys.own,
    ...(given.plan !== undefined && { plan: given.plan }),
  })
  expect(created.status, created.text).toBe(201)
  for (const each of given.requests ?? []) await send(each)
  for (const [bucket, remaining] of Object.entries(given.left ?? {})) {
    expect((await control('PATCH', '/quotas', { bucket, remaining })).status).toBe(200)
  }
  if (given.after !== undefined) await control('PATCH', '/clock', { advance: given.after })
  const before = isWatched ? await stateOf({ control }) : undefined
  return { service: surface.service, account, control, send, before, received: await send(row) }
}

/** The seeds of an account come from its id, so that a row has the same answer wherever it is played. */
function numberOf({ id }: Row): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 48)
}

/** The id of the account that a row has for itself. */
export function accountOf(row: Row): string {
  return `row-${numberOf(row).slice(0, 16)}`
}

/** Domains and groups of an account, as a fixture. */
export async function stateOf({ control }: Pick<Played, 'control'>): Promise<unknown> {
  const { domains, groups } = (await control('GET', '/state')).data
  return { domains, groups }
}

/** Holds an answer to what the row says. */
export function expectAnswer({ answer }: Row, { status, headers, body }: Received): void {
  expect({ status, error: body?.error }).toEqual({
    status: answer.status,
    // Nothing but its status tells of a refusal of HEAD.
    error: answer.message === undefined ? undefined : { code: answer.code, message: answer.message },
  })
  if (answer.data !== undefined) expect(body.data).toEqual(answer.data)
  if (answer.records !== undefined) expect(body.data.map(recordOf)).toEqual(answer.records)
  for (const [name, value] of Object.entries(answer.headers ?? {})) expect(headers[name] ?? null, name).toBe(value)
}

/** Of a record, what no figure decides. */
function recordOf({ domain, p }: { domain: string; p: string }): string {
  return `${domain} ${p}`
}

/** Sends requests that the stand-in proposes for an account; the answer to the last of them. */
export async function sendPlanned(played: Played, requests: readonly PlannedRequest[]): Promise<Received | undefined> {
  let last: Received | undefined
  for (const { plane, method, path, body } of requests) {
    if (plane === 'service') last = await played.send({ send: `${method} ${path}`, body })
    else {
      const { status, text } = await askDirectly(played.service, method, path, body)
      expect(status, text).toBeLessThan(300)
    }
  }
  return last
}

/** Everything behind the answer. */
export async function explain({ service, received }: Played): Promise<ExplanationReport> {
  const { status, text, data } = await askDirectly(service, 'GET', `/explain/${received.headers['x-request-id']}`)
  expect(status, text).toBe(200)
  return data
}

/** Asks the control plane without a connection, and holds its answer to its document. */
export async function askDirectly(
  service: Understudy,
  method: string,
  path: string,
  body?: unknown,
): Promise<ControlResponse> {
  const content = encodeBody(body)
  const received = await receive(
    await service.fetch(`http://localhost/__admin${path}`, {
      method,
      headers: Object.fromEntries(fieldsOf(content, {})),
      ...(content !== undefined && { body: content }),
    }),
  )
  const response = { ...received, data: received.body?.data, error: received.body?.error }
  expectDocumented(method, path, response)
  return response
}

export async function receive(response: Response): Promise<Received> {
  return receivedOf(response.status, Object.fromEntries(response.headers), await response.text())
}

type Keys = Record<'own' | 'second' | 'disabled' | 'new', string>

/** Keys that no other account has. */
function keysOf(number: string): Keys {
  const key = (name: string) => `key_${name}.${number}`
  return { own: key('RowsKey1'), second: key('RowsKey2'), disabled: key('RowsKey3'), new: key('RowsKey4') }
}

function authorizationOf(key: Sent['key'], keys: Keys): string | null {
  if (key === 'none') return null
  if (key === 'unknown') return `Bearer ${keys.own}0`
  if (key === 'bearer') return `bearer ${keys.own}`
  return `Bearer ${keys[key ?? 'own']}`
}

async function sendTo(surface: Surface, sent: Sent, keys: Keys): Promise<Received> {
  const [method = '', path = ''] = sent.send.split(' ')
  const { contract } = surface.service
  const target = path.startsWith('//') ? path.slice(1) : contract.basePath + path
  const { text, base64 } = sent
  const body = base64 === undefined ? encodeBody(text ?? sent.body) : Buffer.from(base64, 'base64')
  const received = await surface.send(
    method,
    target,
    { authorization: authorizationOf(sent.key, keys), ...sent.headers },
    body,
  )
  // Another choice may accept what no operation documents, such as a path in another case, and have no HEAD.
  const below = target.startsWith(contract.basePath) ? target.slice(contract.basePath.length) : `/${target}`
  const isDocumented =
    operationAt(contract, method, below) !== undefined && !(method === 'HEAD' && received.status === 405)
  if (isDocumented || (method !== 'HEAD' && received.status >= 400)) {
    expectLawful(contract, method, below, received)
  }
  return received
}
