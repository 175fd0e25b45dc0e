import { onTestFinished } from 'vitest'
import { type Account, type ServerOptions, startUnderstudy, type Understudy } from '../../src/index.ts'
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
