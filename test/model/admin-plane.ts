import { expect } from 'vitest'
import { askControl, type ControlResponse, controlApi } from '../support/control-plane.ts'
import type { Account } from './account.ts'
import type { Real } from './exchange.ts'
import type { Model } from './model.ts'

/**
 * Sends once more where the server has closed a connection that was idle for too long, which a busy machine may notice only
 * when it sends. Nothing was done then.
 */
export async function resend<Answer>(send: () => Promise<Answer>): Promise<Answer> {
  try {
    return await send()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error
    return send()
  }
}

/** Asks the control plane for an operation of its document and holds the answer to it. */
export function ask(
  operationId: string,
  parameters: Readonly<Record<string, string>>,
  body: unknown,
  { service }: Real,
): Promise<ControlResponse> {
  const operation = controlApi.operations.find(({ id }) => id === operationId)
  if (operation === undefined) throw new Error(`The control plane has no operation ${operationId}.`)
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(parameters[name] ?? ''))
  return resend(() => askControl(service, operation.method, path, body))
}

/** Asks for the ids of groups that were created without an answer that tells them. */
export async function learnGroups(account: Account | undefined, model: Model, real: Real): Promise<void> {
  if (account?.groups.some(({ id }) => id === '') !== true) return
  const { body } = await ask('exportState', { account: account.id }, undefined, real)
  const groups: { id: string; name: string }[] = body.data.groups
  expect(groups.map(({ name }) => name)).toEqual(account.groups.map(({ name }) => name))
  for (const [index, group] of account.groups.entries()) {
    if (group.id === '') account.nameGroup(group, groups[index]?.id ?? '', model.groupIds)
  }
}
