import { describe, expect, it } from 'vitest'
import type { ServerOptions } from '../../src/start/options.ts'
import type { Understudy } from '../../src/start/server.ts'
import { HAS_REDIS } from '../support/redis-server.ts'
import { startAlone, startFleet } from '../support/replicas.ts'
import { sendRequest } from '../support/request.ts'
import { API_KEY } from '../support/service.ts'

/** The clock stands, and whatever depends on chance depends on the seed. */
const OPTIONS: ServerOptions = {
  now: '2026-01-15T09:30:00Z',
  frozen: true,
  seed: 7,
  sandboxKeys: true,
  fixture: 'demo',
}

type Step = readonly [method: string, path: string, body?: unknown, key?: string | null]

const group = (name: string, domains: readonly string[] = []): Step => ['POST', '/domaingroups', { name, domains }]
const ADMIN = '/__admin'
const NOBODY = 'key_0f.NOBODY0123456789012345678901234567890123456'
const FAULTS = [
  { match: { operation: 'listDomains' }, probability: 0.4, respond: { error: 'internal_error' } },
  { skip: 1, times: 2, match: { method: 'GET' }, respond: { status: 418, body: { short: 'and stout' } } },
]

const STEPS: readonly Step[] = [
  ['GET', '/domains'],
  ['POST', '/domains', { domains: ['b.example', 'a.example', 'c.example', 'ö.example'] }],
  ['DELETE', '/domains', { domains: ['a.example'] }],
  ['POST', '/domains', { domains: ['a.example', 'b.example'] }],
  ['GET', '/domains'],
  ['GET', '/dmarc'],
  group('One', ['b.example', 'a.example']),
  group('one'),
  group('Two'),
  ['GET', '/domaingroups'],
  ['GET', '/domains', undefined, NOBODY],
  ['GET', '/domains', undefined, null],
  ['GET', '/nowhere'],
  ['PUT', '/domains', {}],
  ['POST', '/domains', '{'],
  ...Array.from({ length: 3 }, (): Step => ['POST', '/domains', { domains: ['sandboxed.example'] }, 'sandbox_new']),
  ['POST', `${ADMIN}/accounts`, {}],
  ['POST', `${ADMIN}/accounts`, { fixture: 'empty', seed: 3 }],
  ['POST', `${ADMIN}/accounts/default/keys`, { key: 'another-key-of-a-team' }],
  ['GET', '/domains', undefined, 'another-key-of-a-team'],
  ['GET', `${ADMIN}/accounts/default/keys`],
  ...FAULTS.map((rule): Step => ['POST', `${ADMIN}/accounts/default/faults`, rule]),
  ...Array.from({ length: 12 }, (): Step => ['GET', '/domains']),
  ['GET', `${ADMIN}/accounts/default/faults`],
  ['DELETE', `${ADMIN}/accounts/default/faults`],
  ['POST', `${ADMIN}/accounts/default/snapshots`, { name: 'before' }],
  ...Array.from({ length: 40 }, (): Step => ['GET', '/domaingroups']),
  ['GET', `${ADMIN}/accounts/default`],
  ['GET', `${ADMIN}/accounts/default/quotas`],
  ['PATCH', `${ADMIN}/accounts/default/clock`, { advance: 'PT1H' }],
  ['GET', '/domaingroups'],
  ['GET', `${ADMIN}/accounts/default/snapshots`],
  ['POST', `${ADMIN}/accounts/default/snapshots/before/restore`],
  ['GET', '/domaingroups'],
  ['GET', `${ADMIN}/accounts/default/state`],
  ['POST', `${ADMIN}/accounts/default/reset`],
  ['GET', '/domains'],
  group('Three'),
  ['GET', `${ADMIN}/accounts`],
  ['GET', `${ADMIN}/accounts/default/requests`],
  ['GET', `${ADMIN}/requests`],
  ['GET', `${ADMIN}/accounts/default/coverage`],
  ['GET', `${ADMIN}/coverage`],
  ['GET', `${ADMIN}/verdict`],
]

/** Whether it has no valid key, or no operation. Then it has a number of the server that answers it. */
function isOfNobody([method, path, , key]: Step): boolean {
  return key === null || key === NOBODY || path === '/nowhere' || method === 'PUT'
}

/** What each of the servers in turn answers, without what no seed decides. */
async function answersOf(servers: readonly Understudy[]): Promise<{ answers: string[]; idsOfNobody: string[] }> {
  const answers: string[] = []
  const idsOfNobody: string[] = []
  for (const [index, step] of STEPS.entries()) {
    const [method, path, body, key = API_KEY] = step
    const { baseUrl } = servers[index % servers.length] as Understudy
    const target = path.startsWith(ADMIN) ? `${new URL(baseUrl).origin}${path}` : `${baseUrl}${path}`
    const authorization = key === null ? null : `Bearer ${key}`
    const { status, headers, text } = await sendRequest(method, target, body, { authorization })
    const { date = '', 'content-length': _, ...others } = headers
    if (isOfNobody(step)) idsOfNobody.push(headers['x-request-id'] ?? '')
    // An answer to nobody tells the time of the machine.
    const known = { ...others, ...(date.includes('Jan 2026') && { date }) }
    const shown = text
      .replaceAll(/"duration_ms":[\d.]+/g, '"duration_ms":0')
      .replaceAll(/"(at|date)":"(?![^"]*2026-01-15)(?![^"]*Jan 2026)[^"]+"/g, '"$1":"now"')
      .replaceAll(/127\.0\.0\.1:\d+/g, 'HOST')
    answers.push(`${method} ${path} ${status} ${JSON.stringify(known)} ${shown}`)
    // Requests that several servers answer within a few milliseconds are in the journal in any order. So each one is
    // there before the next is sent.
    if (servers.length > 1) await servers[0]?.requests.list({ limit: 1 })
  }
  return { answers, idsOfNobody }
}

/** The answers without ids that depend on which server was asked. */
function hideNobody({ answers, idsOfNobody }: Awaited<ReturnType<typeof answersOf>>): string[] {
  return answers.map((answer) => idsOfNobody.reduce((text, id, at) => text.replaceAll(id, `nobody-${at}`), answer))
}

describe.skipIf(!HAS_REDIS)('The same seed, start and requests', () => {
  it('give the same bytes in memory and on Redis, through any number of replicas', async () => {
    const alone = await answersOf(await startAlone(1, OPTIONS))
    expect(await answersOf(await startFleet(1, OPTIONS))).toEqual(alone)
    expect(hideNobody(await answersOf(await startFleet(3, OPTIONS)))).toEqual(hideNobody(alone))
  })
})
