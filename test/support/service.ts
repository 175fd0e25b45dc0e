import { connect } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import type { OperationBehaviour, ServiceContract } from '../../src/behaviour/operation.ts'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import type { Operation } from '../../src/contract/api.ts'
import type { Contract } from '../../src/contract/contract.ts'
import type { ServerOptions } from '../../src/server/options.ts'
// Loaded at once: what the server loads by itself after a refusal must not be under way when a file of tests ends.
import '../../src/explain/explanation.ts'
import type { Clock } from '../../src/ground/timers.ts'
import type { InternalOptions, StandIn } from '../../src/server/stand-in.ts'
import { openUnderstudy } from '../../src/server/understudy.ts'
import { Accounts } from '../../src/store/accounts.ts'
import type { Store } from '../../src/store/store.ts'
import { callDirectly, canCallDirectly } from './direct-call.ts'
import { headerViolations } from './header-check.ts'
import { type Received, type SentHeaders, sendRequest } from './request.ts'

export const API_KEY = 'key_TestKey1.000000000000000000000000000000000000000000000000'
/** Where the clock of a test stands at its beginning: in the middle of a quota window. */
export const START = Date.parse('2026-01-15T09:30:00Z')

export type TestResponse = Received

export interface TestService {
  baseUrl: string
  contract: ServiceContract
  store: Store
  /** Sends a request with the account's key; `body` is sent as JSON, or as it is when it is a string. */
  send(method: string, path: string, body?: unknown, headers?: SentHeaders): Promise<TestResponse>
  get(path: string): Promise<TestResponse>
  /** Sends bytes as they are on a connection of its own and resolves to all that comes back until it is closed. */
  sendRaw(bytes: string | Buffer): Promise<string>
  /** Moves the machine's clock forward, in milliseconds. */
  advance(milliseconds: number): void
  stop(): Promise<void>
}

/** The options of a server; a store in this process takes the place of the one that they name. */
export type ServiceOptions = Omit<ServerOptions, 'store'> & { store?: string | Store | undefined }

/** The options of the server, and its store: one in memory with this clock, unless they name another. */
export function withStore(options: ServiceOptions, clock: Clock): { given: ServerOptions; store: Store | undefined } {
  const { store, ...given } = options
  if (typeof store === 'string') return { given: { ...given, store }, store: undefined }
  return { given, store: store ?? (given.data === undefined ? new Accounts({ clock }) : undefined) }
}

type Behaviours = Readonly<Record<string, OperationBehaviour>>

/** Starts a stand-in on a free port with a clock that moves only by `advance`; it ends with the test. */
export async function startService(
  options: ServiceOptions = {},
  behaviours: Behaviours = OPERATIONS,
  internal: InternalOptions = {},
): Promise<TestService> {
  const service = await openService(options, behaviours, internal)
  onTestFinished(service.stop)
  return service
}

/** The same for several tests, which stop it after the last. */
export async function openService(
  options: ServiceOptions = {},
  behaviours: Behaviours = OPERATIONS,
  internal: InternalOptions = {},
): Promise<TestService> {
  let time = START
  if (typeof options.store === 'string')
    throw new Error('A store with a URL has a clock of its own; use startUnderstudy.')
  const { given, store } = withStore(options, () => time)
  const defaults = { fixture: 'empty', apiKey: API_KEY, clock: () => time }
  let standIn: StandIn | undefined
  const open = (opened: StandIn) => {
    standIn = opened
    internal.open?.(opened)
  }
  const service = await openUnderstudy({ ...defaults, ...given }, behaviours, { store, ...internal, open })
  const { contract, baseUrl, stop } = service

  async function send(method: string, path: string, body?: unknown, headers: SentHeaders = {}): Promise<TestResponse> {
    const sent = { authorization: `Bearer ${API_KEY}`, ...headers }
    const url = new URL(baseUrl + path)
    const received =
      standIn !== undefined && canCallDirectly(url, contract.basePath, headers)
        ? await callDirectly(standIn, method, url, body, sent)
        : await sendRequest(method, url.href, body, sent)
    expectLawful(contract, method, path, received)
    return received
  }

  async function sendRaw(bytes: string | Buffer): Promise<string> {
    const { hostname, port } = new URL(baseUrl)
    const socket = connect(Number(port), hostname)
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('error', () => {})
    socket.write(bytes)
    // A connection that the service cuts off is closed like any other; `once` would reject.
    await new Promise((resolve) => socket.once('close', resolve))
    return Buffer.concat(chunks).toString()
  }

  return {
    baseUrl,
    contract,
    store: standIn?.store as Store,
    send,
    get: (path) => send('GET', path),
    sendRaw,
    advance: (milliseconds) => {
      time += milliseconds
    },
    stop,
  }
}

/** Holds a response to the contract. */
export function expectLawful(contract: Contract, method: string, path: string, received: TestResponse): void {
  const violations = violationsOf(contract, method, path, received)
  // Not by `expect` alone, which takes longer than the request.
  if (violations.length === 0) return
  expect(violations, `${method} ${path} → ${received.status} ${received.text.slice(0, 200)}`).toEqual([])
}

/** Where a response departs from the contract; the router of the server under test is not asked. */
export function violationsOf(
  contract: Contract,
  method: string,
  path: string,
  { status, headers, body }: Pick<TestResponse, 'status' | 'headers' | 'body'>,
): readonly unknown[] {
  const operation = operationAt(contract, method, path)
  if (headers['x-request-id'] === undefined) return ['X-Request-Id is missing']
  if (operation === undefined) return method === 'HEAD' ? [] : contract.checkFailure(body)
  const response = operation.responses.get(status)
  if (response === undefined) return [`${operation.id} documents no ${status}`]
  return [...headerViolations(response, headers), ...(method === 'HEAD' ? [] : response.check(body))]
}

export function operationAt(contract: Contract, method: string, path: string): Operation | undefined {
  const verb = method === 'HEAD' ? 'GET' : method
  return contract.operations.find((operation) => operation.method === verb && operation.path === path.split('?')[0])
}
