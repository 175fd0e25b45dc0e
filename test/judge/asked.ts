import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import { type Alternative, nameOf } from '../../src/contract/choices.ts'
import type { Contract } from '../../src/contract/contract.ts'
import type { Exchange } from '../../src/exchanges/exchange.ts'
import { readJson, valueAt } from '../../src/ground/json.ts'
import { type DecidingRequest, QUESTIONS } from '../../src/judge/questions.ts'
import type { ServerOptions } from '../../src/server/options.ts'
import { exchangeWith } from '../support/exchanges.ts'
import { API_KEY, openService } from '../support/service.ts'

const NEW_KEY = 'key_NewKey01.111111111111111111111111111111111111111111111111'
const ACCOUNT = {
  domains: ['a.example', 'c.example'],
  groups: [{ name: 'Shop', domains: ['c.example'] }, { name: 'Mail' }],
}
/** What a probe needs of the account beyond two domains and two groups, and what happens between its requests. */
interface Circumstances {
  options?: ServerOptions
  /** How much time passes before the last request, in milliseconds. */
  wait?: number
  key?: string
}

const DEMO: Circumstances = { options: { fixture: 'demo' } }
const YOUNG: Circumstances = {
  options: { fixture: { ...ACCOUNT, keys: [{ key: NEW_KEY, created_at: '2026-01-14T00:00:00Z' }] } },
  key: NEW_KEY,
}
const HOUR = 3_600_000
const CIRCUMSTANCES: Readonly<Record<string, Circumstances>> = {
  decimals: DEMO,
  percentages: DEMO,
  'policies-without-record': { options: { fixture: 'edge-cases' } },
  grace: YOUNG,
  // The clock stands at half past nine.
  'refresh-time': { ...DEMO, wait: 18 * HOUR },
  'refresh-time/2': { ...DEMO, wait: 13 * HOUR },
}
interface Asked {
  baseUrl: string
  /** Lets so many milliseconds pass for the service. */
  advance(milliseconds: number): unknown
}

/** The options of a service that is asked what it has chosen. */
export function optionsFor(alternative: Alternative): ServerOptions {
  return { fixture: ACCOUNT, ...circumstancesOf(alternative).options }
}

function circumstancesOf(alternative: Alternative): Circumstances {
  return CIRCUMSTANCES[nameOf(alternative)] ?? CIRCUMSTANCES[alternative.id] ?? {}
}

/** What a new service under this contract answers. */
export async function askNew(alternative: Alternative, contract: Contract): Promise<Exchange[]> {
  const service = await openService(optionsFor(alternative), OPERATIONS, { contract })
  return ask(service, alternative).finally(service.stop)
}

/** What a service answers to the requests that decide an assumption, with the lists before and after them. */
export async function ask(service: Asked, alternative: Alternative): Promise<Exchange[]> {
  const { wait = 0, key = API_KEY } = circumstancesOf(alternative)
  const exchanges: Exchange[] = []
  const names = new Map<string, string>([['KEY', key]])
  const send = async (request: DecidingRequest): Promise<void> => {
    const exchange = await sendOne(service, request, names, key)
    if (exchange === undefined) return
    exchanges.push(exchange)
    const data = valueAt(readJson(String(exchange.response?.body.isKnown && exchange.response.body.bytes)), '/data')
    const group = valueAt(data, '/groups/0/id')
    if (!names.has('GROUP') && typeof group === 'string') names.set('GROUP', group)
  }
  const lists = ['/domains', '/domaingroups'].map((path): DecidingRequest => ({ method: 'GET', path }))
  for (const list of lists) await send(list)
  const requests = QUESTIONS[alternative.id]?.requests ?? []
  for (const [index, request] of requests.entries()) {
    if (index === requests.length - 1 && wait > 0) await service.advance(wait)
    for (let sent = 0; sent < (request.times ?? 1); sent++) await send(request)
  }
  for (const list of lists) await send(list)
  return exchanges
}

/** What a new service answers to all questions, one after the other, in this order of the assumptions. */
export async function askEverything(ids: readonly string[], contract: Contract): Promise<Exchange[]> {
  const service = await openService({ fixture: ACCOUNT }, OPERATIONS, { contract })
  const exchanges: Exchange[] = []
  for (const id of ids) {
    const alternative = { id, number: 1 } as Alternative
    if (circumstancesOf(alternative).options === undefined) exchanges.push(...(await ask(service, alternative)))
    // A new window, in another part of which the next question is asked.
    service.advance(67 * 60_000)
  }
  return service.stop().then(() => exchanges)
}

/** What a client sees of answers, apart from the time. */
export function shown(exchanges: readonly Exchange[]): unknown[] {
  return exchanges.map(({ response }) => {
    const { date: _, ...headers } = response?.headers ?? {}
    return [response?.status, headers, response?.body.isKnown && response.body.bytes.toString()]
  })
}

/** Nothing for a request on which the service closes the connection. */
async function sendOne(
  { baseUrl }: Asked,
  { method, path, headers = {}, body, pad_to = 0 }: DecidingRequest,
  names: ReadonlyMap<string, string>,
  key: string,
): Promise<Exchange | undefined> {
  const fill = (text: string) => [...names].reduce((filled, [name, value]) => filled.replace(name, value), text)
  const { authorization = `Bearer ${key}`, ...fields } = headers
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
  try {
    return await exchangeWith(baseUrl, {
      method,
      path: fill(path),
      ...(text !== undefined && { body: text.padEnd(pad_to) }),
      headers: fields,
      authorization: authorization === null ? null : fill(authorization),
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    return undefined
  }
}
