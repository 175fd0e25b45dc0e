import { expect, it } from 'vitest'
import { validateAccount } from '../../src/accounts/validation.ts'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import type { Contract } from '../../src/contract/contract.ts'
import { openUnderstudy, type Understudy } from '../../src/server/understudy.ts'
import { Accounts } from '../../src/store/accounts.ts'
import { encodeAccount } from '../../src/store/record.ts'
import { controlApi, expectDocumented } from '../support/control-plane.ts'
import { recordingLog } from '../support/recording-log.ts'
import type { Received } from '../support/request.ts'
import { API_KEY, START, violationsOf } from '../support/service.ts'
import { byName, Connection } from '../support/wire.ts'
import { type FuzzedRequest, Requests } from './requests.ts'
import { Chance } from './values.ts'

type Answer = Pick<Received, 'status' | 'headers' | 'text'>

/** How a request ended: with an answer, or with none because the connection was closed, or nothing came in time. */
type Ending = Answer | 'closed' | 'hung'

/** Where an answer departs from what its document says; texts that are no JSON are a departure of their own. */
function departuresOf(
  contract: Contract,
  { plane, method, path }: Pick<FuzzedRequest, 'plane' | 'method' | 'path'>,
  { status, headers, text }: Answer,
): readonly unknown[] {
  const isJson = headers['content-type'] === 'application/json' && text !== ''
  try {
    const body = isJson ? JSON.parse(text) : undefined
    if (plane === 'service') return violationsOf(contract, method, path, { status, headers, body })
    expectDocumented(method, path, { status, headers, text, body })
    return []
  } catch (error) {
    return [(error as Error).message]
  }
}

/** The texts in a value that are short enough to be used again. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.length > 0 && value.length < 300 ? [value] : []
  return typeof value === 'object' && value !== null ? Object.values(value).slice(0, 20).flatMap(textsIn) : []
}

/** Adds texts to a list, of which the newest stay. */
function keep(list: string[], texts: readonly string[], most: number): void {
  list.push(...texts)
  list.splice(0, list.length - most)
}

const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? 600)
const SEED = Number(process.env['FUZZ_SEED'] ?? 42)
/** How long nothing may come, in milliseconds. */
const PATIENCE = 30_000
const KNOWN = 200
const KEYS = 20

/** What one run of requests on one stand-in knows. */
async function openRun(seed: number) {
  const clock = { time: START }
  const log = recordingLog()
  const store = new Accounts()
  const options = {
    fixture: 'demo',
    apiKey: API_KEY,
    seed,
    log,
    maxAccounts: 5_000,
    journal: 100,
    clock: () => clock.time,
  }
  const understudy = await openUnderstudy(options, OPERATIONS, { store })
  const chance = new Chance(seed)
  const known: string[] = ['default']
  const keys: string[] = [API_KEY]
  return {
    ...{ understudy, store, log, chance, known, keys, clock },
    connection: undefined as Connection | undefined,
    requests: new Requests(chance, { service: understudy.contract, control: controlApi }, known, keys),
  }
}

/** Connections that were closed because nothing came for too long. */
const hung = new WeakSet<Connection>()

async function openImpatient({ understudy }: Run): Promise<Connection> {
  const connection = await Connection.open(understudy)
  connection.socket.setTimeout(PATIENCE, () => {
    hung.add(connection)
    connection.socket.destroy()
  })
  return connection
}

/** Sends a request on the connection of the run, or on a new one. A stream of events counts as answered with its header. */
async function ask(run: Run, request: FuzzedRequest): Promise<Ending> {
  const kept = run.connection?.socket.destroyed === false ? run.connection : undefined
  const connection = kept ?? (await openImpatient(run))
  run.connection = connection
  void connection.write(request.bytes)
  try {
    let response = await connection.next(request.method)
    while (response.status < 200) response = await connection.next(request.method)
    const headers = byName(response)
    const isLast = headers['connection'] === 'close' || headers['content-type'] === 'text/event-stream'
    if (isLast) await connection.destroy()
    return { ...response, headers }
  } catch {
    // A kept connection may be closed by the server at any time; only a new one proves something.
    if (hung.has(connection)) return 'hung'
    return kept === undefined ? 'closed' : ask(run, request)
  }
}

/** Sends bytes on a connection of their own, says that there are no more, and resolves to whatever comes back. */
async function sendAlone(run: Run, bytes: Buffer): Promise<string | 'hung'> {
  const connection = await openImpatient(run)
  const chunks: Buffer[] = []
  connection.socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    if (chunk.includes('text/event-stream')) connection.socket.destroy()
  })
  connection.socket.end(bytes)
  await connection.closed
  return hung.has(connection) ? 'hung' : Buffer.concat(chunks).toString('latin1')
}

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
  if (
    !isRefusal ||
    (answer.headers['connection'] !== 'close' && !answer.text.includes('The request is not valid HTTP.'))
  )
    return false
  const isLawful = (plane: FuzzedRequest['plane']) =>
    departuresOf(contract, { plane, method: 'GET', path: '/none' }, answer).length === 0
  return isLawful('service') || isLawful('control')
}

/** Whether a fault had its hand in the answer, or in the newest of all requests, which got none. */
async function wasInjected(understudy: Understudy, requestId?: string): Promise<boolean> {
  const id = requestId ?? (await understudy.requests.list({ limit: 1 }))[0]?.request_id
  return id !== undefined && (await understudy.explain(id)).fault !== null
}

function learn({ known, keys }: Run, ending: Ending): void {
  if (typeof ending === 'string' || ending.status >= 300 || !ending.headers['content-type']?.includes('json')) return
  if (ending.text.length > 20_000 || !ending.text.startsWith('{')) return
  const { data } = JSON.parse(ending.text) as { data?: { api_key?: unknown } }
  keep(known, textsIn(data), KNOWN)
  keep(keys, textsIn(data?.api_key), KEYS)
}

/** Bytes that are hardly a request any more: whatever comes back is HTTP, and comes. */
async function checkSpoilt(run: Run, bytes: Buffer): Promise<string | undefined> {
  const received = await sendAlone(run, bytes)
  if (run.log.errors.length > 0) return `the log has ${describeError(run.log.errors[0])}`
  if (received === 'hung') return 'the connection was not closed in time'
  const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(received) ?? []
  if (received !== '' && status === undefined) return `no HTTP came back: ${received.slice(0, 300)}`
  const [, id] = /^X-Request-Id: (\S+)/im.exec(received) ?? []
  if (Number(status) >= 500 && !(await wasInjected(run.understudy, id))) return received.slice(0, 600)
  return undefined
}

/** Makes one request; its bytes, and what is wrong with what came of it. */
async function step(run: Run): Promise<[bytes: Buffer, fault: string | undefined]> {
  const { chance, requests } = run
  if (chance.happens(0.1)) run.clock.time += chance.pick([1_000, 1_200_000, 86_400_000])
  const request = requests.next()
  if (chance.happens(0.25)) {
    const bytes = requests.spoil(request)
    return [bytes, await checkSpoilt(run, bytes)]
  }
  const ending = await ask(run, request)
  learn(run, ending)
  return [request.bytes, await faultOf(run, request, ending)]
}

it(`answers ${REQUESTS} fuzzed requests of seed ${SEED} as its documents say, and stays in order`, {}, async () => {
  const run = await openRun(SEED)
  const { understudy, store } = run
  try {
    for (let ordinal = 1; ordinal <= REQUESTS; ordinal++) {
      const [bytes, fault] = await step(run)
      const again = `node bench/fuzz.mjs --seed ${SEED} --requests ${ordinal}`
      if (fault !== undefined)
        expect.fail(`${fault}\n${JSON.stringify(bytes.toString('latin1').slice(0, 2_000))}\n${again}`)
    }
    for (const { id } of await understudy.listAccounts()) {
      const account = await understudy.findAccount(id)
      expect(await account.export(), id).toBeDefined()
      expect(
        validateAccount(encodeAccount((await store.read(id)).state), understudy.contract, run.clock.time),
        id,
      ).toBeUndefined()
    }
  } finally {
    run.connection?.socket.destroy()
    await understudy.stop()
  }
})
