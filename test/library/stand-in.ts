import { onTestFinished } from 'vitest'
import { type Account, type ServerOptions, startUnderstudy, type Understudy } from '../../src/index.ts'
import { attach } from '../../src/library/attachment.ts'
import { type Received, sendRequest } from '../support/request.ts'
import { expectLawful } from '../support/service.ts'

export const NOW = '2026-01-15T09:30:00Z'

/** A stand-in whose clock stands still. */
export function open(options: ServerOptions = {}): Promise<Understudy> {
  return startUnderstudy({ fixture: 'empty', now: NOW, frozen: true, ...options })
}

/** The same, which ends with the test. */
export async function start(options?: ServerOptions): Promise<Understudy> {
  return untilTheEnd(await open(options))
}

/** Stops it at the end of the test. */
export function untilTheEnd(understudy: Understudy): Understudy {
  onTestFinished(() => understudy.stop())
  return understudy
}

/** Sends a request with the account's key and holds the answer to the contract. */
export async function send(
  { contract }: Pick<Understudy, 'contract'>,
  account: Pick<Account, 'baseUrl' | 'headers'>,
  method: string,
  path: string,
  body?: unknown,
): Promise<Received> {
  const received = await sendRequest(method, account.baseUrl + path, body, account.headers)
  expectLawful(contract, method, path, received)
  return received
}

/** The same stand-in, but used over HTTP, as tests use the server of `run`, `vary` or `explore`. */
export async function openAttached(options: ServerOptions = {}): Promise<Understudy> {
  const server = await open(options)
  const { baseUrl, adminUrl = '', contract } = server
  const { library, instance, detach } = await attach({
    ...{ address: { url: adminUrl, token: options.adminToken }, baseUrl, accounts: {}, apiKey: undefined },
    nameUser: () => 'test/library',
    lasts: true,
  })
  const stop = () => detach().finally(() => server.stop())
  return { ...server, ...library, contract, instance, stop, [Symbol.asyncDispose]: stop }
}

export const IN_PROCESS = 'in the same process'

/** The two ways in which the library reaches a server. What a test can see is the same, but for what the test says. */
export const WAYS = [
  { way: IN_PROCESS, open },
  { way: 'over HTTP', open: openAttached },
]
