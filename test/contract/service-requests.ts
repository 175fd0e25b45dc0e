import { expect } from 'vitest'
import { valueAt } from '../../src/ground/json.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import { type SentHeaders, sendRequest } from '../support/request.ts'
import { API_KEY, type TestResponse, type TestService } from '../support/service.ts'
import { readResponses } from '../support/wire.ts'
import type { Behaviour } from './behaviours.ts'

export const monitoring = (...domains: string[]): ServerOptions => ({ fixture: { domains } })
export const SHOP = { fixture: { domains: ['a.example'], groups: [{ name: 'Shop', domains: ['a.example'] }] } }
export const numbered = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name}${index}.example`)

/** Status, and the code of a refusal: `400 missing_id`. */
export function outcome({ status, body }: { status: number; body?: unknown }): string {
  const code = valueAt(body, '/error/code')
  return code === undefined ? `${status}` : `${status} ${code}`
}

export type Step = (service: TestService) => Promise<TestResponse>

/** A request such as `GET /domains`. In its path, `{group}` and `{other}` are the ids of the first two groups. */
export const ask =
  (request: string, body?: unknown, headers?: SentHeaders): Step =>
  async (service) => {
    const [method = '', path = ''] = request.split(' ')
    if (!path.includes('{')) return service.send(method, path, body, headers)
    const [group, other] = (await service.get('/domaingroups')).body.data.groups
    return service.send(method, path.replace('{group}', group.id).replace('{other}', other?.id), body, headers)
  }

/** A request with another key, or without one. */
export const askAs = (authorization: string | null, request = 'GET /domains') =>
  ask(request, undefined, { authorization })

/** A request that no operation documents, which the harness would hold against the server. */
export const askUndocumented =
  (request: string, headers: SentHeaders = { authorization: `Bearer ${API_KEY}` }): Step =>
  (service) => {
    const [method = '', path = ''] = request.split(' ')
    return sendRequest(method, service.baseUrl + path, undefined, headers)
  }

/** Bytes on a connection of their own. */
export const sendBytes =
  (bytes: string): Step =>
  async (service) =>
    responseIn(await service.sendRaw(bytes))

/** The response in what a connection brought; its status is 0 where nothing came. */
export function responseIn(bytes: string): TestResponse {
  const [{ status, headers, text } = { status: 0, headers: [], text: '' }] = readResponses(bytes)
  const named = headers.map(([name, value]) => [name.toLowerCase(), value])
  return { status, headers: Object.fromEntries(named), text, body: text === '' ? undefined : JSON.parse(text) }
}

export const LIST = ask('GET /domains')
export const FIGURES = ask('GET /dmarc')
export const GROUPS = ask('GET /domaingroups')
export const NONSENSE = sendBytes('NONSENSE\r\n\r\n')
export const add = (...domains: unknown[]) => ask('POST /domains', { domains })
export const remove = (...domains: unknown[]) => ask('DELETE /domains', { domains })
export const create = (name: unknown, ...domains: string[]) =>
  ask('POST /domaingroups', domains.length === 0 ? { name } : { name, domains })
export const change = (changes: object) => ask('PATCH /domaingroups?id={group}', changes)

/** Asks until the quota of GET /dmarc is used up, and once more. */
export async function exhaust(service: TestService): Promise<TestResponse> {
  for (let sent = 0; sent < 10; sent++) expect((await service.get('/dmarc')).status).toBe(200)
  return service.get('/dmarc')
}

/** What is asked, and what shows as chosen and with each alternative; one alone shows with all of them. */
type Row<Asked> = readonly [asked: Asked, ...shown: unknown[]]

export function columnsOf(rows: readonly Row<unknown>[]): Pick<Behaviour, 'chosen' | 'alternatives'> {
  const [chosen, ...alternatives] = Array.from(
    { length: Math.max(...rows.map(({ length }) => length)) - 1 },
    (_, way) => rows.map(([, ...shown]) => (shown.length === 1 ? shown[0] : shown[way])),
  )
  return { chosen, alternatives }
}

/** A behaviour that something of each of some responses shows. */
export const shows =
  (show: (response: TestResponse) => unknown) =>
  (id: string, options: ServerOptions, rows: readonly Row<Step>[]): Behaviour => ({
    id,
    options,
    async observe(service) {
      const shown: unknown[] = []
      for (const [step] of rows) shown.push(show(await step(service)))
      return shown
    },
    ...columnsOf(rows),
  })

export const outcomes = shows(outcome)
/** The outcomes, with the names in the data: `200 a.example, b.example` or `200 Shop: a.example b.example, Empty`. */
export const answers = shows((response) => [outcome(response), namesIn(response)].join(' ').trimEnd())
export const header = (name: string) => shows(({ headers }) => headers[name])
/** The outcomes, with what is left of the quota: `200 29`, or `401 unauthorized -`. */
export const remaining = shows((response) => `${outcome(response)} ${response.headers['x-ratelimit-remaining'] ?? '-'}`)

function namesIn({ body }: TestResponse): string {
  const { data = {} } = body
  const { group, groups = group === undefined ? [] : [group], count } = data
  const domains: string[] = Array.isArray(data) ? data.map(({ domain }) => domain) : (data.domains ?? [])
  const members = groups.map((each: { name: string; domains: string[] }) =>
    each.domains.length === 0 ? each.name : `${each.name}: ${each.domains.join(' ')}`,
  )
  const names = [...domains, ...members]
  if (count !== undefined) expect(count).toBe(names.length)
  return names.join(', ')
}
