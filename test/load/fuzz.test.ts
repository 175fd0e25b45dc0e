import { expect, it } from 'vitest'
import { validateAccount } from '../../src/accounts/validation.ts'
import { startUnderstudy, type Understudy } from '../../src/start/server.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { encodeAccount } from '../../src/store/record.ts'
import { budget } from '../support/budget.ts'
import { controlApi } from '../support/control-plane.ts'
import { recordingLog } from '../support/recording-log.ts'
import { API_KEY, START } from '../support/service.ts'
import { Chance } from './chance.ts'
import { type Answer, Client, type Ending, sendBytes } from './client.ts'
import { departuresOf, harvest } from './fuzz.ts'
import { type FuzzedRequest, Requests } from './requests.ts'

const REQUESTS = budget({ quick: 600, full: 3_000 }, 'FUZZ_REQUESTS')
const SEED = Number(process.env['FUZZ_SEED'] ?? 42)
const KNOWN = 200
const KEYS = 20

/** What one run of requests on one stand-in knows. */
async function openRun(seed: number) {
  let time = START
  const log = recordingLog()
  const store = openMemoryStore()
  const understudy = await startUnderstudy({
    ...{ fixture: 'demo', apiKey: API_KEY, seed, store, log, maxAccounts: 5_000, journal: 100, clock: () => time },
  })
  const chance = new Chance(seed)
  const known: string[] = ['default']
  const keys: string[] = [API_KEY]
  const apis = { service: understudy.contract, control: controlApi }
  const client = new Client(Number(new URL(understudy.baseUrl).port))
  return {
    ...{ understudy, store, log, chance, known, keys, client },
    requests: new Requests(chance, apis, known, keys),
    now: () => time,
    advance: (milliseconds: number) => {
      time += milliseconds
    },
  }
}

const MALFORMED = 'The request is not valid HTTP.'

type Run = Awaited<ReturnType<typeof openRun>>

/** What is wrong with how a request ended, if anything is. */
async function faultOf(run: Run, request: FuzzedRequest, ending: Ending): Promise<string | undefined> {
  const { understudy } = run
  if (run.log.errors.length > 0) return `the log has ${describeError(run.log.errors[0])}`
  if (ending === 'hung') return 'no answer came in time'
  if (ending === 'closed') return (await wasInjected(understudy)) ? undefined : 'the connection was closed'
  // What is no HTTP is refused before there is a plane; a message of it says so in the envelope of the service.
  const departures = departuresOf(understudy.contract, request, ending)
  if (ending.status < 500 && (departures.length === 0 || isMalformed(ending, understudy))) return undefined
  if (request.plane === 'service' && (await wasInjected(understudy, ending.headers['x-request-id']))) return undefined
  return `${ending.status} ${ending.text.slice(0, 300)} departs: ${JSON.stringify(departures).slice(0, 600)}`
}

function describeError(fields: object | undefined): string {
  const { err } = (fields ?? {}) as { err?: Error }
  return err?.stack ?? JSON.stringify(fields)
}

function isMalformed(answer: Answer, { contract }: Understudy): boolean {
  const isRefusal = answer.status === 400 || answer.status === 431
  // After a malformed Host, the connection can be used further.
  if (!isRefusal || (answer.headers['connection'] !== 'close' && !answer.text.includes(MALFORMED))) return false
  const planes = ['service', 'control'] as const
  return planes.some((plane) => departuresOf(contract, { plane, method: 'GET', path: '/none' }, answer).length === 0)
}

/** Whether a fault had its hand in the answer, or in the newest of all requests, which got none. */
async function wasInjected(understudy: Understudy, requestId?: string): Promise<boolean> {
  const id = requestId ?? (await understudy.requests.list({ limit: 1 }))[0]?.request_id
  return id !== undefined && (await understudy.explain(id)).fault !== null
}

function learn({ chance, known, keys }: Run, ending: Ending): void {
  if (typeof ending === 'string' || ending.status >= 300 || !ending.headers['content-type']?.includes('json')) return
  if (ending.text.length > 20_000) return
  let body: { data?: { api_key?: unknown } } | undefined
  try {
    body = JSON.parse(ending.text)
  } catch {
    return
  }
  const place = (limit: number) => chance.below(limit)
  harvest(body?.data, known, KNOWN, place)
  harvest(body?.data?.api_key, keys, KEYS, place)
}

/** Bytes that are hardly a request any more: whatever comes back is HTTP, and comes. */
async function checkSpoilt(run: Run, bytes: Buffer): Promise<string | undefined> {
  const received = await sendBytes(Number(new URL(run.understudy.baseUrl).port), bytes)
  if (run.log.errors.length > 0) return `the log has ${describeError(run.log.errors[0])}`
  if (received === 'hung') return 'the connection was not closed in time'
  const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(received) ?? []
  if (received !== '' && status === undefined) return `no HTTP came back: ${received.slice(0, 300)}`
  const [, id] = /^X-Request-Id: (\S+)/im.exec(received) ?? []
  if (Number(status) >= 500 && !(await wasInjected(run.understudy, id))) return received.slice(0, 600)
  return undefined
}

async function step(run: Run): Promise<{ request: FuzzedRequest; bytes: Buffer; fault: string | undefined }> {
  const { chance, requests } = run
  if (chance.happens(0.1)) run.advance(chance.pick([1_000, 1_200_000, 86_400_000]))
  const request = requests.next()
  if (chance.happens(0.25)) {
    const bytes = requests.spoil(request)
    return { request, bytes, fault: await checkSpoilt(run, bytes) }
  }
  const { bytes, method } = request
  const ending = await run.client.ask(bytes, { headOnly: method === 'HEAD' })
  learn(run, ending)
  return { request, bytes, fault: await faultOf(run, request, ending) }
}

it(
  `answers ${REQUESTS} fuzzed requests of seed ${SEED} as its documents say, and stays in order`,
  async () => {
    const run = await openRun(SEED)
    const { understudy, store, client } = run
    const seen = new Map<string, number>()
    try {
      for (let ordinal = 1; ordinal <= REQUESTS; ordinal++) {
        const { request, bytes, fault } = await step(run)
        seen.set(request.plane, (seen.get(request.plane) ?? 0) + 1)
        const again = `node bench/fuzz.mjs --seed ${SEED} --requests ${ordinal}`
        if (fault !== undefined)
          expect.fail(`${fault}\n${JSON.stringify(bytes.toString('latin1').slice(0, 2_000))}\n${again}`)
      }
      expect([...seen.keys()].sort()).toEqual(['control', 'service'])
      for (const { id } of await understudy.listAccounts()) {
        const account = await understudy.findAccount(id)
        expect(await account.export(), id).toBeDefined()
        expect(validateAccount(encodeAccount(await store.read(id)), understudy.contract, run.now()), id).toBeUndefined()
      }
    } finally {
      client.close()
      await understudy.stop()
    }
  },
  60_000 + REQUESTS * 20,
)
