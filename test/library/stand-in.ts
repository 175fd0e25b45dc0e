import { onTestFinished } from 'vitest'
import { type Account, type ServerOptions, startUnderstudy, type Understudy } from '../../src/index.ts'
import { violationsOf } from '../support/service.ts'

export const NOW = '2026-01-15T09:30:00Z'

/** A stand-in whose clock stands still, and which ends with the test. */
export async function start(options: ServerOptions = {}): Promise<Understudy> {
  const understudy = await startUnderstudy({ fixture: 'empty', now: NOW, frozen: true, ...options })
  onTestFinished(() => understudy.stop())
  return understudy
}

export interface Answer {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into bodies whose shape the contract has just proved
  body: any
}

/** Sends a request with the account's key and holds the answer to the contract. */
export async function send(
  { contract }: Understudy,
  account: Pick<Account, 'baseUrl' | 'headers'>,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const response = await fetch(account.baseUrl + path, {
    method,
    headers: { ...account.headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const received = { status: response.status, headers: Object.fromEntries(response.headers), body: JSON.parse(text) }
  const violations = violationsOf(contract, method, path, received)
  if (violations.length > 0) throw new Error(`${method} ${path} → ${response.status} ${JSON.stringify(violations)}`)
  return { ...received, headers: response.headers, text }
}
