import { readData, send } from './client.ts'
import { Refused } from './refusals.ts'
import type { CallId } from './responses.ts'

interface ServiceChange {
  account: string
  /** The id of the group that is changed. */
  group?: string
  body?: object
}

/**
 * Changes domains or groups by an operation of the control plane, which decides as the service does. It costs no quota,
 * and is not in the journal.
 *
 * @throws Refused with the code and message of the service
 */
export async function changeAsService(id: CallId, { account, group = '', body }: ServiceChange): Promise<void> {
  try {
    await send(id, { parameters: { account, group }, ...(body && { body }) }, readData)
  } catch (error) {
    if (!(error instanceof Refused && error.code === 'refused')) throw error
    const { status, problems } = error
    const { code, message } = problems[0] ?? error
    throw new Refused(status, { code, message, problems })
  }
}
