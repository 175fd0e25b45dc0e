import { onTestFinished } from 'vitest'
import { type Account, type ServerOptions, startUnderstudy, type Understudy } from '../../src/index.ts'
import { attach } from '../../src/library/attachment.ts'
import { budget } from '../support/budget.ts'
import { type Received, sendRequest } from '../support/request.ts'
import { expectLawful } from '../support/service.ts'

export const NOW = '2026-01-15T09:30:00Z'

/** A stand-in whose clock stands still, and which ends with the test. */
export async function start(options: ServerOptions = {}): Promise<Understudy> {
  const understudy = await startUnderstudy({ fixture: 'empty', now: NOW, frozen: true, ...options })
  onTestFinished(() => understudy.stop())
  return understudy
}

/** Sends a request with the account's key and holds the answer to the contract. */
export async function send(
  { contract }: Understudy,
  account: Pick<Account, 'baseUrl' | 'headers'>,
  method: string,
  path: string,
  body?: unknown,
): Promise<Received> {
  const received = await sendRequest(method, account.baseUrl + path, body, account.headers)
  expectLawful(contract, method, path, received)
  return received
}

/** The same, but used over HTTP, as tests use the server of `run`, `vary` or `explore`. */
async function startAttached(options: ServerOptions = {}): Promise<Understudy> {
  const server = await start(options)
  const { baseUrl, adminUrl = '', contract } = server
  const address = { url: adminUrl, token: options.adminToken }
  const { library, instance, detach } = await attach({
    ...{ address, baseUrl, accounts: {}, apiKey: undefined },
    nameUser: () => 'test/library',
    lasts: true,
  })
  const ended = { stop: detach, [Symbol.asyncDispose]: detach }
  return { ...server, ...library, contract, instance, ...ended }
}

export const IN_PROCESS = 'in the same process'

/** The two ways in which the library reaches a server. What a test can see is the same, but for what the test says. */
export const WAYS = [
  { way: IN_PROCESS, start },
  { way: 'over HTTP', start: startAttached },
]
/** The same for what only calls the control plane; with the quick budget, just the first way. */
export const WAYS_OF_CALLS = WAYS.slice(0, budget({ quick: 1, whole: 2, full: 2 }))
