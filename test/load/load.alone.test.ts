import { expect, it, vi } from 'vitest'
import { budget } from '../support/budget.ts'
import { startControlPlane } from '../support/control-plane.ts'
import { recordingLog } from '../support/recording-log.ts'
import { API_KEY } from '../support/service.ts'
import { AUTHORIZED, type Header, JSON_BODY, requestBytes } from '../support/wire.ts'
import { Chance } from './chance.ts'
import { Client } from './client.ts'
import { departuresOf } from './fuzz.ts'
import { heapInUse } from './memory.ts'
import type { FuzzedRequest } from './requests.ts'

const SECONDS = budget({ quick: 1, full: 5 })
const CLIENTS = 256
const SEED = 42

/** Keys of the accounts at work: one without faults, and one whose answers are delayed, lost and spoilt. */
interface Keys {
  sound: string
  faulty: string
}

type Work = Pick<FuzzedRequest, 'plane' | 'method' | 'path'> & { body?: string; key: string; faulty?: boolean }

function workOf(chance: Chance, { sound, faulty }: Keys): Work {
  const name = `d${chance.below(5_000)}.example`
  const group = JSON.stringify({ name: `G${chance.below(1e9)}`, domains: [] })
  const service = { plane: 'service', key: sound } as const
  const control = { plane: 'control', key: sound } as const
  return chance.pick<Work>([
    { ...service, method: 'GET', path: '/domains' },
    { ...service, method: 'GET', path: '/dmarc' },
    { ...service, method: 'GET', path: '/domaingroups?id=unknown0' },
    { ...service, method: 'POST', path: '/domains', body: JSON.stringify({ domains: [name] }) },
    { ...service, method: 'DELETE', path: '/domains', body: JSON.stringify({ domains: [name] }) },
    { ...service, method: 'POST', path: '/domaingroups', body: group, key: `sandbox_${chance.below(50)}` },
    { ...service, method: 'POST', path: '/domains', body: '{"domains":' },
    { ...service, method: 'GET', path: '/domains', key: 'nobody' },
    { ...service, method: 'POST', path: '/domains', body: JSON.stringify({ domains: Array(20_000).fill('') }) },
    { ...service, method: 'GET', path: '/domaingroups', key: faulty, faulty: true },
    { ...control, method: 'GET', path: '/accounts/default' },
    { ...control, method: 'PATCH', path: '/accounts/default/clock', body: '{"advance":"PT1S"}' },
    { ...control, method: 'GET', path: '/accounts/default/requests?limit=5' },
    { ...control, method: 'POST', path: '/accounts/default/snapshots', body: '{"name":"load"}' },
    { ...control, method: 'GET', path: '/accounts/default/coverage?nothing=1' },
  ])
}

function bytesOf({ plane, method, path, body, key }: Work): Buffer {
  const authorization: Header = key === API_KEY ? AUTHORIZED : ['Authorization', `Bearer ${key}`]
  const headers = [authorization, ...(body === undefined ? [] : [JSON_BODY])]
  const target = (plane === 'service' ? '/api/v1' : '/__admin') + path
  return requestBytes({
    method,
    target,
    headers: plane === 'service' ? headers : headers.slice(1),
    ...(body && { body }),
  })
}

function countOpen(): number {
  return process.getActiveResourcesInfo().filter((name) => /^TCP/.test(name)).length
}

it(
  `serves ${CLIENTS} clients with mixed work of seed ${SEED} for ${SECONDS} s, and leaves nothing behind`,
  async () => {
    const open = countOpen()
    const log = recordingLog()
    const options = { fixture: 'demo', apiKey: API_KEY, enforceQuotas: false, seed: SEED, log }
    const { understudy, create, post, stop } = await startControlPlane(options)
    const faulty = await create({ fixture: 'empty' })
    for (const rule of [
      { connection: 'reset' },
      { corrupt: 'malformed-json' },
      { delay_ms: 20 },
      { respond: { status: 503 } },
    ]) {
      await post(`/accounts/${faulty.id}/faults`, { ...rule, probability: 0.25 })
    }
    const port = Number(new URL(understudy.baseUrl).port)
    const clients = Array.from({ length: CLIENTS }, () => new Client(port))
    const counts = new Map<string, number>()
    const latencies: number[] = []
    const departures: unknown[] = []

    async function drive(client: Client, ordinal: number, until: number): Promise<void> {
      const chance = new Chance(SEED + ordinal)
      while (performance.now() < until) {
        const work = workOf(chance, { sound: API_KEY, faulty: faulty.key })
        const began = performance.now()
        const ending = await client.ask(bytesOf(work), { deadline: 30_000 })
        latencies.push(performance.now() - began)
        const outcome = typeof ending === 'string' ? ending : String(ending.status)
        counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
        if (work.faulty === true) continue
        // To hold all of them to the documents would cost the load more than it costs the service.
        const departed = typeof ending === 'string' || ending.status >= 500 || latencies.length % 20 === 0
        if (departed)
          departures.push(...(typeof ending === 'string' ? [ending] : departuresOf(understudy.contract, work, ending)))
        if (typeof ending !== 'string' && ending.status >= 500)
          departures.push(`${outcome} ${ending.text.slice(0, 200)}`)
      }
      client.close()
    }

    async function driveAll(seconds: number): Promise<void> {
      const until = performance.now() + seconds * 1_000
      await Promise.all(clients.map((client, ordinal) => drive(client, ordinal, until)))
    }

    // Journals fill first, because what they keep is no leak, and connections are opened.
    await driveAll(SECONDS / 2)
    const warm = heapInUse()
    latencies.length = 0
    counts.clear()
    const began = performance.now()
    await driveAll(SECONDS / 2)
    const wall = (performance.now() - began) / 1_000
    const growth = heapInUse() - warm
    for (const client of clients) client.close()
    await stop()

    latencies.sort((one, other) => one - other)
    const at = (share: number) => `${(latencies[Math.floor(latencies.length * share)] ?? 0).toFixed(1)} ms`
    console.log(
      `${CLIENTS} connections, ${(latencies.length / wall).toFixed(0)} requests/s, median ${at(0.5)}, p99 ${at(0.99)}, ` +
        `heap ${warm.toFixed(0)} MB + ${growth.toFixed(1)} MB, ${JSON.stringify(Object.fromEntries(counts))}`,
    )
    expect(departures).toEqual([])
    expect(log.errors).toEqual([])
    expect(Number(counts.get('200'))).toBeGreaterThan(20 * SECONDS)
    expect(growth).toBeLessThan(60)
    // The clients' own ends close a moment later.
    await vi.waitFor(() => expect(countOpen()).toBeLessThanOrEqual(open), { timeout: 30_000 })
  },
  60_000 + SECONDS * 3_000,
)
