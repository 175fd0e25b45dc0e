import { setTimeout as pause } from 'node:timers/promises'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import type { ServerOptions } from '../../src/server/options.ts'
import type { InternalOptions } from '../../src/server/stand-in.ts'
import { openUnderstudy, type Understudy } from '../../src/server/understudy.ts'
import { askControl } from './control-plane.ts'

/** By what the times are multiplied that a step of the store may take: a busy machine is none that is away. */
export const PATIENCE = 25

/** Starts a server that is patient with its store. */
export function startPatient(options: ServerOptions, internal: InternalOptions = {}): Promise<Understudy> {
  return openUnderstudy(options, OPERATIONS, { patience: () => PATIENCE, ...internal })
}

/** Creates an empty account with a key that is in its grace period, so that it may be asked ten times as often. */
export async function createAccountWithNewKey(
  baseUrl: string,
  body: object = {},
): Promise<{ id: string; key: string }> {
  const created = await askControl({ baseUrl }, 'POST', '/accounts', body)
  const { id } = created.data.account
  const { data } = await askControl({ baseUrl }, 'POST', `/accounts/${id}/keys`, {})
  return { id, key: data.api_key }
}

/** Waits until a server says that it is ready. */
export async function untilReady(baseUrl: string): Promise<void> {
  for (let waited = 0; ; waited += 20) {
    const answer = await askControl({ baseUrl }, 'GET', '/ready').catch(() => undefined)
    if (answer?.status === 200) return
    if (waited > 30_000) throw new Error(`A server is not ready after 30 s: ${answer?.text}`)
    await pause(20)
  }
}
